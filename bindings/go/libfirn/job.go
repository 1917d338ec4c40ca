// SPDX-License-Identifier: MIT

package libfirn

// #include "shim.h"
import "C"

import (
	"runtime"
	"sync"
	"time"
	"unsafe"

	"firn.example/firn"
	"firn.example/firn/internal/kind"
)

// JobConfig has the settings of a job. Empty fields are defaults.
type JobConfig struct {
	Config                 // Note is not used
	Name     string        // of the job: the store reserves a node under it, for ever; "": no store, and Keys has the node
	Digest   uint64        // of the input, such as 64 bits of a hash; needed with a Name, which belongs to one digest
	Seed     string        // of random bits, for schemes that have some: another one for each job
	MaxShift time.Duration // how far a record of a full tick may move ahead; 0: 1 s; negative: not at all
	Disorder time.Duration // by how much a record may be earlier than the latest one; 0: any order
}

// Job issues IDs for records that have a time but no ID: the same IDs at each run for the same records in the same
// order. Any goroutine may call it.
type Job[T firn.Type] struct {
	mu    sync.Mutex
	c     *C.firn_job // nil: closed
	kind  kind.Kind
	form  C.int
	shift time.Duration
	again bool
}

// OpenJob opens a job. With a Name it asks the store, also for the node of a job that was started before; other input or
// settings under that name are firn.ErrTaken. A Close follows.
func OpenJob[T firn.Type](scheme string, config JobConfig) (*Job[T], error) {
	if err := checkVersion(); err != nil {
		return nil, err
	}
	stored := config.Name != "" || config.Store != ""
	if stored && config.Digest == 0 {
		return nil, fail(firn.ErrUsage, "a job with a name needs the digest of its input: set Digest, such as a hash of a file")
	}
	shift := config.MaxShift
	if shift == 0 {
		shift = time.Second
	} else if shift < 0 {
		shift = 0
	}
	disorder := config.Disorder.Milliseconds()
	if config.Disorder%time.Millisecond > 0 {
		disorder++ // less than 1 ms is not 0, which is any order
	}
	var a arena
	var e C.firn_error
	var store *C.firn_store
	defer a.free()
	cScheme, keys, name := a.text("scheme", scheme), a.text("Keys", config.Keys), a.optional("Name", config.Name)
	seed, url := a.optional("Seed", config.Seed), a.optional("Store", config.Store)
	dir, form := a.optional("ModuleDir", config.ModuleDir), a.optional("Form", config.Form)
	if a.err != nil {
		return nil, a.err
	}
	if stored {
		if C.firn_go_store(&store, url, dir, C.bool(config.Unsafe), false, &e) != 0 {
			return nil, errorOf(&e)
		}
		defer C.firn_store_close(store)
	}
	j := &Job[T]{kind: kind.Of[T]()}
	if C.firn_go_job(&j.c, cScheme, keys, store, name, C.uint64_t(config.Digest), seed, C.int64_t(shift.Milliseconds()),
		C.int64_t(disorder), &e) != 0 {
		return nil, errorOf(&e)
	}
	made := C.firn_job_scheme(j.c)
	var err error
	if j.form, err = formOf(config.Form, form, made); err == nil {
		err = j.kind.Fits(scheme, int(made.bits))
	}
	if err != nil {
		C.firn_job_close(j.c)
		return nil, err
	}
	j.again = bool(C.firn_job_again(j.c))
	runtime.SetFinalizer(j, (*Job[T]).Close)
	return j, nil
}

// Next issues the ID of the next record, which has the time at. It needs no store. After an error the job is as before, so
// that you may skip the record.
func (j *Job[T]) Next(at time.Time) (T, error) {
	var none T
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.c == nil {
		return none, fail(firn.ErrUsage, "the job is closed: open another one")
	}
	address := C.uintptr_t(uintptr(unsafe.Pointer(j.c)))
	r := C.firn_go_job_next(address, timeOf(at), C.bool(j.kind == kind.Bytes))
	if r.code != 0 { // the same call has the same failure, now with its sentence
		var e C.firn_error
		when := timeOf(at)
		C.firn_job_next(j.c, &when, &r.id, &r.shift_ns, &e)
		return none, errorOf(&e)
	}
	j.shift = time.Duration(r.shift_ns)
	if j.kind == kind.Text {
		texts := make([]byte, C.FIRN_TEXT_SIZE)
		C.firn_format((*C.char)(unsafe.Pointer(&texts[0])), &r.id, j.form)
		return textAt[T](texts, 0), nil
	}
	return *(*T)(unsafe.Pointer(&r.word)), nil
}

// Shift returns by how much the ID of the last record is later than the record.
func (j *Job[T]) Shift() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.shift
}

// Again reports whether the job was started before. It is false without a store.
func (j *Job[T]) Again() bool { return j.again }

// Close erases what follows from the seed. Calling it again does nothing.
func (j *Job[T]) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	C.firn_job_close(j.c)
	j.c = nil
	return nil
}
