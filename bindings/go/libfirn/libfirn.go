// SPDX-License-Identifier: MIT

// Package libfirn issues IDs in this process, with the C library libfirn.
//
//	gen, err := libfirn.Open[firn.ID]("snowflake", libfirn.Config{Store: "sqlite:/var/lib/app/firn.db"})
//	id, err := gen.Next(ctx)
//
// Open one generator at the start of the process, and share it. The pure functions ([Pack], [Show], [Range] and so on)
// need no generator.
//
// If libfirn is not installed below /usr, set C_INCLUDE_PATH and LIBRARY_PATH to build.
package libfirn

// #include "shim.h"
import "C"

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"firn.example/firn"
)

// Version returns the version of the library that runs.
func Version() string { return C.GoString(C.firn_version()) }

// RenewIdentity is for the restore hook of a host that starts processes from a snapshot: it gives all generators and
// segments of the process other nodes, random bytes and integers.
func RenewIdentity() { C.firn_renew_identity() }

// checkVersion refuses a library of another release than the header: structures may differ.
func checkVersion() error {
	if running := Version(); running != C.FIRN_VERSION {
		return fail(firn.ErrSystem, "libfirn is version %s, but this program was built for %s: install that one, or build again",
			running, C.FIRN_VERSION)
	}
	return nil
}

func fail(code firn.Code, format string, args ...any) error {
	return firn.NewError(code, format, args...)
}

// errorOf turns an error of the library into one of Go.
func errorOf(e *C.firn_error) error {
	text := C.GoString(&e.text[0])
	part := func(s C.firn_span) string {
		if end := int(s.at) + int(s.length); end <= len(text) {
			return text[s.at:end]
		}
		return ""
	}
	return &firn.Error{Code: firn.Code(e.code), Text: text, CureAt: int(e.cure_at),
		CureName: C.GoString(C.firn_curename(C.int(e.cure))), Value: part(e.value), Limit: part(e.limit)}
}

// arena holds C strings during a call.
type arena struct {
	strings []*C.char
	err     error
}

// text copies a string. Invalid ones set err.
func (a *arena) text(name, s string) *C.char {
	if strings.IndexByte(s, 0) >= 0 && a.err == nil {
		a.err = fail(firn.ErrUsage, "%s contains a zero byte: remove it", name)
	}
	if a.err != nil {
		return nil
	}
	c := C.CString(s)
	a.strings = append(a.strings, c)
	return c
}

// optional copies a string; "" is NULL.
func (a *arena) optional(name, s string) *C.char {
	if s == "" {
		return nil
	}
	return a.text(name, s)
}

func (a *arena) free() {
	for _, c := range a.strings {
		C.free(unsafe.Pointer(c))
	}
}

func timeOf(t time.Time) C.firn_time {
	return C.firn_time{sec: C.int64_t(t.Unix()), ns: C.int32_t(t.Nanosecond())}
}

// ParseTime reads a time as the command does: RFC 3339, a date, or @SECONDS since 1970.
func ParseTime(text string) (time.Time, error) {
	var a arena
	var e C.firn_error
	var t C.firn_time
	defer a.free()
	c := a.text("the time", text)
	if a.err != nil {
		return time.Time{}, a.err
	}
	if C.firn_time_parse(&t, c, C.size_t(len(text)), &e) != 0 {
		return time.Time{}, errorOf(&e)
	}
	return time.Unix(int64(t.sec), int64(t.ns)).UTC(), nil
}

type result[R any] struct {
	value R
	err   error
}

// A call that waits in C holds a thread, and Go ends a process that has 10000. So few may wait at once.
var (
	calls = make(chan struct{}, 128)
	steps = make(chan struct{}, 128) // of renewers, for which calls wait
)

// await runs f, which may wait for a store. If ctx ends first, f continues in the background, and its result is lost.
func await[R any](ctx context.Context, f func() (R, error)) (R, error) {
	var none R
	if err := ctx.Err(); err != nil {
		return none, ended(err, "the call")
	}
	select {
	case calls <- struct{}{}:
	case <-ctx.Done():
		return none, ended(ctx.Err(), "the store")
	}
	if ctx.Done() == nil {
		defer func() { <-calls }()
		return f()
	}
	done := make(chan result[R], 1)
	go func() {
		defer func() { <-calls }()
		value, err := f()
		done <- result[R]{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return none, ended(ctx.Err(), "the store")
	}
}

// collected closes what its owner has forgotten. A finalizer must not wait, and closing may.
func collected[C interface{ Close() error }](c C) {
	go await(context.Background(), func() (struct{}, error) { return struct{}{}, c.Close() })
}

func ended(cause error, what string) error {
	return &firn.Error{Code: firn.ErrUnavailable, Text: fmt.Sprintf("%s has not answered: %v", what, cause), Err: cause}
}

// codeOf returns the name and the sentence of a code, as the library has them.
func codeOf(code firn.Code) (name, text string) {
	return C.GoString(C.firn_errname(C.int(code))), C.GoString(C.firn_strerror(C.int(code)))
}
