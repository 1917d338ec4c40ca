// SPDX-License-Identifier: MIT

package firn

import (
	"fmt"
	"strings"
)

//go:generate sh -c "./codes.sh >codes.go"

// Code is the kind of an error. errors.Is(err, firn.ErrBusy) compares codes.
type Code int

// The codes of package client, which a server or the way to it causes. In package libfirn, ErrUnavailable is the end of a
// context.
const (
	// ErrOverload: a server answered that it has no IDs or no connection left for the moment. Try again later.
	ErrOverload Code = iota + 1
	// ErrUnavailable: no server answered within the time limit.
	ErrUnavailable
	// ErrDenied: the server needs a token, or another one.
	ErrDenied
	// ErrProtocol: the reply is not one of firn serve.
	ErrProtocol
)

func init() {
	codes[ErrOverload] = struct{ name, text string }{"OVERLOAD", "the server is overloaded"}
	codes[ErrUnavailable] = struct{ name, text string }{"UNAVAILABLE", "no server answered"}
	codes[ErrDenied] = struct{ name, text string }{"DENIED", "the server refused the token"}
	codes[ErrProtocol] = struct{ name, text string }{"PROTOCOL", "the reply is not one of firn serve"}
}

// String returns the name of the code: "BUSY".
func (c Code) String() string {
	if known, ok := codes[c]; ok {
		return known.name
	}
	return fmt.Sprintf("Code(%d)", int(c))
}

// Error returns a short sentence.
func (c Code) Error() string {
	if known, ok := codes[c]; ok {
		return "firn: " + known.text
	}
	return "firn: " + c.String()
}

// Error is every error of these packages.
type Error struct {
	Code Code
	Text string // one line: what is wrong, with value and limit: what to do
	Err  error  // the cause, such as context.DeadlineExceeded; may be nil

	CureAt       int    // where in Text the cure begins, 0 if it has none
	CureName     string // the name of the cure in firn.h: "RAISE_SHIFT"; "" if unknown
	Value, Limit string // the wrong value and its limit; "" if the error has none
}

// NewError makes an error. The last ": " of format begins the cure.
func NewError(code Code, format string, args ...any) *Error {
	e := &Error{Code: code, Text: fmt.Sprintf(format, args...)}
	if i := strings.LastIndex(format, ": "); i >= 0 {
		before := strings.Count(strings.ReplaceAll(format[:i], "%%", ""), "%")
		e.CureAt, e.CureName = len(fmt.Sprintf(format[:i], args[:before]...))+2, "OTHER"
	}
	return e
}

// Error returns the text.
func (e *Error) Error() string { return "firn: " + e.Text }

// Is reports whether target is the code of this error.
func (e *Error) Is(target error) bool { return target == error(e.Code) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Cure returns the part of the text that says what to do, or "".
func (e *Error) Cure() string {
	if e.CureAt <= 0 || e.CureAt > len(e.Text) {
		return ""
	}
	return e.Text[e.CureAt:]
}

func fail(code Code, format string, args ...any) error {
	return NewError(code, format, args...)
}
