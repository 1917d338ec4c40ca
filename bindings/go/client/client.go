// SPDX-License-Identifier: MIT

// Package client asks servers, firn serve, over the Redis protocol. It is pure Go.
//
//	c, err := client.New(client.Config{Addrs: []string{"ids-1:7379", "ids-2:7379"}})
//	gen := client.Open[firn.ID](c, "snowflake")
//	id, err := gen.Next(ctx)
//
// A call tries the servers in turn until one answers or its time is over. It repeats requests: an ID whose reply was
// lost is not issued again. While a server answers, the client stays with it, so that IDs keep their order; with
// another server they continue on another node.
package client

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand"
	"net"
	"strings"
	"sync"
	"time"

	"firn.example/firn"
)

// Config has the settings of a client. Zero fields are defaults.
type Config struct {
	// Addrs are the servers, the preferred one first: "host:port", or "unix:/run/firn/firn.sock". Default:
	// 127.0.0.1:7379.
	Addrs []string
	// User is ignored by firn serve. Token authenticates.
	User, Token string
	// TLS turns on TLS for every address but unix sockets.
	TLS *tls.Config
	// Timeout limits each request, unless its context has a deadline. Default: 5 s.
	Timeout time.Duration
	// Attempt limits one attempt at one server. Default: 2 s, more than the wait of a server.
	Attempt time.Duration
	// MaxConns is how many connections the client opens at once. Default: 16.
	MaxConns int
	// Dial opens connections. Default: the Dial of a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	firstPause = 10 * time.Millisecond // between rounds over all servers; doubles
	lastPause  = time.Second
)

// Client has connections to one of several servers. Any goroutine may call it.
type Client struct {
	config  Config
	servers []server
	room    chan struct{} // as many as connections may be open

	mu      sync.Mutex
	current int // the server that answered last
	closed  bool
}

// server is an address with its idle connections, which Client.mu guards.
type server struct {
	network, address string
	idle             []*conn
}

// New makes a client. It connects when it is first used.
func New(config Config) (*Client, error) {
	if len(config.Addrs) == 0 {
		config.Addrs = []string{"127.0.0.1:7379"}
	}
	if config.Timeout <= 0 {
		config.Timeout = 5 * time.Second
	}
	if config.Attempt <= 0 {
		config.Attempt = 2 * time.Second
	}
	if config.MaxConns <= 0 {
		config.MaxConns = 16
	}
	if config.Dial == nil {
		config.Dial = (&net.Dialer{}).DialContext
	}
	c := &Client{config: config, room: make(chan struct{}, config.MaxConns)}
	for _, address := range config.Addrs {
		network := "tcp"
		if path := strings.TrimPrefix(address, "unix:"); path != address {
			network, address = "unix", path
		} else if _, _, err := net.SplitHostPort(address); err != nil {
			return nil, fail(firn.ErrUsage, err, "%q is not an address: use HOST:PORT or unix:PATH", address)
		}
		c.servers = append(c.servers, server{network: network, address: address})
	}
	return c, nil
}

// Close closes the idle connections. Calls in progress close theirs when they end.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for i := range c.servers {
		c.dropIdle(i)
	}
	return nil
}

func (c *Client) dropIdle(i int) {
	for _, cn := range c.servers[i].idle {
		cn.Close()
	}
	c.servers[i].idle = nil
}

func fail(code firn.Code, cause error, format string, args ...any) error {
	e := firn.NewError(code, format, args...)
	e.Err = cause
	return e
}

// do sends a command until a server carries it out, refuses it, or the time is over.
func (c *Client) do(ctx context.Context, args ...string) (any, error) {
	deadline := time.Now().Add(c.config.Timeout)
	if at, ok := ctx.Deadline(); ok {
		deadline = at
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case c.room <- struct{}{}:
		defer func() { <-c.room }()
	case <-ctx.Done():
		return nil, fail(firn.ErrUnavailable, ctx.Err(), "all %d connections are in use: raise MaxConns", c.config.MaxConns)
	case <-timer.C:
		return nil, fail(firn.ErrUnavailable, context.DeadlineExceeded, "all %d connections are in use: raise MaxConns",
			c.config.MaxConns)
	}
	var last error
	n := len(c.servers)
	for try, pause := 0, firstPause; ; try++ {
		if ctx.Err() != nil || !time.Now().Before(deadline) {
			return nil, c.timeout(ctx, last)
		}
		// The servers that are left in this round share the time.
		limit := time.Until(deadline) / time.Duration(n-try%n)
		if limit > c.config.Attempt {
			limit = c.config.Attempt
		}
		reply, err := c.once(ctx, time.Now().Add(limit), args)
		if err == nil || isFinal(err) {
			return reply, err
		}
		last = err
		if try%n < n-1 {
			continue
		}
		if errors.Is(last, firn.ErrProtocol) {
			return nil, last
		}
		// Between half of the pause and all of it, so that clients do not come back together.
		wait := time.NewTimer(pause/2 + time.Duration(rand.Int63n(int64(pause/2))))
		if pause *= 2; pause > lastPause {
			pause = lastPause
		}
		select {
		case <-wait.C:
		case <-ctx.Done():
		case <-timer.C:
		}
		wait.Stop()
	}
}

// isFinal reports whether another attempt would get the same answer.
func isFinal(err error) bool {
	return !errors.Is(err, firn.ErrOverload) && !errors.Is(err, firn.ErrUnavailable) && !errors.Is(err, firn.ErrProtocol)
}

// timeout is the error after the last attempt: its code, and that the time is over.
func (c *Client) timeout(ctx context.Context, last error) error {
	cause := ctx.Err()
	if cause == nil {
		cause = context.DeadlineExceeded
	}
	var why *firn.Error
	if !errors.As(last, &why) {
		return fail(firn.ErrUnavailable, cause, "no server was asked (%v)", cause)
	}
	same := *why
	same.Err = cause
	return &same
}

// once makes one attempt at the current server, and leaves it for the next one if that fails.
func (c *Client) once(ctx context.Context, deadline time.Time, args []string) (any, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, fail(firn.ErrUsage, nil, "the client is closed: make another one")
	}
	at := c.current
	s := &c.servers[at]
	var cn *conn
	if n := len(s.idle); n > 0 {
		cn, s.idle = s.idle[n-1], s.idle[:n-1]
	}
	c.mu.Unlock()

	used := cn != nil
	for {
		var err error
		if cn == nil {
			cn, err = c.dial(ctx, deadline, s)
		}
		var reply any
		if err == nil {
			reply, err = cn.ask(ctx, deadline, args)
		}
		if cn != nil && cn.broken {
			cn.Close()
			cn = nil
		}
		if cn == nil && used && ctx.Err() == nil && time.Now().Before(deadline) {
			// The server closed idle connections, or restarted. A new connection shows whether it is there.
			c.mu.Lock()
			c.dropIdle(at)
			c.mu.Unlock()
			used = false
			continue
		}
		c.mu.Lock()
		if cn != nil && !c.closed {
			s.idle = append(s.idle, cn)
		} else if cn != nil {
			cn.Close()
		}
		if err != nil && !isFinal(err) && ctx.Err() == nil {
			if !errors.Is(err, firn.ErrOverload) {
				c.dropIdle(at)
			}
			if c.current == at {
				c.current = (at + 1) % len(c.servers)
			}
		}
		c.mu.Unlock()
		return reply, err
	}
}

// dial connects and authenticates.
func (c *Client) dial(ctx context.Context, deadline time.Time, s *server) (*conn, error) {
	within, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	raw, err := c.config.Dial(within, s.network, s.address)
	if err != nil {
		return nil, fail(firn.ErrUnavailable, err, "%s%v", s.address+" does not answer: ", err)
	}
	if c.config.TLS != nil && s.network != "unix" {
		settings := c.config.TLS.Clone()
		if host, _, err := net.SplitHostPort(s.address); err == nil && settings.ServerName == "" {
			settings.ServerName = host
		}
		secure := tls.Client(raw, settings)
		if err := secure.HandshakeContext(within); err != nil {
			raw.Close()
			return nil, fail(firn.ErrUnavailable, err, "%s%v", s.address+": TLS failed: ", err)
		}
		raw = secure
	}
	cn := newConn(raw, s.address)
	if c.config.Token != "" {
		words := []string{"AUTH", c.config.Token}
		if c.config.User != "" {
			words = []string{"AUTH", c.config.User, c.config.Token}
		}
		if _, err := cn.ask(ctx, deadline, words); err != nil {
			cn.Close()
			return nil, err
		}
	}
	return cn, nil
}
