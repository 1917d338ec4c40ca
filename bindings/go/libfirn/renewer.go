// SPDX-License-Identifier: MIT

package libfirn

// #include "shim.h"
import "C"

import (
	"context"
	"sync"
	"time"
)

// renewer renews the window of a generator in a goroutine, so that issuing never waits for the store while a window
// lasts. Its zero value does nothing.
type renewer struct {
	gen  *C.firn_gen
	kick chan struct{} // somebody waits
	stop chan struct{}
	done chan struct{}

	mu      sync.Mutex
	stepped chan struct{} // closed after the next step
	err     error         // of the last step
}

func (r *renewer) start(gen *C.firn_gen) {
	r.gen = gen
	r.kick = make(chan struct{}, 1)
	r.stop, r.done = make(chan struct{}), make(chan struct{})
	r.stepped = make(chan struct{})
	go r.run()
}

func (r *renewer) run() {
	defer close(r.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-r.kick:
			if !timer.Stop() {
				select {
				case <-timer.C:
				default:
				}
			}
		case <-timer.C:
		}
		var e C.firn_error
		var err error
		wait := C.int64_t(50)
		steps <- struct{}{}
		if C.firn_gen_step(r.gen, &wait, &e) != 0 {
			err = errorOf(&e)
		}
		<-steps
		r.mu.Lock()
		r.err = err
		close(r.stepped)
		r.stepped = make(chan struct{})
		r.mu.Unlock()
		if wait < 1 {
			wait = 1
		}
		timer.Reset(time.Duration(wait) * time.Millisecond)
	}
}

// news returns a channel that is closed after the next step; nil: nothing is renewed.
func (r *renewer) news() chan struct{} {
	if r.stop == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stepped
}

// renew waits for the step that news announces.
func (r *renewer) renew(ctx context.Context, news chan struct{}) error {
	select {
	case r.kick <- struct{}{}:
	default:
	}
	select {
	case <-news:
	case <-r.done: // closed while this waited
		return closedError()
	case <-ctx.Done():
		return ended(ctx.Err(), "the store")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// end waits for a step in progress.
func (r *renewer) end() {
	if r.stop != nil {
		close(r.stop)
		<-r.done
	}
}
