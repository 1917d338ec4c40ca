// SPDX-License-Identifier: MIT

package libfirn

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"firn.example/firn"
	"firn.example/firn/internal/spec"
)

// schemeOf returns the name and options of a case. time-random has no layout as text: its digits are searched.
func schemeOf(file spec.File, one spec.Case) (string, []Option) {
	form := one.Form
	if form == "" {
		form = file.Form
	}
	if one.Layout == "" {
		return file.Scheme, []Option{Form(form)}
	}
	for digits := 1; file.Scheme == "time-random" && digits <= 18; digits++ {
		if s, _ := Describe(file.Scheme, Digits(digits)); s.Layout == one.Layout {
			return file.Scheme, []Option{Form(form), Digits(digits)}
		}
	}
	return one.Layout, []Option{Form(form)}
}

func checkCase(file spec.File, one spec.Case) error {
	name, options := schemeOf(file, one)
	if one.Fields == nil {
		_, err := Parse[string](one.Text, name, options...)
		return err
	}
	text, err := Pack[string](name, one.Fields, options...)
	if err != nil {
		return err
	}
	want := one.Text[strings.LastIndexByte(one.Text, '_')+1:] // without the prefix of a typeid
	if file.Form != "typeid" {
		want = one.Text
	}
	if text != want {
		return fmt.Errorf("packed %s, not %s", text, want)
	}
	if read := one.Also; read != "" {
		text = read
	} else {
		text = one.Text
	}
	shown, err := Show(text, name, options...)
	if err != nil {
		return err
	}
	if one.Tick != "" && shown.Fields["time"] != one.Tick {
		return fmt.Errorf("tick %s, not %s", shown.Fields["time"], one.Tick)
	}
	return checkTypes(name, one, options)
}

// checkTypes packs the case as an integer or as bytes too.
func checkTypes(name string, one spec.Case, options []Option) error {
	raw, err := hex.DecodeString(one.Bytes)
	if err != nil || len(raw) == 0 {
		return err
	}
	var bytes [8]byte
	switch n := len(raw); {
	case n <= 8:
		copy(bytes[8-n:], raw)
		if id, err := Pack[firn.ID](name, one.Fields, options...); err != nil || uint64(id) != binary.BigEndian.Uint64(bytes[:]) {
			return fmt.Errorf("packed %v: %v", id, err)
		} else if shown, err := Show(id, name, options...); err != nil || one.Tick != "" && shown.Fields["time"] != one.Tick {
			return fmt.Errorf("shown %v: %v", shown, err)
		}
	case n == 16:
		if id, err := Pack[firn.UUID](name, one.Fields, options...); err != nil || hex.EncodeToString(id[:]) != one.Bytes {
			return fmt.Errorf("packed %v: %v", id, err)
		}
	default:
		if _, err := Pack[firn.UUID](name, one.Fields, options...); !errors.Is(err, firn.ErrUsage) {
			return fmt.Errorf("an array of 16 bytes for %d: %v", n, err)
		}
	}
	return nil
}

func TestEveryCaseOfSpec(t *testing.T) {
	count := 0
	for _, file := range spec.Files(t) {
		for _, one := range file.Valid {
			count++
			if err := checkCase(file, one); err != nil {
				t.Errorf("%s %v: %v", file.Scheme, one, err)
			}
		}
		for _, one := range file.Invalid {
			count++
			var known *firn.Error
			if err := checkCase(file, one); !errors.As(err, &known) {
				t.Errorf("%s %v is not refused: %v", file.Scheme, one, err)
			}
		}
		checkRanges(t, file)
		checkOthers(t, file)
	}
	if count < 2300 {
		t.Errorf("only %d cases", count)
	}
}

func checkRanges(t *testing.T, file spec.File) {
	for _, one := range file.Ranges {
		from, err := ParseTime(one.From)
		to, err2 := ParseTime(one.To)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		least, greatest, err := Range[string](file.Scheme, from, to)
		if file.Scheme == "time-member" { // its texts have several lengths, so they bound nothing
			if !errors.Is(err, firn.ErrUnsorted) {
				t.Errorf("%v is not refused: %s %s %v", one, least, greatest, err)
			}
			continue
		}
		if err != nil || least != one.Least || greatest != one.Greatest {
			t.Errorf("%s %v: %s %s %v", file.Scheme, one, least, greatest, err)
		}
	}
	for _, pair := range file.Pairs {
		first, err := Show(pair[0], file.Scheme)
		second, err2 := Show(pair[1], file.Scheme)
		if err != nil || err2 != nil || first.Time.After(second.Time) {
			t.Error(pair, err, err2)
		}
	}
}

func checkOthers(t *testing.T, file spec.File) {
	schemes := []string{"uuid1", "uuid6", "uuid1-swapped"}
	for _, one := range file.Convert {
		for _, from := range schemes {
			for _, to := range schemes {
				if one[from] == nil || one[to] == nil {
					continue
				}
				if made, err := Convert(one[from].(string), from, to); err != nil || made != one[to] {
					t.Error(one, from, to, made, err)
				}
			}
		}
	}
	for _, one := range file.Digest {
		name, _ := hex.DecodeString(fmt.Sprint(one["name_hex"]))
		for _, version := range []string{"uuid3", "uuid5"} {
			if one[version] == nil {
				continue
			}
			if made, err := Digest[firn.UUID](version, one["namespace"].(string), name); err != nil || made.String() != one[version] {
				t.Error(one, version, made, err)
			}
		}
	}
	for _, one := range file.Guess {
		readings, err := Guess(one.Text)
		if err != nil || len(readings) == 0 != (one.Scheme == "") || len(readings) > 0 && readings[0].Scheme != one.Scheme {
			t.Error(one, readings, err)
		}
	}
	for _, one := range file.Order {
		key, _ := hex.DecodeString(one.Key)
		keys := fmt.Sprintf("digits=%d check=%d", one.Digits, one.Check)
		if one.KeyID != nil {
			keys += fmt.Sprint(" key_id=", *one.KeyID)
		}
		if one.Tweak != "" {
			keys += " tweak=" + one.Tweak
		}
		order, err := OpenOrder(key, Config{Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		integer, _ := strconv.ParseUint(one.Integer, 10, 64)
		if text, err := order.Write(integer); err != nil || text != one.Text {
			t.Error(one, text, err)
		}
		if back, err := order.Read(one.Text); err != nil || back != integer {
			t.Error(one, back, err)
		}
		order.Close()
	}
}
