// SPDX-License-Identifier: MIT

package client

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"firn.example/firn"
	"firn.example/firn/internal/kind"
)

// chunk is how many IDs one request gets.
const chunk = 4096

// Generator issues IDs of one generator of the servers. It implements firn.Generator.
type Generator[T firn.Type] struct {
	client *Client
	kind   kind.Kind
	name   string
	words  []string
}

// Open returns a generator: one that the servers have configured under the name, or a scheme. It asks no server. The
// parameters are pairs of names and values of FIRN.NEW: "AS", "base58" for strings, "PREFIX", "user" of a typeid.
func Open[T firn.Type](c *Client, name string, parameters ...string) *Generator[T] {
	g := &Generator[T]{client: c, kind: kind.Of[T](), name: name, words: parameters}
	g.words = as(g.kind, g.words[:len(g.words):len(g.words)])
	return g
}

// Next requests one ID. It is in order as long as the same server answers.
func (g *Generator[T]) Next(ctx context.Context) (T, error) {
	var none T
	ids, err := g.Append(ctx, nil, 1)
	if err != nil {
		return none, err
	}
	return ids[0], nil
}

// Append requests n IDs and appends them to ids.
func (g *Generator[T]) Append(ctx context.Context, ids []T, n int) ([]T, error) {
	return g.add(ctx, ids, n)
}

// At requests n IDs of a past time.
func (g *Generator[T]) At(ctx context.Context, at time.Time, n int) ([]T, error) {
	return g.add(ctx, nil, n, "TIME", timeText(at))
}

// Close does nothing: generators have no their own connections.
func (g *Generator[T]) Close() error { return nil }

// timeText writes a time exactly, for every year.
func timeText(t time.Time) string {
	sec, ns := t.Unix(), int64(t.Nanosecond())
	sign := ""
	if sec < 0 {
		sign = "-"
		sec = -sec
		if ns > 0 {
			sec, ns = sec-1, 1e9-ns
		}
	}
	return fmt.Sprintf("@%s%d.%09d", sign, uint64(sec), ns)
}

func (g *Generator[T]) add(ctx context.Context, ids []T, n int, more ...string) ([]T, error) {
	if err := kind.Count(n); err != nil {
		return ids, err
	}
	before := ids
	for n > 0 {
		count := n
		if count > chunk {
			count = chunk
		}
		words := append([]string{"FIRN.NEW", g.name}, g.words...)
		words = append(append(words, more...), "COUNT", strconv.Itoa(count))
		reply, err := g.client.do(ctx, words...)
		if err != nil {
			return before, err
		}
		texts, ok := reply.([]any)
		if !ok || len(texts) != count {
			return before, fail(firn.ErrProtocol, nil, "the server did not reply with %d IDs: is it firn serve?", count)
		}
		for _, text := range texts {
			id, err := read[T](g.kind, g.name, text)
			if err != nil {
				return before, err
			}
			ids = append(ids, id)
		}
		n -= count
	}
	return ids, nil
}

// as adds the form that read reads.
func as(k kind.Kind, words []string) []string {
	switch k {
	case kind.Number:
		return append(words, "AS", "unsigned")
	case kind.Bytes:
		return append(words, "AS", "hex")
	}
	return words
}

// read turns an ID of a reply into one of Go.
func read[T firn.Type](k kind.Kind, name string, reply any) (T, error) {
	var id T
	text, ok := reply.(string)
	if !ok {
		return id, fail(firn.ErrProtocol, nil, "the server replied with %T, not with an ID: is it firn serve?", reply)
	}
	var err error
	switch k {
	case kind.Text:
		return kind.Cast[T](text), nil
	case kind.Number:
		var number uint64
		if number, err = strconv.ParseUint(text, 10, 64); err == nil {
			return kind.Cast[T](number), nil
		}
		if errors.Is(err, strconv.ErrRange) {
			return id, fail(firn.ErrUsage, nil, "an ID of %s has more than 64 bits: use the type firn.UUID or string", name)
		}
	case kind.Bytes:
		if err := k.Fits(name, 4*len(text)); err != nil {
			return id, err
		}
		var bytes [16]byte
		if _, err = hex.Decode(bytes[:], []byte(text)); err == nil {
			return kind.Cast[T](bytes), nil
		}
	}
	return id, fail(firn.ErrProtocol, err, "the server replied with %.40q, not with an ID: is it firn serve?", text)
}

// source takes IDs from a block, which it replaces with its own requests.
type source[T firn.Type] struct {
	gen *Generator[T]
	age time.Duration

	mu      sync.Mutex
	ids     []T
	next    int
	until   time.Time
	want    int
	filling *fill // a request is on its way
}

type fill struct {
	done chan struct{}
	err  error
}

const firstFill, maxFill = 16, 256

// IDs returns a source that takes IDs from a block; a maxAge of 0 is 1 ms. The age counts from the moment before the
// request. If that takes longer than maxAge, each call of Next makes a request.
func (g *Generator[T]) IDs(maxAge time.Duration) (firn.Source[T], error) {
	age, err := kind.Age(maxAge)
	if err != nil {
		return nil, err
	}
	return &source[T]{gen: g, age: age, want: firstFill}, nil
}

// Next takes an ID from the block. If the block is empty or too old, one goroutine requests another block and all wait.
func (s *source[T]) Next(ctx context.Context) (T, error) {
	var none T
	var limited bool
	for {
		s.mu.Lock()
		if s.next < len(s.ids) && time.Now().Before(s.until) {
			id := s.ids[s.next]
			s.next++
			s.mu.Unlock()
			return id, nil
		}
		f := s.filling
		if f == nil {
			return s.fill(ctx)
		}
		s.mu.Unlock()
		if _, ok := ctx.Deadline(); !ok && !limited { // for all rounds together
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.gen.client.config.Timeout)
			defer cancel()
			limited = true
		}
		select {
		case <-f.done:
			// The failure is everybody's, unless only the time of the one who asked was over.
			if f.err != nil && !errors.Is(f.err, context.Canceled) && !errors.Is(f.err, context.DeadlineExceeded) {
				return none, f.err
			}
		case <-ctx.Done():
			return none, fail(firn.ErrUnavailable, ctx.Err(), "no server has answered (%v)", ctx.Err())
		}
	}
}

// fill requests a block and takes its first ID, however long that took. It is called with mu locked.
func (s *source[T]) fill(ctx context.Context) (T, error) {
	if s.next == len(s.ids) && s.want < maxFill && s.next > 0 { // all were taken
		s.want *= 2
	} else if s.next < len(s.ids)/2 && s.want > 1 { // most are dropped
		s.want /= 2
	}
	f := &fill{done: make(chan struct{})}
	s.filling, s.ids, s.next = f, nil, 0
	want := s.want
	s.mu.Unlock()

	from := time.Now()
	ids, err := s.gen.Append(ctx, nil, want)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.filling = nil
	f.err = err
	close(f.done)
	if err != nil {
		var none T
		return none, err
	}
	s.ids, s.next, s.until = ids, 1, from.Add(s.age)
	return ids[0], nil
}

// Segment issues the integers of a segment of the servers. It implements firn.Segment.
type Segment struct {
	client *Client
	key    string
}

// Segment returns the segment of that key. It asks no server.
func (c *Client) Segment(key string) *Segment { return &Segment{c, key} }

// Next requests one integer.
func (s *Segment) Next(ctx context.Context) (int64, error) {
	reply, err := s.client.do(ctx, "INCR", s.key)
	if err != nil {
		return 0, err
	}
	n, ok := reply.(int64)
	if !ok {
		return 0, fail(firn.ErrProtocol, nil, "the server replied with %T, not with an integer: is it firn serve?", reply)
	}
	return n, nil
}

// Block reserves n integers: first, first + increment, ... The program may count on its own, hi/lo.
func (s *Segment) Block(ctx context.Context, n int64) (first, increment int64, err error) {
	reply, err := s.client.do(ctx, "FIRN.BLOCK", s.key, "COUNT", strconv.FormatInt(n, 10))
	if err != nil {
		return 0, 0, err
	}
	parts, ok := reply.([]any) // first, last, increment, count
	var numbers [4]int64
	for i := range numbers {
		if ok = ok && len(parts) == len(numbers); ok {
			numbers[i], ok = parts[i].(int64)
		}
	}
	if !ok || numbers[3] != n {
		return 0, 0, fail(firn.ErrProtocol, nil, "the server did not reply with a block: is it firn serve?")
	}
	return numbers[0], numbers[2], nil
}

// Close does nothing.
func (s *Segment) Close() error { return nil }
