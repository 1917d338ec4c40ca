// SPDX-License-Identifier: MIT

package client

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"firn.example/firn"
	"firn.example/firn/internal/kind"
)

// The functions below ask the server, because this package has no implementation of the schemes. Parameters are pairs
// of names and values, such as "EPOCH", "2024-01-01". IDs are given as text: of a firn.ID or firn.UUID, String.

// Pack returns the ID with these fields. "time" takes RFC 3339 or @SECONDS, "tick" a tick.
func Pack[T firn.Type](ctx context.Context, c *Client, scheme string, fields map[string]string, parameters ...string) (T, error) {
	var none T
	k := kind.Of[T]()
	words := []string{"FIRN.PACK", scheme}
	for name, value := range fields {
		words = append(words, name, value)
	}
	reply, err := c.do(ctx, as(k, append(words, parameters...))...)
	if err != nil {
		return none, err
	}
	return read[T](k, scheme, reply)
}

// Range returns the least and the greatest ID of from <= time < to.
func Range[T firn.Type](ctx context.Context, c *Client, scheme string, from, to time.Time, parameters ...string) (least, greatest T, err error) {
	k := kind.Of[T]()
	words := append([]string{"FIRN.RANGE", scheme, timeText(from), timeText(to)}, parameters...)
	reply, err := c.do(ctx, as(k, words)...)
	if err != nil {
		return least, greatest, err
	}
	object := objectOf(reply)
	if least, err = read[T](k, scheme, object["least"]); err == nil {
		greatest, err = read[T](k, scheme, object["greatest"])
	}
	return least, greatest, err
}

// Convert returns an ID in another form or scheme.
func (c *Client) Convert(ctx context.Context, id, to string, parameters ...string) (string, error) {
	reply, err := c.do(ctx, append([]string{"FIRN.CONVERT", id, to}, parameters...)...)
	if err != nil {
		return "", err
	}
	return read[string](kind.Text, to, reply)
}

// Show returns what an ID contains; Fields has no constants and no tick. If scheme is "", its best reading is shown.
func (c *Client) Show(ctx context.Context, id, scheme string, parameters ...string) (firn.Shown, error) {
	words := []string{"FIRN.SHOW", id}
	if scheme != "" {
		words = append(words, "SCHEME", scheme)
	}
	reply, err := c.do(ctx, append(words, parameters...)...)
	if err != nil {
		return firn.Shown{}, err
	}
	object := objectOf(reply)
	out := firn.Shown{Scheme: textOf(object["scheme"]), Text: textOf(object["id"]), Fields: map[string]string{}}
	for name, value := range objectOf(object["fields"]) {
		out.Fields[name] = textOf(value)
	}
	if ns, ok := new(big.Int).SetString(textOf(object["unix_ns"]), 10); ok {
		sec, rest := new(big.Int).DivMod(ns, big.NewInt(1e9), new(big.Int))
		out.Time = time.Unix(sec.Int64(), rest.Int64()).UTC()
	}
	if out.Scheme == "" {
		return firn.Shown{}, fail(firn.ErrProtocol, nil, "the server did not reply with the fields of an ID: is it firn serve?")
	}
	return out, nil
}

// Describe describes a scheme.
func (c *Client) Describe(ctx context.Context, scheme string) (firn.Scheme, error) {
	reply, err := c.do(ctx, "FIRN.SCHEMES", scheme)
	if err != nil {
		return firn.Scheme{}, err
	}
	object := objectOf(reply)
	bits, ok := object["bits"].(int64)
	if !ok {
		return firn.Scheme{}, fail(firn.ErrProtocol, nil, "the server did not reply with a scheme: is it firn serve?")
	}
	return firn.Scheme{Name: textOf(object["name"]), Layout: textOf(object["layout"]), Form: textOf(object["form"]),
		Sorts: textOf(object["sorts"]), Bits: int(bits)}, nil
}

// objectOf reads a reply of names and values in turn.
func objectOf(reply any) map[string]any {
	out := map[string]any{}
	pairs, _ := reply.([]any)
	for i := 0; i+1 < len(pairs); i += 2 {
		out[textOf(pairs[i])] = pairs[i+1]
	}
	return out
}

func textOf(reply any) string {
	if reply == nil {
		return ""
	}
	return fmt.Sprint(reply)
}
