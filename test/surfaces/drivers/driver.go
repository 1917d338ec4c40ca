// SPDX-License-Identifier: MIT

// Answers the requests of test/surfaces/compare.py with the module for Go: see class Program in surfaces.py.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"firn.example/firn"
	"firn.example/firn/libfirn"
)

func options(settings map[string]string) ([]libfirn.Option, error) {
	var out []libfirn.Option
	if epoch, given := settings["epoch"]; given {
		out = append(out, libfirn.Epoch(epoch))
	}
	if bits, given := settings["bits"]; given {
		out = append(out, libfirn.Bits(bits))
	}
	if digits, given := settings["digits"]; given {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return nil, err
		}
		out = append(out, libfirn.Digits(n))
	}
	return out, nil
}

func form(name string, opts []libfirn.Option) []libfirn.Option {
	return append(append([]libfirn.Option{}, opts...), libfirn.Form(name))
}

func span(name string, settings, fields map[string]string, opts []libfirn.Option) ([]string, error) {
	from, err := libfirn.ParseTime(settings["from"])
	if err != nil {
		return nil, err
	}
	to, err := libfirn.ParseTime(settings["to"])
	if err != nil {
		return nil, err
	}
	opts = append(form(settings["as"], opts), libfirn.Pinned(fields))
	least, greatest, err := libfirn.Range[string](name, from, to, opts...)
	return []string{least, greatest}, err
}

func isForm(name string) bool {
	for _, one := range libfirn.Forms() {
		if one == name {
			return true
		}
	}
	return false
}

func convert(name string, settings map[string]string) (string, error) {
	scheme, to, from := settings["scheme"], settings["to"], libfirn.Form(settings["from"])
	if !isForm(to) {
		return libfirn.Convert(name, scheme, to)
	}
	id, err := libfirn.Parse[string](name, scheme, from)
	if err != nil {
		return "", err
	}
	return libfirn.Format(id, scheme, to, from)
}

func issue(name string) (string, error) {
	gen, err := libfirn.Open[string](name, libfirn.Config{})
	if err != nil {
		return "", err
	}
	defer gen.Close()
	return gen.Next(context.Background())
}

func answer(verb, name string, settings, fields map[string]string) ([]string, error) {
	opts, err := options(settings)
	if err != nil {
		return nil, err
	}
	var one string
	switch verb {
	case "pack":
		one, err = libfirn.Pack[string](name, fields, form(settings["as"], opts)...)
	case "span":
		return span(name, settings, fields, opts)
	case "show":
		shown, err := libfirn.Show(name, settings["scheme"], form(settings["from"], opts)...)
		if shown.Time.IsZero() {
			return []string{shown.Scheme, shown.Text}, err
		}
		return []string{shown.Scheme, shown.Text, shown.Time.Format(time.RFC3339Nano)}, err
	case "convert":
		one, err = convert(name, settings)
	case "schemes":
		s, err := libfirn.Describe(name, opts...)
		return []string{s.Layout, strconv.Itoa(s.Bits), s.Form}, err
	case "digest":
		one, err = libfirn.Digest[string](name, settings["namespace"], []byte(settings["name"]))
	default:
		one, err = issue(name)
	}
	return []string{one}, err
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Split(lines.Text(), "\t")
		settings, fields := map[string]string{}, map[string]string{}
		kept := settings
		for _, word := range words[2:] {
			if word == "" {
				kept = fields
			} else {
				key, value, _ := strings.Cut(word, "=")
				kept[key] = value
			}
		}
		found, err := answer(words[0], words[1], settings, fields)
		var known *firn.Error
		if errors.As(err, &known) {
			fmt.Printf("bad\t%s\t%s\n", known.Code.String(), known.Text)
		} else if err != nil {
			panic(err)
		} else {
			fmt.Println(strings.Join(append([]string{"good"}, found...), "\t"))
		}
	}
}
