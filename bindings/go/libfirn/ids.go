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
	"firn.example/firn/internal/kind"
)

// block is a firn_block. The library owns its page and empties it in a forked child.
type block struct {
	mu    sync.Mutex
	c     *C.firn_block
	page  *C.firn_page   // nil: closed
	ids   unsafe.Pointer // after the page
	until time.Duration  // on the clock of now; until_ns is on one that Go does not show
	age   time.Duration
	texts []byte // of all IDs, if they are strings
}

var began = time.Now()

// now reads the monotonic clock.
func now() time.Duration { return time.Since(began) }

// source takes IDs from a block.
type source[T firn.Type] struct {
	gen   *Generator[T]
	block *block
}

// IDs returns a source that takes IDs from a block, at most maxAge old; 0 is 1 ms. Sources that many goroutines use all
// the time are faster if each has its own.
func (g *Generator[T]) IDs(maxAge time.Duration) (firn.Source[T], error) {
	age, err := kind.Age(maxAge)
	if err != nil {
		return nil, err
	}
	var e C.firn_error
	b := &block{age: age}
	c := g.core
	defer runtime.KeepAlive(g)
	c.users.RLock()
	defer c.users.RUnlock()
	if c.gen == nil {
		return nil, closedError()
	}
	if C.firn_block_open(&b.c, c.gen, C.int64_t(age.Microseconds()), &e) != 0 {
		return nil, errorOf(&e)
	}
	b.page = C.firn_block_page(b.c)
	b.ids = unsafe.Add(unsafe.Pointer(b.page), C.sizeof_firn_page)
	if c.kind == kind.Text {
		b.texts = make([]byte, C.FIRN_TEXT_SIZE*C.FIRN_BLOCK_MAX)
	}
	c.mu.Lock()
	c.blocks[b] = struct{}{}
	c.mu.Unlock()
	s := &source[T]{g, b}
	runtime.SetFinalizer(s, func(s *source[T]) {
		s.block.free()
		s.gen.mu.Lock()
		delete(s.gen.blocks, s.block)
		s.gen.mu.Unlock()
	})
	return s, nil
}

func (b *block) free() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.page != nil {
		C.firn_block_close(b.c)
		b.page = nil
	}
}

// take returns the ID at the page's index, which is within it.
func (s *source[T]) take() T {
	b := s.block
	i := b.page.next
	b.page.next = i + 1
	if b.texts != nil {
		return textAt[T](b.texts, int(i))
	}
	return *(*T)(unsafe.Add(b.ids, uintptr(i)*s.gen.stride))
}

// Next takes an ID from the block, and fills it if it is empty or too old.
func (s *source[T]) Next(ctx context.Context) (T, error) {
	b := s.block
	b.mu.Lock()
	if p := b.page; p != nil && p.next < p.count && now() < b.until {
		id := s.take()
		b.mu.Unlock()
		runtime.KeepAlive(s)
		return id, nil
	}
	b.mu.Unlock()
	return s.fill(ctx)
}

func (s *source[T]) fill(ctx context.Context) (T, error) {
	b := s.block
	var id T
	err := s.gen.call(ctx, func(gen *C.firn_gen, e *C.firn_error) bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		from := now() // before the library reads its clock, so that an ID is never older than until says
		if b.page.next >= b.page.count || from >= b.until {
			if C.firn_block_fill(b.c, e) != 0 {
				return false
			}
			b.until = from + b.age
			if b.texts != nil {
				C.firn_go_page_texts((*C.char)(unsafe.Pointer(&b.texts[0])), b.page, s.gen.bits, s.gen.form, gen)
			}
		}
		id = s.take()
		return true
	})
	runtime.KeepAlive(s)
	if err != nil { // a call that continues in the background may write id
		var none T
		return none, err
	}
	return id, nil
}
