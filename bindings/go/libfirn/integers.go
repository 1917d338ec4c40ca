// SPDX-License-Identifier: MIT

package libfirn

// #include "shim.h"
import "C"

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"firn.example/firn"
)

// Segment issues integers that are unique under a key. Calls may wait for the store. It implements firn.Segment.
type Segment struct {
	mu        sync.RWMutex // read: a call is in progress; written by Close
	c         *C.firn_segment
	store     *C.firn_store
	increment int64
}

// OpenSegment opens a segment. The keys are kind, step, increment, offset, start, end, adapt, reserve,
// reserve_path, max_reserve and reserve_trust.
func OpenSegment(key string, config Config) (*Segment, error) {
	if err := checkVersion(); err != nil {
		return nil, err
	}
	var a arena
	var e C.firn_error
	s := &Segment{}
	defer a.free()
	cKey, keys := a.text("key", key), a.text("Keys", config.Keys)
	store, dir := a.optional("Store", config.Store), a.optional("ModuleDir", config.ModuleDir)
	if a.err != nil {
		return nil, a.err
	}
	later := strings.Contains(config.Keys, "reserve=") // the reserve is there without the store
	if C.firn_go_store(&s.store, store, dir, C.bool(config.Unsafe), C.bool(later), &e) != 0 {
		return nil, errorOf(&e)
	}
	if C.firn_segment_open(&s.c, cKey, keys, s.store, nil, &e) != 0 {
		C.firn_store_close(s.store)
		return nil, errorOf(&e)
	}
	s.increment = int64(C.firn_segment_increment(s.c))
	runtime.SetFinalizer(s, collected[*Segment])
	return s, nil
}

func (s *Segment) call(ctx context.Context, f func(out *C.int64_t, e *C.firn_error) C.int) (int64, error) {
	return await(ctx, func() (int64, error) {
		var e C.firn_error
		var out C.int64_t
		s.mu.RLock()
		defer s.mu.RUnlock()
		if s.c == nil {
			return 0, fail(firn.ErrUsage, "the segment is closed: open another one")
		}
		if f(&out, &e) != 0 {
			return 0, errorOf(&e)
		}
		return int64(out), nil
	})
}

// Next issues an integer.
func (s *Segment) Next(ctx context.Context) (int64, error) {
	return s.call(ctx, func(out *C.int64_t, e *C.firn_error) C.int { return C.firn_segment_next(s.c, out, e) })
}

// Block reserves n integers: first, first + increment, ...
func (s *Segment) Block(ctx context.Context, n int64) (first, increment int64, err error) {
	first, err = s.call(ctx, func(out *C.int64_t, e *C.firn_error) C.int {
		return C.firn_segment_block(s.c, C.int64_t(n), out, e)
	})
	return first, s.increment, err
}

// Peek returns the next integer that the store would grant. It reserves nothing.
func (s *Segment) Peek(ctx context.Context) (int64, error) {
	return s.call(ctx, func(out *C.int64_t, e *C.firn_error) C.int { return C.firn_segment_peek(s.c, out, e) })
}

// Advance makes the store grant nothing below from, and returns the first integer left.
func (s *Segment) Advance(ctx context.Context, from int64) (int64, error) {
	return s.call(ctx, func(out *C.int64_t, e *C.firn_error) C.int {
		return C.firn_segment_advance(s.c, C.int64_t(from), out, e)
	})
}

// Close gives back what is left. Calling it again does nothing.
func (s *Segment) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c == nil {
		return nil
	}
	var e C.firn_error
	code := C.firn_segment_close(s.c, &e)
	C.firn_store_close(s.store)
	s.c = nil
	if code != 0 {
		return errorOf(&e)
	}
	return nil
}

// Order turns integers into order numbers, and back. Any goroutine may call it.
type Order struct {
	mu sync.Mutex
	c  *C.firn_order
}

// OpenOrder opens a key of 16 bytes. The keys are digits, key_id, check and tweak.
func OpenOrder(key []byte, config Config) (*Order, error) {
	if err := checkVersion(); err != nil {
		return nil, err
	}
	if len(key) != 16 {
		return nil, fail(firn.ErrUsage, "the key has %d bytes: give 16", len(key))
	}
	var a arena
	var e C.firn_error
	o := &Order{}
	defer a.free()
	keys, dir := a.text("Keys", config.Keys), a.optional("ModuleDir", config.ModuleDir)
	if a.err != nil {
		return nil, a.err
	}
	if C.firn_order_open(&o.c, keys, (*C.uint8_t)(&key[0]), dir, &e) != 0 {
		return nil, errorOf(&e)
	}
	runtime.SetFinalizer(o, (*Order).Close)
	return o, nil
}

func (o *Order) call(f func(c *C.firn_order, e *C.firn_error) C.int) error {
	var e C.firn_error
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.c == nil {
		return fail(firn.ErrUsage, "the order key is closed: open it again")
	}
	if f(o.c, &e) != 0 {
		return errorOf(&e)
	}
	return nil
}

// Write returns the order number of an integer.
func (o *Order) Write(integer uint64) (string, error) {
	var text [C.FIRN_ORDER_SIZE]C.char
	err := o.call(func(c *C.firn_order, e *C.firn_error) C.int {
		return C.firn_order_write(c, &text[0], C.uint64_t(integer), e)
	})
	return C.GoString(&text[0]), err
}

// Read returns the integer of an order number.
func (o *Order) Read(number string) (uint64, error) {
	var integer C.uint64_t
	text := C.CString(number)
	defer C.free(unsafe.Pointer(text))
	err := o.call(func(c *C.firn_order, e *C.firn_error) C.int {
		return C.firn_order_read(c, &integer, text, C.size_t(len(number)), e)
	})
	return uint64(integer), err
}

// Close erases the key. Calling it again does nothing.
func (o *Order) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	C.firn_order_close(o.c)
	o.c = nil
}

// Mask gives each ID another text, which shows neither time nor volume, and which only the key turns back. A masked ID
// authorises nobody. Any goroutine may call it.
type Mask struct {
	mu sync.Mutex
	c  *C.firn_mask
}

// OpenMask opens the mask of config.Keys, such as "name=orders width=uuid fingerprint=78555f0c", with a key file of
// firn mask keygen.
func OpenMask(keyFile string, config Config) (*Mask, error) {
	if err := checkVersion(); err != nil {
		return nil, err
	}
	var a arena
	var e C.firn_error
	m := &Mask{}
	defer a.free()
	keys, file, dir := a.text("Keys", config.Keys), a.text("the key file", keyFile), a.optional("ModuleDir", config.ModuleDir)
	if a.err != nil {
		return nil, a.err
	}
	if C.firn_mask_load(&m.c, keys, file, dir, &e) != 0 {
		return nil, errorOf(&e)
	}
	runtime.SetFinalizer(m, (*Mask).Close)
	return m, nil
}

func (m *Mask) turn(text string, back bool) (string, error) {
	var out [C.FIRN_TEXT_SIZE]C.char
	var e C.firn_error
	given := C.CString(text)
	defer C.free(unsafe.Pointer(given))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.c == nil {
		return "", fail(firn.ErrUsage, "the mask is closed: open it again")
	}
	var code C.int
	if back {
		code = C.firn_mask_read(m.c, &out[0], given, C.size_t(len(text)), &e)
	} else {
		code = C.firn_mask_write(m.c, &out[0], given, C.size_t(len(text)), &e)
	}
	if code != 0 {
		return "", errorOf(&e)
	}
	return C.GoString(&out[0]), nil
}

// Mask returns the masked form of the text of an ID.
func (m *Mask) Mask(id string) (string, error) { return m.turn(id, false) }

// Unmask returns the ID of a masked text.
func (m *Mask) Unmask(masked string) (string, error) { return m.turn(masked, true) }

// Fingerprint returns 8 hex digits that another key, name, width or version changes, or "" when the mask is closed. They
// are not secret.
func (m *Mask) Fingerprint() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.c == nil {
		return ""
	}
	return C.GoString(C.firn_mask_fingerprint(m.c))
}

// Close erases the key. Calling it again does nothing.
func (m *Mask) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	C.firn_mask_close(m.c)
	m.c = nil
}
