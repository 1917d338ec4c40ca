// SPDX-License-Identifier: MIT

package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"firn.example/firn"
)

var (
	_          firn.Generator[firn.ID] = (*Generator[firn.ID])(nil)
	_          firn.Segment            = (*Segment)(nil)
	background                         = context.Background()
)

func code(t *testing.T, want firn.Code, err error) {
	t.Helper()
	var known *firn.Error
	if !errors.Is(err, want) || !errors.As(err, &known) || len(known.Text) < 10 {
		t.Errorf("%v, not an error of code %v", err, want)
	}
}

func newClient(t *testing.T, config Config) *Client {
	t.Helper()
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// fake is a server that replies to each command with what reply returns, and closes if that is "".
func fake(t *testing.T, reply func(command string) string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			raw, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer raw.Close()
				for in := bufio.NewReader(raw); ; {
					command, err := readCommand(in)
					if err != nil {
						return
					}
					text := reply(command)
					if io.WriteString(raw, text); text == "" {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

func readCommand(in *bufio.Reader) (string, error) {
	var n, size int
	if _, err := fmt.Fscanf(in, "*%d\r\n", &n); err != nil {
		return "", err
	}
	var words []string
	for ; n > 0; n-- {
		if _, err := fmt.Fscanf(in, "$%d\r\n", &size); err != nil {
			return "", err
		}
		word := make([]byte, size+2)
		if _, err := io.ReadFull(in, word); err != nil {
			return "", err
		}
		words = append(words, string(word[:size]))
	}
	return strings.Join(words, " "), nil
}

const one = "*1\r\n$16\r\n0000000000000007\r\n"

func TestAServerThatLies(t *testing.T) {
	for _, text := range []string{"x\r\n", "\r\n", "\n", "$-2\r\n", "$99999999999\r\n", "$2000000\r\n", "*2000000000\r\n", "*-5\r\n",
		"$3\r\nabcde", ":x\r\n", "$\r\n", "*\r\n", "+" + strings.Repeat("x", 10000) + "\r\n", strings.Repeat("*1\r\n", 100),
		"%1\r\n+a\r\n+b\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "+OK\r\n", ":7\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n",
		"*2\r\n$1\r\n7\r\n$1\r\n8\r\n", "*1\r\n:7\r\n", "*1\r\n$-1\r\n", "*1\r\n$4\r\n00ff\r\n", "*1\r\n*1\r\n$1\r\n7\r\n",
		one + one, "*1\r\n$1\r\n7\r\n+"} {
		c := newClient(t, Config{Addrs: []string{fake(t, func(string) string { return text })}})
		start := time.Now()
		_, err := Open[firn.ID](c, "snowflake").Next(background)
		if code(t, firn.ErrProtocol, err); time.Since(start) > 4*time.Second {
			t.Errorf("%.20q took %v", text, time.Since(start))
		}
		if _, err := c.Segment("x").Next(background); text != ":7\r\n" {
			code(t, firn.ErrProtocol, err)
		}
	}
	address := fake(t, func(string) string { return "*1\r\n$32\r\n" + strings.Repeat("7", 32) + "\r\n" })
	_, err := Open[firn.ID](newClient(t, Config{Addrs: []string{address}}), "uuid7").Next(background)
	code(t, firn.ErrUsage, err)
}

// TestRandomReplies reads replies with wrong bytes: none crashes, and none takes memory that it only announces.
func TestRandomReplies(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	good := "*3\r\n$4\r\n1234\r\n:12\r\n*2\r\n+OK\r\n$-1\r\n"
	for i := 0; i < 3000; i++ {
		text := []byte(good)
		for k := random.Intn(4); k >= 0; k-- {
			text[random.Intn(len(text))] = "*$+-:\r\n0123456789x\x00\xff"[random.Intn(20)]
		}
		ours, theirs := net.Pipe()
		go func() {
			theirs.Write(text)
			theirs.Close()
		}()
		newConn(ours, "test").read(0)
		ours.Close()
	}
}

func TestErrorsOfTheServer(t *testing.T) {
	for text, want := range map[string]firn.Code{"TRYAGAIN no ID is left": firn.ErrOverload, "BACK run this": firn.ErrBack,
		"END at its end": firn.ErrEnd, "FULL at that time": firn.ErrFull, "TAKEN by live IDs": firn.ErrTaken, "OOM out of memory": firn.ErrOverload, "LOADING wait": firn.ErrOverload, "BUSY wait": firn.ErrOverload, "ERR unknown: use another": firn.ErrUsage,
		"NOAUTH Authentication required": firn.ErrDenied, "WRONGPASS no": firn.ErrDenied, "NOPERM no": firn.ErrDenied,
		"ERR max number of clients reached": firn.ErrOverload, "": firn.ErrUsage, "X": firn.ErrUsage} {
		text, want, wait := text, want, time.Minute
		if want == firn.ErrOverload {
			wait = 5 * time.Second // the test polls it until then
		}
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, Config{Addrs: []string{fake(t, func(string) string { return "-" + text + " \r\n" })}})
			ctx, cancel := context.WithTimeout(background, wait)
			defer cancel()
			_, err := Open[firn.ID](c, "snowflake").Next(ctx)
			if !errors.Is(err, want) || errors.Is(err, context.DeadlineExceeded) != (want == firn.ErrOverload) {
				t.Error(err)
			}
		})
	}
}

// TestOverloadIsRetried counts requests: pauses between them double.
func TestOverloadIsRetried(t *testing.T) {
	var asked atomic.Int64
	c := newClient(t, Config{Addrs: []string{fake(t, func(string) string {
		if asked.Add(1) < 5 {
			return "-TRYAGAIN no ID is left\r\n"
		}
		return one
	})}})
	if id, err := Open[firn.ID](c, "snowflake").Next(background); id != 7 || err != nil || asked.Load() != 5 {
		t.Error(id, err, asked.Load())
	}
	asked.Store(-1000)
	ctx, cancel := context.WithTimeout(background, 300*time.Millisecond)
	defer cancel()
	_, err := Open[firn.ID](c, "snowflake").Next(ctx)
	if code(t, firn.ErrOverload, err); asked.Load() > -1000+12 {
		t.Error(asked.Load()+1000, "requests in 300 ms")
	}
}

// TestFailover: another server gets its share of the time; a connection that was only idle for too long does not count as a failure.
func TestFailover(t *testing.T) {
	hung := make(chan struct{})
	defer close(hung)
	var asked atomic.Int64
	silent := fake(t, func(string) string { asked.Add(1); <-hung; return "" })
	good := fake(t, func(string) string { return one })
	ctx, cancel := context.WithTimeout(background, 2*time.Second)
	defer cancel()
	c := newClient(t, Config{Addrs: []string{silent, good}, Attempt: time.Hour})
	if id, err := Open[firn.ID](c, "snowflake").Next(ctx); id != 7 || err != nil {
		t.Error(id, err)
	}
	asked.Store(0)
	c = newClient(t, Config{Addrs: []string{good, silent}})
	for i := 0; i < 2; i++ {
		if id, err := Open[firn.ID](c, "snowflake").Next(background); id != 7 || err != nil || asked.Load() != 0 {
			t.Error(i, id, err)
		}
		c.servers[0].idle[0].Conn.Close()
	}
}

func TestAServerThatNeverAnswers(t *testing.T) {
	hung := make(chan struct{})
	defer close(hung)
	silent := fake(t, func(string) string { <-hung; return "" })
	c := newClient(t, Config{Addrs: []string{silent}, Timeout: 300 * time.Millisecond})
	start := time.Now()
	_, err := Open[firn.ID](c, "snowflake").Next(background)
	code(t, firn.ErrUnavailable, err)
	if took := time.Since(start); took < 300*time.Millisecond || took > 30*time.Second {
		t.Error(took)
	}
	// Cancelling ends a call at once.
	c = newClient(t, Config{Addrs: []string{silent}, Timeout: time.Hour, Attempt: time.Hour})
	ctx, cancel := context.WithCancel(background)
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err = Open[firn.ID](c, "snowflake").Next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Another server answers instead, and stays.
	c = newClient(t, Config{Addrs: []string{silent, fake(t, func(string) string { return one })}, Attempt: 100 * time.Millisecond})
	for i := 0; i < 3; i++ {
		if id, err := Open[firn.ID](c, "snowflake").Next(background); id != 7 || err != nil {
			t.Error(id, err)
		}
	}
	if c.current != 1 {
		t.Error("the client did not stay with the server that answers")
	}
	// All who wait for one block get its error, in bounded time.
	c = newClient(t, Config{Addrs: []string{silent}, Timeout: 300 * time.Millisecond, MaxConns: 1})
	source, _ := Open[firn.ID](c, "snowflake").IDs(0)
	start = time.Now()
	var all sync.WaitGroup
	for i := 0; i < 50; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			_, err := source.Next(background)
			code(t, firn.ErrUnavailable, err)
		}()
	}
	all.Wait()
	if took := time.Since(start); took > 10*time.Second {
		t.Error(took)
	}
}

// TestNoReplyOfAnotherCommand ends calls whose replies are on their way.
func TestNoReplyOfAnotherCommand(t *testing.T) {
	c := newClient(t, Config{Addrs: []string{fake(t, func(command string) string {
		time.Sleep(2 * time.Millisecond)
		return ":" + strings.TrimPrefix(command, "INCR ") + "\r\n"
	})}, MaxConns: 2})
	ended := 0
	for i := int64(1); i < 200; i++ {
		ctx, cancel := context.WithTimeout(background, time.Duration(i%5)*time.Millisecond)
		n, err := c.Segment(fmt.Sprint(i)).Next(ctx)
		if cancel(); err != nil {
			ended++
		} else if n != i {
			t.Fatal(n, i)
		}
	}
	if n, err := c.Segment("7").Next(background); n != 7 || err != nil || ended == 0 {
		t.Error(n, err, ended)
	}
}

func TestConnections(t *testing.T) {
	var open, most, opened atomic.Int64
	address := fake(t, func(string) string { time.Sleep(time.Millisecond); return one })
	c := newClient(t, Config{Addrs: []string{address}, MaxConns: 3, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		opened.Add(1)
		if n := open.Add(1); n > most.Load() {
			most.Store(n)
		}
		raw, err := new(net.Dialer).DialContext(ctx, network, address)
		return counted{raw, &open}, err
	}})
	gen := Open[firn.ID](c, "snowflake")
	var all sync.WaitGroup
	for i := 0; i < 30; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for k := 0; k < 10; k++ {
				if _, err := gen.Next(background); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	if most.Load() > 3 || opened.Load() > 3 {
		t.Error(most.Load(), opened.Load())
	}
	c.Close()
	if open.Load() != 0 {
		t.Error(open.Load(), "connections are open")
	}
	_, err := gen.Next(background)
	code(t, firn.ErrUsage, err)
}

type counted struct {
	net.Conn
	open *atomic.Int64
}

func (c counted) Close() error {
	c.open.Add(-1)
	return c.Conn.Close()
}

func TestBlocks(t *testing.T) {
	var asked []string
	next := 0
	c := newClient(t, Config{Addrs: []string{fake(t, func(command string) string {
		var n int
		asked = append(asked, command)
		fmt.Sscanf(command, "FIRN.NEW snowflake AS unsigned COUNT %d", &n)
		out := fmt.Sprintf("*%d\r\n", n)
		for ; n > 0; n-- {
			next++
			out += fmt.Sprintf("$16\r\n%016d\r\n", next)
		}
		return out
	})}})
	source, err := Open[firn.ID](c, "snowflake").IDs(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for i := firn.ID(1); i <= 16+32; i++ {
		if id, err := source.Next(background); id != i || err != nil {
			t.Fatal(i, id, err)
		}
	}
	if len(asked) != 2 || asked[1] != "FIRN.NEW snowflake AS unsigned COUNT 32" {
		t.Error(asked)
	}
	source, _ = Open[firn.ID](c, "snowflake").IDs(time.Microsecond) // each is too old when it arrives, but the first
	asked = nil
	for i := 0; i < 8; i++ {
		if _, err := source.Next(background); err != nil {
			t.Fatal(err)
		}
	}
	if last := asked[len(asked)-1]; last != "FIRN.NEW snowflake AS unsigned COUNT 2" {
		t.Error(asked)
	}
	for _, age := range []time.Duration{-1, 1, time.Hour} {
		_, err = Open[firn.ID](c, "snowflake").IDs(age)
		code(t, firn.ErrRange, err)
	}
	for _, n := range []int{-1, firn.MaxCount + 1} {
		_, err = Open[firn.ID](c, "snowflake").Append(background, nil, n)
		code(t, firn.ErrRange, err)
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "localhost", "::1", "http://localhost:7379"} {
		_, err := New(Config{Addrs: []string{address}})
		code(t, firn.ErrUsage, err)
	}
	for at, want := range map[time.Time]string{time.Unix(0, 0): "@0.000000000", time.Unix(-1, 5e8): "@-0.500000000",
		time.Unix(-3, 0): "@-3.000000000", time.Unix(5, 1): "@5.000000001"} {
		if got := timeText(at); got != want {
			t.Error(got, want)
		}
	}
}
