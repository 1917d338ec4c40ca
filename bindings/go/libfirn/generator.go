// SPDX-License-Identifier: MIT

package libfirn

// #include "shim.h"
import "C"

import (
	"context"
	"regexp"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"firn.example/firn"
	"firn.example/firn/internal/kind"
)

// Config has the settings of a generator, a segment or an order key. Empty fields are defaults.
type Config struct {
	Store     string // URL: sqlite:PATH, postgres://..., memory:
	Keys      string // "key=value key=value", see docs/reference/keys.md
	Form      string // text form of string IDs; "": the scheme's
	Note      string // stored with each reservation; "": program, host and process
	ModuleDir string // where to look for the modules of stores first
	Unsafe    bool   // accept a store that may lose acknowledged writes
}

// Generator issues IDs of one scheme. It implements firn.Generator.
type Generator[T firn.Type] struct{ *core }

// core is what all types of IDs share. It does not know the Generator, which can therefore be collected while the
// renewer runs.
type core struct {
	kind   kind.Kind
	form   C.int
	bits   C.uint32_t
	stride uintptr // of the IDs in a block
	waits  bool    // calls may wait in the library

	users  sync.RWMutex // read: a call is in progress; written by shut
	gen    *C.firn_gen  // nil: closed
	once   sync.Once    // of shut
	closed error

	renewer renewer

	mu     sync.Mutex
	blocks map[*block]struct{}
}

var wordWait = regexp.MustCompile(`(^|\s)(mode=online|full=wait)(\s|$)`)
var wordOnline = regexp.MustCompile(`(^|\s)mode=online(\s|$)`)

// Open opens a generator. It may wait for the store, at most max_wait. All codes of the library are possible.
func Open[T firn.Type](scheme string, config Config) (*Generator[T], error) {
	if err := checkVersion(); err != nil {
		return nil, err
	}
	var a arena
	var e C.firn_error
	defer a.free()
	c := &core{kind: kind.Of[T](), waits: wordWait.MatchString(config.Keys), blocks: map[*block]struct{}{}}
	cScheme, keys, store := a.text("scheme", scheme), a.text("Keys", config.Keys), a.optional("Store", config.Store)
	dir, note, form := a.optional("ModuleDir", config.ModuleDir), a.optional("Note", config.Note), a.optional("Form", config.Form)
	if a.err != nil {
		return nil, a.err
	}
	renews := !wordOnline.MatchString(config.Keys)
	if C.firn_go_open(&c.gen, cScheme, keys, store, dir, note, C.bool(config.Unsafe), C.bool(renews), &e) != 0 {
		return nil, errorOf(&e)
	}
	made := C.firn_gen_scheme(c.gen)
	c.bits = made.bits
	err := c.kind.Fits(scheme, int(c.bits))
	if err == nil {
		c.form, err = formOf(config.Form, form, made)
	}
	if err != nil {
		C.firn_close(c.gen, nil)
		return nil, err
	}
	c.stride = 8
	if c.bits > 64 {
		c.stride = uintptr(c.bits+7) / 8
	}
	if renews && c.status().Reserved {
		c.renewer.start(c.gen)
	}
	g := &Generator[T]{c}
	runtime.SetFinalizer(g, collected[*Generator[T]])
	return g, nil
}

// formOf returns the form of a name, which is also given as C has it; of "", the scheme's own.
func formOf(name string, form *C.char, scheme *C.firn_scheme) (C.int, error) {
	if form == nil {
		return C.int(scheme.form), nil
	}
	found := C.firn_form_find(form)
	if found < 0 || C.firn_form_width(found, scheme.bits) == 0 {
		return 0, fail(firn.ErrUsage, "Form %.40s does not write the %d bits of %s: see Forms", name, scheme.bits,
			C.GoString(&scheme.name[0]))
	}
	return found, nil
}

// Close gives the window back to the store and frees the generator, after the calls in progress. Calling it again does
// nothing.
func (g *Generator[T]) Close() error { return g.shut() }

func (c *core) shut() error {
	c.once.Do(func() {
		c.renewer.end()
		c.users.Lock()
		defer c.users.Unlock()
		c.mu.Lock()
		blocks := c.blocks
		c.blocks = nil
		c.mu.Unlock()
		for b := range blocks {
			b.free()
		}
		var e C.firn_error
		if C.firn_close(c.gen, &e) != 0 {
			c.closed = errorOf(&e)
		}
		c.gen = nil
	})
	return c.closed
}

func closedError() error {
	return fail(firn.ErrUsage, "the generator is closed: open another one")
}

// Status is the state of a generator.
type Status struct {
	Reserved, Held                           bool // it reserves its IDs in a store; it has a window now
	Node                                     uint64
	Claims, Renewals, GiveBacks, StoreErrors uint64
	StepsBackAbsorbed, StepsBackLeft         uint64 // clock rollbacks within and beyond max_back
	JumpsAhead                               uint64 // of the clock, by more than 5 s
	Lead                                     time.Duration
	Unsafe                                   bool
	MaxCount                                 int64 // the most IDs that one call can issue
	Stays                                    bool  // after a clock rollback, the time of IDs stays until the clock catches up
}

func (c *core) status() Status {
	s := C.firn_status{}
	s.size = C.sizeof_firn_status
	C.firn_gen_status(c.gen, &s)
	return Status{bool(s.reserved), bool(s.held), uint64(s.node), uint64(s.claims), uint64(s.renewals), uint64(s.give_backs),
		uint64(s.store_errors), uint64(s.steps_back_absorbed), uint64(s.steps_back_left), uint64(s.jumps_ahead),
		time.Duration(s.lead_ns), bool(s.unsafe), int64(s.max_count), bool(s.stays)}
}

// Status returns the state of the generator.
func (g *Generator[T]) Status() (Status, error) {
	defer runtime.KeepAlive(g)
	g.users.RLock()
	defer g.users.RUnlock()
	if g.gen == nil {
		return Status{}, closedError()
	}
	return g.status(), nil
}

// Layout returns the bits of the scheme with the generator's keys applied.
func (g *Generator[T]) Layout() (string, error) {
	defer runtime.KeepAlive(g)
	g.users.RLock()
	defer g.users.RUnlock()
	if g.gen == nil {
		return "", closedError()
	}
	var text [C.FIRN_LAYOUT_SIZE]C.char
	return C.GoString(C.firn_scheme_layout(&text[0], C.firn_gen_scheme(g.gen))), nil
}

// call runs f on the open generator. When the window is used up, it waits for the renewer and runs f again.
func (c *core) call(ctx context.Context, f func(gen *C.firn_gen, e *C.firn_error) bool) error {
	_, err := c.waiting(ctx, func() (struct{}, error) {
		var e C.firn_error
		for i := 0; ; i++ {
			news := c.renewer.news()
			c.users.RLock()
			if c.gen == nil {
				c.users.RUnlock()
				return struct{}{}, closedError()
			}
			ok := f(c.gen, &e)
			c.users.RUnlock()
			if ok {
				return struct{}{}, nil
			}
			if e.code != C.FIRN_EWINDOW || news == nil || i == 4 {
				return struct{}{}, errorOf(&e)
			}
			if err := c.renewer.renew(ctx, news); err != nil {
				return struct{}{}, err
			}
		}
	})
	return err
}

func (c *core) waiting(ctx context.Context, f func() (struct{}, error)) (struct{}, error) {
	if c.waits {
		return await(ctx, f)
	}
	return f()
}

// next issues an ID, or reports any code but 0. It passes the generator as a number: cgo would allocate to check a pointer.
func (c *core) next() (r C.firn_go_id) {
	c.users.RLock()
	if c.gen != nil {
		r = C.firn_go_next(C.uintptr_t(uintptr(unsafe.Pointer(c.gen))), C.bool(c.kind == kind.Bytes))
	} else {
		r.code = C.FIRN_EUSAGE
	}
	c.users.RUnlock()
	return r
}

// Next issues an ID: strict order, fresh time. It allocates nothing, unless IDs are strings.
func (g *Generator[T]) Next(ctx context.Context) (T, error) {
	c := g.core
	if c.kind != kind.Text && !c.waits {
		r := c.next()
		runtime.KeepAlive(g)
		if r.code == 0 {
			return *(*T)(unsafe.Pointer(&r.word)), nil
		}
	}
	ids, err := g.Append(ctx, nil, 1)
	if err != nil {
		var none T
		return none, err
	}
	return ids[0], nil
}

// Append issues n IDs, in order, and appends them to ids.
func (g *Generator[T]) Append(ctx context.Context, ids []T, n int) ([]T, error) {
	return g.add(ctx, ids, nil, n)
}

// At issues n IDs of a past time, on a node that issues no others. It may wait for the store.
func (g *Generator[T]) At(ctx context.Context, at time.Time, n int) ([]T, error) {
	when := timeOf(at)
	if g.waits { // add awaits it
		return g.add(ctx, nil, &when, n)
	}
	return await(ctx, func() ([]T, error) { return g.add(ctx, nil, &when, n) })
}

func (g *Generator[T]) add(ctx context.Context, ids []T, at *C.firn_time, n int) ([]T, error) {
	if err := kind.Count(n); err != nil {
		return ids, err
	}
	if n == 0 {
		return ids, nil
	}
	before, old := ids, len(ids)
	if g.waits || ids == nil { // a call that continues in the background must not write into ids
		ids = append(make([]T, 0, old+n), ids...)
	}
	ids = append(ids, make([]T, n)...)
	out := ids[old:]
	err := g.core.call(ctx, func(gen *C.firn_gen, e *C.firn_error) bool {
		if g.kind == kind.Number && at == nil {
			return C.firn_next_u64(gen, (*C.uint64_t)(unsafe.Pointer(&out[0])), C.size_t(n), e) == 0
		}
		made := C.firn_go_many(gen, at, C.size_t(n), e)
		if made == nil {
			return false
		}
		defer C.free(unsafe.Pointer(made))
		if g.kind == kind.Text {
			writeTexts(out, made, g.form, gen)
		} else {
			C.firn_go_words(unsafe.Pointer(&out[0]), made, C.size_t(n), C.bool(g.kind == kind.Bytes))
		}
		return true
	})
	runtime.KeepAlive(g)
	if err != nil {
		return before, err
	}
	return ids, nil
}

// writeTexts formats len(out) IDs, a few at a time.
func writeTexts[T firn.Type](out []T, ids *C.firn_id, form C.int, gen *C.firn_gen) {
	step := len(out)
	if step > C.FIRN_BLOCK_MAX {
		step = C.FIRN_BLOCK_MAX
	}
	texts := make([]byte, C.FIRN_TEXT_SIZE*step)
	for len(out) > 0 {
		if step > len(out) {
			step = len(out)
		}
		C.firn_go_texts((*C.char)(unsafe.Pointer(&texts[0])), ids, C.size_t(step), form, gen)
		for i := 0; i < step; i++ {
			out[i] = textAt[T](texts, i)
		}
		out, ids = out[step:], (*C.firn_id)(unsafe.Add(unsafe.Pointer(ids), step*C.sizeof_firn_id))
	}
}

// textAt returns the text that shim.c wrote as number i.
func textAt[T firn.Type](texts []byte, i int) T {
	text := texts[i*C.FIRN_TEXT_SIZE : (i+1)*C.FIRN_TEXT_SIZE]
	n := 0
	for text[n] != 0 {
		n++
	}
	return kind.Cast[T](string(text[:n]))
}
