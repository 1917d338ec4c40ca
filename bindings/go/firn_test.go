// SPDX-License-Identifier: MIT

package firn

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

var (
	_ sql.Scanner   = (*ID)(nil)
	_ sql.Scanner   = (*UUID)(nil)
	_ driver.Valuer = ID(0)
	_ driver.Valuer = UUID{}
)

const big = ID(2124459457274892288)

func TestIDsAreStringsInJSON(t *testing.T) {
	type order struct {
		ID   ID
		UUID UUID
		By   map[ID]int
		None *ID
	}
	uuid := UUID{0x01, 0x93, 0x3d, 0x3e, 0x7c, 0, 0x7a, 0xbc, 0x8d, 0xef, 1, 0x23, 0x45, 0x67, 0x89, 0xab}
	text, err := json.Marshal(order{big, uuid, map[ID]int{7: 1}, nil})
	want := `{"ID":"2124459457274892288","UUID":"01933d3e-7c00-7abc-8def-0123456789ab","By":{"7":1},"None":null}`
	if err != nil || string(text) != want {
		t.Fatal(string(text), err)
	}
	var back order
	if err := json.Unmarshal(text, &back); err != nil || back.ID != big || back.UUID != uuid || back.By[7] != 1 || back.None != nil {
		t.Fatal(back, err)
	}
	var id ID
	for _, good := range []string{`1`, `0`, `9007199254740992`, `"18446744073709551615"`, `null`} {
		if err := json.Unmarshal([]byte(good), &id); err != nil {
			t.Error(good, err)
		}
	}
	for _, bad := range []string{`9007199254740994`, `2124459457274892288`, `-1`, `1.5`, `1e3`, `""`, `"x"`, `"-1"`, `"+1"`, `"01"`,
		`"18446744073709551616"`, `true`, `{}`, `[]`, `"1 "`, `"1\u0000"`} {
		id = 5
		if err := json.Unmarshal([]byte(bad), &id); err == nil || id != 5 {
			t.Error(bad, id, err)
		}
	}
	for _, bad := range []string{`""`, `"01933d3e7c007abc8def0123456789ab"`, `"01933d3e-7c00-7abc-8def-0123456789ag"`,
		`"01933d3e-7c00-7abc-8def_0123456789ab"`, `1`, `"{01933d3e-7c00-7abc-8def-0123456789ab}"`} {
		if json.Unmarshal([]byte(bad), &uuid) == nil {
			t.Error(bad)
		}
	}
	if err := uuid.UnmarshalText([]byte(strings.ToUpper(uuid.String()))); err != nil {
		t.Error(err)
	}
}

func TestColumns(t *testing.T) {
	var id ID
	for _, from := range []any{int64(big), uint64(big), big.String(), []byte(big.String())} {
		id = 0
		if err := id.Scan(from); err != nil || id != big {
			t.Error(from, id, err)
		}
	}
	for _, from := range []any{int64(-1), nil, 1.5, true, "x", []byte("-1")} {
		if err := id.Scan(from); err == nil {
			t.Error(from)
		}
	}
	if v, err := big.Value(); err != nil || v != int64(big) {
		t.Error(v, err)
	}
	if _, err := ID(math.MaxInt64 + 1).Value(); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
	uuid := UUID{15: 7}
	for _, from := range []any{uuid.String(), []byte(uuid.String()), uuid[:], [16]byte(uuid)} {
		var read UUID
		if err := read.Scan(from); err != nil || read != uuid {
			t.Error(from, read, err)
		}
	}
	for _, from := range []any{nil, 1, "", make([]byte, 15), int64(3)} {
		if uuid.Scan(from) == nil {
			t.Error(from)
		}
	}
	if v, err := uuid.Value(); err != nil || v != uuid.String() {
		t.Error(v, err)
	}
}

func busy(until string, cause error) error {
	e := NewError(ErrBusy, "node %d%% is in use %swait: or use another node", 3, until)
	e.Err = cause
	return e
}

func TestErrors(t *testing.T) {
	cause := errors.New("cause")
	var err error = fmt.Errorf("saving: %w", busy("until 12:00: ", cause))
	if !errors.Is(err, ErrBusy) || errors.Is(err, ErrRange) || !errors.Is(err, cause) {
		t.Error(err)
	}
	var e *Error
	if !errors.As(err, &e) || e.Code.String() != "BUSY" || e.Cure() != "or use another node" {
		t.Error(e)
	}
	if err.Error() != "saving: firn: node 3% is in use until 12:00: wait: or use another node" {
		t.Error(err)
	}
	if ErrBusy.Error() != "firn: the node is in use" || Code(99).String() != "Code(99)" || ErrOverload.String() != "OVERLOAD" {
		t.Error(ErrBusy.Error(), Code(99), ErrOverload)
	}
}
