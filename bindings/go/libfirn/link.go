// SPDX-License-Identifier: MIT

package libfirn

// The installed library. The package that contains firn.c has another such file (build.sh).

// #cgo LDFLAGS: -lfirn
import "C"
