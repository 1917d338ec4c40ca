// SPDX-License-Identifier: MIT

package firn

import (
	"database/sql/driver"
	"encoding/hex"
	"math"
	"strconv"
)

// ID is an ID of up to 64 bits. It is a string in JSON, because JavaScript and other readers round integers above 2^53,
// and a bigint in databases.
type ID uint64

// String returns the ID in decimal.
func (id ID) String() string { return strconv.FormatUint(uint64(id), 10) }

// MarshalText writes the ID in decimal. JSON uses it.
func (id ID) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(id), 10), nil }

// UnmarshalText reads decimal digits.
func (id *ID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil || text[0] == '+' || len(text) > 1 && text[0] == '0' {
		return fail(ErrText, "%.40q is not an ID: give a decimal number below 2^64", text)
	}
	*id = ID(n)
	return nil
}

// UnmarshalJSON reads a string, or a number up to 2^53: a greater number may have been rounded.
func (id *ID) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		return id.UnmarshalText(text[1 : n-1])
	}
	var read ID
	if err := read.UnmarshalText(text); err != nil {
		return err
	}
	if read > 1<<53 {
		return fail(ErrRange, "the number %s may have been rounded: send IDs as strings", text)
	}
	*id = read
	return nil
}

// Scan reads a column: an integer or its text.
func (id *ID) Scan(value any) error {
	switch v := value.(type) {
	case int64:
		if v < 0 {
			return fail(ErrRange, "%d is not an ID: IDs are not negative", v)
		}
		*id = ID(v)
		return nil
	case uint64:
		*id = ID(v)
		return nil
	case []byte:
		return id.UnmarshalText(v)
	case string:
		return id.UnmarshalText([]byte(v))
	case nil:
		return fail(ErrUsage, "NULL is not an ID: scan into a **firn.ID")
	}
	return fail(ErrUsage, "%T is not an ID: select an integer or a text", value)
}

// Value is the ID as a bigint.
func (id ID) Value() (driver.Value, error) {
	if id > math.MaxInt64 {
		return nil, fail(ErrRange, "%d is above the greatest bigint, 2^63 - 1: store the text", uint64(id))
	}
	return int64(id), nil
}

// UUID is an ID of 128 bits, most significant byte first.
type UUID [16]byte

const uuidSize = 36

func (id UUID) text() (out [uuidSize]byte) {
	hex.Encode(out[:], id[:4])
	at := 8
	for i := 4; i < 16; i++ {
		if i < 11 && i%2 == 0 {
			out[at] = '-'
			at++
		}
		hex.Encode(out[at:], id[i:i+1])
		at += 2
	}
	return out
}

// String returns the form 01933d3e-7c00-7abc-8def-0123456789ab.
func (id UUID) String() string {
	text := id.text()
	return string(text[:])
}

// MarshalText writes the form of String. JSON uses it.
func (id UUID) MarshalText() ([]byte, error) {
	text := id.text()
	return text[:], nil
}

// UnmarshalText reads the form of String, in any letter case.
func (id *UUID) UnmarshalText(text []byte) error {
	var digits [32]byte
	var read UUID
	ok := len(text) == uuidSize
	for from, to := 0, 0; ok && from < uuidSize; from++ {
		if from == 8 || from == 13 || from == 18 || from == 23 {
			ok = text[from] == '-'
		} else {
			digits[to] = text[from]
			to++
		}
	}
	if ok {
		_, err := hex.Decode(read[:], digits[:])
		ok = err == nil
	}
	if !ok {
		return fail(ErrText, "%.40q is not a UUID: give 32 hex digits in groups of 8-4-4-4-12", text)
	}
	*id = read
	return nil
}

// Scan reads a column: a uuid, its text, or 16 bytes.
func (id *UUID) Scan(value any) error {
	switch v := value.(type) {
	case []byte:
		if len(v) == len(id) {
			copy(id[:], v)
			return nil
		}
		return id.UnmarshalText(v)
	case string:
		return id.UnmarshalText([]byte(v))
	case [16]byte:
		*id = v
		return nil
	case nil:
		return fail(ErrUsage, "NULL is not a UUID: scan into a **firn.UUID")
	}
	return fail(ErrUsage, "%T is not a UUID: select a uuid, a text or 16 bytes", value)
}

// Value is the UUID as text.
func (id UUID) Value() (driver.Value, error) { return id.String(), nil }
