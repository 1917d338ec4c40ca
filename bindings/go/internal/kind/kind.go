// SPDX-License-Identifier: MIT

// Package kind distinguishes the three kinds of ID types.
package kind

import (
	"reflect"
	"time"
	"unsafe"

	"firn.example/firn"
)

// Kind is how a type holds an ID.
type Kind uint8

// The kinds of firn.Type.
const (
	Number Kind = iota // 8 bytes, as an integer
	Bytes              // 16 bytes, most significant first
	Text
)

// Of returns the kind of T.
func Of[T firn.Type]() Kind {
	var zero T
	switch reflect.TypeOf(zero).Kind() {
	case reflect.Array:
		return Bytes
	case reflect.String:
		return Text
	}
	return Number
}

// Cast returns from as a T, which must have the same kind and, apart from the sign, the same underlying type.
func Cast[T firn.Type, F uint64 | [16]byte | string](from F) T { return *(*T)(unsafe.Pointer(&from)) }

// Raw is the reverse of Cast.
func Raw[F uint64 | [16]byte | string, T firn.Type](from T) F { return *(*F)(unsafe.Pointer(&from)) }

// Fits refuses IDs of a width that the kind cannot hold.
func (k Kind) Fits(name string, bits int) error {
	switch {
	case k == Number && bits > 64 && bits != 128:
		return fail(firn.ErrUsage, "IDs of %s have %d bits: use the type string", name, bits)
	case k == Number && bits > 64:
		return fail(firn.ErrUsage, "IDs of %s have %d bits: use the type firn.UUID or string", name, bits)
	case k == Bytes && bits != 128:
		return fail(firn.ErrUsage, "IDs of %s have %d bits, not 128: use the type firn.ID (up to 64 bits) or string",
			name, bits)
	}
	return nil
}

// Count checks how many IDs a call may ask for.
func Count(n int) error {
	if n < 0 || n > firn.MaxCount {
		return fail(firn.ErrRange, "n is %d: give 0 to %d", n, firn.MaxCount)
	}
	return nil
}

// Age checks the age of a block and replaces 0.
func Age(age time.Duration) (time.Duration, error) {
	if age == 0 {
		return time.Millisecond, nil
	}
	if age < time.Microsecond || age > firn.MaxAge {
		return 0, fail(firn.ErrRange, "maxAge is %v: give 1µs to %v, or 0 for 1ms", age, firn.MaxAge)
	}
	return age, nil
}

func fail(code firn.Code, format string, args ...any) error {
	return firn.NewError(code, format, args...)
}
