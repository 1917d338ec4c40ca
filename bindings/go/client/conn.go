// SPDX-License-Identifier: MIT

package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"firn.example/firn"
)

// Limits of a reply. No server sends more; what claims more is not read.
const (
	maxLine  = 4096
	maxBulk  = 1 << 20
	maxArray = 1 << 17
	maxDepth = 8
)

// conn is a connection that speaks RESP2. One goroutine at a time.
type conn struct {
	net.Conn
	address string
	in      *bufio.Reader
	out     []byte
	broken  bool // it cannot be used again
}

func newConn(raw net.Conn, address string) *conn {
	return &conn{Conn: raw, address: address, in: bufio.NewReaderSize(raw, maxLine)}
}

// refused is an error that the server replied.
type refused string

// ask sends a command and reads its reply: nil, string, int64 or []any.
func (c *conn) ask(ctx context.Context, deadline time.Time, args []string) (any, error) {
	c.SetDeadline(deadline)
	if ctx.Done() != nil {
		answered, watched := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(watched)
			select {
			case <-ctx.Done():
				c.SetDeadline(time.Unix(1, 0))
			case <-answered:
			}
		}()
		defer func() {
			close(answered)
			<-watched
		}()
	}
	c.out = append(c.out[:0], '*')
	c.out = append(strconv.AppendInt(c.out, int64(len(args)), 10), '\r', '\n')
	for _, word := range args {
		c.out = append(strconv.AppendInt(append(c.out, '$'), int64(len(word)), 10), '\r', '\n')
		c.out = append(append(c.out, word...), '\r', '\n')
	}
	c.broken = true
	_, err := c.Write(c.out)
	var reply any
	if err == nil {
		reply, err = c.read(0)
	}
	if err != nil {
		var known *firn.Error
		if errors.As(err, &known) {
			return nil, err
		}
		return nil, fail(firn.ErrUnavailable, err, "%s does not answer: %v", c.address, err)
	}
	c.broken = false
	if text, ok := reply.(refused); ok {
		return nil, c.refusal(string(text))
	}
	return reply, nil
}

// refusal turns an error of the server into one of Go.
func (c *conn) refusal(text string) error {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "TRYAGAIN":
		return fail(firn.ErrOverload, nil, "%s: %s", c.address, rest)
	case "NOAUTH":
		c.broken = true // its token was removed: the next connection sends the token again
		return fail(firn.ErrDenied, nil, "%s: the server needs a token: set Token", c.address)
	case "WRONGPASS", "NOPERM":
		return fail(firn.ErrDenied, nil, "%s: %s", c.address, rest)
	case "BACK":
		return fail(firn.ErrBack, nil, "%s", rest)
	case "EXHAUSTED":
		return fail(firn.ErrExhausted, nil, "%s", rest)
	case "OOM":
		return fail(firn.ErrMemory, nil, "%s", rest)
	}
	if strings.HasPrefix(rest, "max number of clients") {
		c.broken = true
		return fail(firn.ErrOverload, nil, "%s: %s", c.address, rest)
	}
	return fail(firn.ErrUsage, nil, "%s", rest)
}

func (c *conn) malformed(what string) error {
	return fail(firn.ErrProtocol, nil, "%s sent %s: is it the RESP address of firn serve?", c.address, what)
}

func (c *conn) read(depth int) (any, error) {
	line, err := c.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || err == nil && (len(line) < 3 || line[len(line)-2] != '\r') {
		return nil, c.malformed("a line that is not one of RESP")
	}
	if err != nil {
		return nil, err
	}
	text := string(line[1 : len(line)-2])
	switch line[0] {
	case '+':
		return text, nil
	case '-':
		return refused(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, c.malformed("a number that is none")
	}
	switch {
	case line[0] == ':':
		return n, nil
	case (line[0] == '$' || line[0] == '*') && n == -1:
		return nil, nil
	case line[0] == '$' && n >= 0 && n <= maxBulk:
		bulk := make([]byte, n+2)
		if _, err := io.ReadFull(c.in, bulk); err != nil {
			return nil, err
		}
		if bulk[n] != '\r' || bulk[n+1] != '\n' {
			return nil, c.malformed("a string of another length")
		}
		return string(bulk[:n]), nil
	case line[0] == '*' && n >= 0 && n <= maxArray && depth < maxDepth:
		array := []any{} // grows with what arrives, not with what is announced
		for ; n > 0; n-- {
			one, err := c.read(depth + 1)
			if err != nil {
				return nil, err
			}
			array = append(array, one)
		}
		return array, nil
	}
	return nil, c.malformed("a reply that is none, or too long")
}
