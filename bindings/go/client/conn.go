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

// refused: an error that the server replied.
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
	if err == nil && c.in.Buffered() > 0 { // the next command would get the rest
		err = c.malformed("more than one reply")
	}
	if err != nil {
		var known *firn.Error
		if errors.As(err, &known) {
			return nil, err
		}
		return nil, fail(firn.ErrUnavailable, err, "%s%v", c.address+" does not answer: ", err)
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
	case "TRYAGAIN", "OOM", "LOADING", "BUSY": // the last two: a Redis or a proxy in between
		return fail(firn.ErrOverload, nil, "%s%s", c.address+": ", rest)
	case "NOAUTH":
		c.broken = true // its token was removed: the next connection sends the token again
		return fail(firn.ErrDenied, nil, "%s the server needs a token: set Token", c.address+":")
	case "WRONGPASS", "NOPERM":
		return fail(firn.ErrDenied, nil, "%s%s", c.address+": ", rest)
	case "BACK":
		return fail(firn.ErrBack, nil, "%s", rest)
	case "END":
		return fail(firn.ErrEnd, nil, "%s", rest)
	case "FULL":
		return fail(firn.ErrFull, nil, "%s", rest)
	case "TAKEN":
		return fail(firn.ErrTaken, nil, "%s", rest)
	}
	if strings.HasPrefix(rest, "max number of clients") {
		c.broken = true
		return fail(firn.ErrOverload, nil, "%s%s", c.address+": ", rest)
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
	kind, text := line[0], line[1:len(line)-2]
	switch kind {
	case '+':
		return string(text), nil
	case '-':
		return refused(text), nil
	}
	n, ok := number(text)
	switch {
	case !ok:
		return nil, c.malformed("a malformed number")
	case kind == ':':
		return n, nil
	case (kind == '$' || kind == '*') && n == -1:
		return nil, nil
	case kind == '$' && n >= 0 && n <= maxBulk:
		return c.bulk(int(n))
	case kind == '*' && n >= 0 && n <= maxArray && depth < maxDepth:
		array := make([]any, 0, min(n, 256)) // it grows with the elements that arrive, not with the announced number
		for ; n > 0; n-- {
			one, err := c.read(depth + 1)
			if err != nil {
				return nil, err
			}
			array = append(array, one)
		}
		return array, nil
	}
	return nil, c.malformed("a malformed or oversized reply")
}

// bulk reads a string of n bytes and the end of its line.
func (c *conn) bulk(n int) (any, error) {
	var bytes []byte
	var err error
	if n+2 <= maxLine {
		bytes, err = c.in.Peek(n + 2)
		c.in.Discard(len(bytes))
	} else {
		bytes = make([]byte, n+2)
		_, err = io.ReadFull(c.in, bytes)
	}
	if err != nil {
		return nil, err
	}
	if bytes[n] != '\r' || bytes[n+1] != '\n' {
		return nil, c.malformed("a string of another length")
	}
	return string(bytes[:n]), nil
}

// number reads decimal digits. strconv would allocate for each length.
func number(text []byte) (int64, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	var n int64
	for _, digit := range text {
		if digit < '0' || digit > '9' || n > (1<<63-1-9)/10 {
			return 0, false
		}
		n = 10*n + int64(digit-'0')
	}
	if negative {
		n = -n
	}
	return n, len(text) > 0
}

func min(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}
