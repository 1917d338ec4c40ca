// SPDX-License-Identifier: MIT

// Package firn has the types of firn for Go: IDs, generators and errors.
//
// Two packages issue IDs. Both implement [Generator]:
//
//   - libfirn issues in this process. It needs cgo and the C library.
//   - client asks a server, firn serve. It is pure Go.
//
// The type of the IDs is a parameter: [ID] or another 64-bit integer for schemes of up to 64 bits, [UUID] or another
// [16]byte for schemes of 128 bits, string for every scheme.
//
// No ID is issued twice, unless a process is copied: a virtual machine that is started twice from one snapshot holds
// the same blocks twice. Use the key mode=online, and no blocks, there.
package firn

import (
	"context"
	"time"
)

// Type is a type of IDs. Integers hold IDs of up to 64 bits, arrays IDs of 128 bits, most significant byte first, and
// strings any ID as text.
type Type interface {
	~int64 | ~uint64 | ~[16]byte | ~string
}

// Source issues IDs one by one. Any goroutine may call it.
type Source[T Type] interface {
	// Next issues an ID. It waits no longer than ctx allows.
	Next(ctx context.Context) (T, error)
}

// Generator issues IDs of one scheme. Any goroutine may call it.
type Generator[T Type] interface {
	// Source issues IDs in strict order, each with the time of the call.
	Source[T]
	// Append issues n IDs, in order, and appends them to ids. It issues all or returns an error.
	Append(ctx context.Context, ids []T, n int) ([]T, error)
	// At issues n IDs of a past time, on a node that issues no others.
	At(ctx context.Context, at time.Time, n int) ([]T, error)
	// IDs returns a source that takes IDs from a block in memory: for most IDs it calls neither the library nor the
	// server. An ID is at most maxAge old when it is taken, or as old as its way from the server. Each source has a
	// separate block, and issues in order. maxAge is at most a second; 0 is 1 ms.
	IDs(maxAge time.Duration) (Source[T], error)
	// Close gives the window back. Later calls return ErrUsage. Calling it again does nothing.
	Close() error
}

// Segment issues integers that are unique under a key. Any goroutine may call it.
type Segment interface {
	// Next issues an integer.
	Next(ctx context.Context) (int64, error)
	// Block reserves n integers: first, first + increment, ...
	Block(ctx context.Context, n int64) (first, increment int64, err error)
	Close() error
}

// MaxCount is the most IDs that one call issues.
const MaxCount = 1 << 24

// MaxAge is the greatest age of a block.
const MaxAge = time.Second

// Shown is what an ID contains.
type Shown struct {
	Scheme string
	Text   string            // in the form of the scheme
	Fields map[string]string // by name; the time as its tick
	Time   time.Time         // the zero Time if the scheme has no time
}

// Scheme describes a scheme.
type Scheme struct {
	Name, Layout, Form string
	Sorts              string // "yes", "by tick", "per node" or "no"
	Bits               int
}

// Reading is a scheme that a text is plausibly an ID of.
type Reading struct {
	Scheme, Form, Text string // Text is in the form of the scheme
	Sure               string // "likely", or "possible", which is not an answer
}
