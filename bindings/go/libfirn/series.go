// SPDX-License-Identifier: MIT

package libfirn

// #include "shim.h"
import "C"

import (
	"context"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"firn.example/firn"
)

const numbersMax = 1000000 // of one call

// Series issues dated numbers for people, such as INV2026/0000042. Calls wait for the store. Any goroutine may call it.
type Series struct {
	mu    sync.Mutex
	c     *C.firn_series
	store *C.firn_store
}

// OpenSeries opens the series of a name with config.Keys, such as "template=INV{year}/{counter:7} zone=Europe/Berlin".
// Without a template, the definition that the store has applies.
func OpenSeries(name string, config Config) (*Series, error) {
	if err := checkVersion(); err != nil {
		return nil, err
	}
	var a arena
	var e C.firn_error
	s := &Series{}
	defer a.free()
	cName, keys := a.text("name", name), a.text("Keys", config.Keys)
	store, dir := a.optional("Store", config.Store), a.optional("ModuleDir", config.ModuleDir)
	if a.err != nil {
		return nil, a.err
	}
	if C.firn_go_store(&s.store, store, dir, C.bool(config.Unsafe), false, &e) != 0 {
		return nil, errorOf(&e)
	}
	if C.firn_series_open(&s.c, cName, keys, s.store, nil, &e) != 0 {
		C.firn_store_close(s.store)
		return nil, errorOf(&e)
	}
	runtime.SetFinalizer(s, collected[*Series])
	return s, nil
}

func (s *Series) call(f func(e *C.firn_error) C.int) error {
	var e C.firn_error
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c == nil {
		return fail(firn.ErrUsage, "the series is closed: open another one")
	}
	if f(&e) != 0 {
		return errorOf(&e)
	}
	return nil
}

// texts calls f with room for n numbers, and the time; the zero time is now.
func (s *Series) texts(ctx context.Context, n int, at time.Time,
	f func(at *C.firn_time, out *[C.FIRN_SERIES_SIZE]C.char, e *C.firn_error) C.int) ([]string, error) {
	return await(ctx, func() ([]string, error) {
		room := make([][C.FIRN_SERIES_SIZE]C.char, n)
		var when *C.firn_time
		if !at.IsZero() {
			when = new(C.firn_time)
			*when = timeOf(at)
		}
		if err := s.call(func(e *C.firn_error) C.int { return f(when, &room[0], e) }); err != nil {
			return nil, err
		}
		all := make([]string, n)
		for i := range all {
			all[i] = C.GoString(&room[i][0])
		}
		return all, nil
	})
}

// Many issues n numbers of one period: of the time at, or of now if that is the zero time.
func (s *Series) Many(ctx context.Context, n int, at time.Time) ([]string, error) {
	if n < 1 || n > numbersMax {
		return nil, fail(firn.ErrRange, "one call issues 1 to 1000000 numbers: ask for such a count")
	}
	return s.texts(ctx, n, at, func(when *C.firn_time, out *[C.FIRN_SERIES_SIZE]C.char, e *C.firn_error) C.int {
		return C.firn_series_next(s.c, when, out, C.size_t(n), e)
	})
}

// Next issues a number of now.
func (s *Series) Next(ctx context.Context) (string, error) {
	return first(s.Many(ctx, 1, time.Time{}))
}

// Peek returns the number that the store would grant next. It reserves nothing.
func (s *Series) Peek(ctx context.Context, at time.Time) (string, error) {
	return first(s.texts(ctx, 1, at, func(when *C.firn_time, out *[C.FIRN_SERIES_SIZE]C.char, e *C.firn_error) C.int {
		return C.firn_series_peek(s.c, when, &out[0], e)
	}))
}

func first(all []string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// Read returns the counter of a number.
func (s *Series) Read(number string) (int64, error) {
	var counter C.int64_t
	text := C.CString(number)
	defer C.free(unsafe.Pointer(text))
	err := s.call(func(e *C.firn_error) C.int {
		return C.firn_series_read(s.c, &counter, text, C.size_t(len(number)), e)
	})
	return int64(counter), err
}

// Definition returns the keys that the store keeps, or "" when the series is closed.
func (s *Series) Definition() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c == nil {
		return ""
	}
	return C.GoString(C.firn_series_definition(s.c))
}

// Close gives back what is left. Calling it again does nothing.
func (s *Series) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c == nil {
		return nil
	}
	var e C.firn_error
	code := C.firn_series_close(s.c, &e)
	C.firn_store_close(s.store)
	s.c = nil
	if code != 0 {
		return errorOf(&e)
	}
	return nil
}
