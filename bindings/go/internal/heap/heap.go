// SPDX-License-Identifier: MIT

// Package heap measures the heap of C, for the tests.
package heap

// #include <malloc.h>
import "C"

// InUse returns how many bytes are allocated: of all threads if MALLOC_ARENA_MAX=1.
func InUse() int {
	info := C.mallinfo2()
	return int(info.uordblks + info.hblkhd)
}
