// SPDX-License-Identifier: MIT

package libfirn

// #include "shim.h"
import "C"

import (
	"sort"
	"strconv"
	"time"
	"unsafe"

	"firn.example/firn"
	"firn.example/firn/internal/kind"
)

// Option changes the scheme or the form of a pure function.
type Option func(*options)

type options struct {
	epoch, bits, digits, form string
	pinned                    map[string]string
}

// Epoch replaces the epoch of the scheme: RFC 3339, a date or @SECONDS.
func Epoch(text string) Option { return func(o *options) { o.epoch = text } }

// Bits replaces the widths of the fields: "41/11/11".
func Bits(widths string) Option { return func(o *options) { o.bits = widths } }

// Digits sets the random digits of time-random.
func Digits(n int) Option { return func(o *options) { o.digits = strconv.Itoa(n) } }

// Form is the form of IDs that are strings. Without it they are in the scheme's own form.
func Form(name string) Option { return func(o *options) { o.form = name } }

// Pinned gives Range the fields before the time.
func Pinned(fields map[string]string) Option { return func(o *options) { o.pinned = fields } }

// scheme is a scheme in C memory, with the form in which strings are read and written.
type scheme struct {
	arena
	c    *C.firn_scheme
	form C.int
	o    options
}

func makeScheme(name string, opts []Option) (*scheme, error) {
	s := &scheme{}
	for _, option := range opts {
		option(&s.o)
	}
	var e C.firn_error
	err := checkVersion()
	if err == nil {
		cName, epoch := s.text("the scheme", name), s.optional("the epoch", s.o.epoch)
		bits, digits := s.optional("bits", s.o.bits), s.optional("digits", s.o.digits)
		err = s.arena.err
		if err == nil {
			if s.c = C.firn_go_scheme(cName, epoch, bits, digits, &e); s.c == nil {
				err = errorOf(&e)
			}
		}
	}
	if err == nil {
		s.form = C.int(s.c.form)
		if s.o.form != "" {
			err = s.useForm(s.o.form)
		}
	}
	if err != nil {
		s.free()
		return nil, err
	}
	return s, nil
}

func (s *scheme) useForm(name string) error {
	c := s.text("the form", name)
	if s.err != nil {
		return s.err
	}
	s.form = C.firn_form_find(c)
	if s.form < 0 {
		return fail(firn.ErrUsage, "there is no form '%.40s': see Forms", name)
	}
	if C.firn_form_width(s.form, s.c.bits) == 0 {
		return fail(firn.ErrUsage, "an ID of %d bits has no form %s: use another form", s.c.bits, name)
	}
	return nil
}

func (s *scheme) free() {
	C.free(unsafe.Pointer(s.c))
	s.arena.free()
}

func (s *scheme) name() string { return C.GoString(&s.c.name[0]) }

func (s *scheme) fits(k kind.Kind) error { return k.Fits(s.name(), int(s.c.bits)) }

func (s *scheme) fields(in map[string]string) (C.firn_fields, error) {
	var out C.firn_fields
	var e C.firn_error
	names := make([]string, 0, len(in))
	for name := range in {
		names = append(names, name)
	}
	sort.Strings(names) // each call names the same mistake first
	for _, name := range names {
		cName, cValue := s.text("a field", name), s.text(name, in[name])
		if s.err != nil {
			return out, s.err
		}
		if C.firn_fields_set(&out, s.c, cName, cValue, &e) != 0 {
			return out, errorOf(&e)
		}
	}
	return out, nil
}

// idOf turns an ID of Go into one of C.
func idOf[T firn.Type](s *scheme, id T) (out C.firn_id, err error) {
	var e C.firn_error
	k := kind.Of[T]()
	if err := s.fits(k); err != nil {
		return out, err
	}
	switch k {
	case kind.Number:
		value := kind.Raw[uint64](id)
		if value>>(s.c.bits-1)>>1 != 0 {
			return out, fail(firn.ErrRange, "%d does not fit the %d bits of %s: name another scheme", value, s.c.bits, s.name())
		}
		return C.firn_id{low: C.uint64_t(value), bits: s.c.bits}, nil
	case kind.Bytes:
		bytes := kind.Raw[[16]byte](id)
		if C.firn_id_from_bytes(&out, (*C.uint8_t)(&bytes[0]), s.c.bits, &e) != 0 {
			return out, errorOf(&e)
		}
		return out, nil
	}
	text := kind.Raw[string](id)
	c := s.text("the ID", text)
	if s.err != nil {
		return out, s.err
	}
	if C.firn_parse(&out, s.form, s.c.bits, c, C.size_t(len(text)), &e) != 0 {
		return out, errorOf(&e)
	}
	return out, nil
}

func formatted(id *C.firn_id, form C.int) string {
	var text [C.FIRN_TEXT_SIZE]C.char
	return C.GoString(C.firn_format(&text[0], id, form))
}

// goID turns an ID of C into one of Go.
func goID[T firn.Type](s *scheme, id *C.firn_id) (T, error) {
	var none T
	k := kind.Of[T]()
	if err := s.fits(k); err != nil {
		return none, err
	}
	switch k {
	case kind.Number:
		return kind.Cast[T](uint64(id.low)), nil
	case kind.Bytes:
		var bytes [20]byte
		C.firn_id_bytes((*C.uint8_t)(&bytes[0]), id)
		return kind.Cast[T](*(*[16]byte)(bytes[:])), nil
	}
	return kind.Cast[T](formatted(id, s.form)), nil
}

// Pack returns the ID with these fields. "time" takes RFC 3339 or @SECONDS, "tick" a tick.
func Pack[T firn.Type](name string, fields map[string]string, opts ...Option) (T, error) {
	var none T
	var id C.firn_id
	var e C.firn_error
	s, err := makeScheme(name, opts)
	if err != nil {
		return none, err
	}
	defer s.free()
	values, err := s.fields(fields)
	if err != nil {
		return none, err
	}
	if C.firn_pack(&id, s.c, &values, &e) != 0 {
		return none, errorOf(&e)
	}
	return goID[T](s, &id)
}

// Show returns what an ID contains. If name is "", the ID must be a string, and its best reading is shown.
func Show[T firn.Type](id T, name string, opts ...Option) (firn.Shown, error) {
	if name == "" && kind.Of[T]() == kind.Text {
		readings, err := Guess(kind.Raw[string](id))
		if err != nil {
			return firn.Shown{}, err
		}
		if len(readings) == 0 {
			return firn.Shown{}, fail(firn.ErrText, "%.60q is not an ID of a known scheme: name its scheme", kind.Raw[string](id))
		}
		name, opts = readings[0].Scheme, []Option{Form(readings[0].Form)}
		if name == "time-random" && readings[0].Form == "dated" { // its text shows how many digits follow the time
			opts = append(opts, Digits(len(kind.Raw[string](id))-17))
		}
	}
	s, err := makeScheme(name, opts)
	if err != nil {
		return firn.Shown{}, err
	}
	defer s.free()
	read, err := idOf(s, id)
	if err != nil {
		return firn.Shown{}, err
	}
	return s.show(&read)
}

func (s *scheme) show(id *C.firn_id) (firn.Shown, error) {
	var values C.firn_fields
	seen := C.firn_scheme_seen(s.c, id)
	var e C.firn_error
	if C.firn_unpack(&values, seen, id, &e) != 0 {
		return firn.Shown{}, errorOf(&e)
	}
	out := firn.Shown{Scheme: s.name(), Text: formatted(id, C.int(s.c.form)), Fields: map[string]string{}}
	for i := C.uint32_t(0); i < seen.slice_count; i++ {
		name := &seen.slices[i].name[0]
		if *name != 0 && C.firn_scheme_first(seen, i) == i {
			var text [C.FIRN_VALUE_SIZE]C.char
			out.Fields[C.GoString(name)] = C.GoString(C.firn_fields_get(&text[0], &values, seen, i))
		}
	}
	time := s.text("a field", "time")
	if field := C.firn_scheme_field(seen, time); seen.tick_ns != 0 && field >= 0 {
		var at C.firn_time
		C.firn_scheme_time(seen, values.value[field].low, &at)
		out.Time = timeFrom(at)
	}
	return out, nil
}

func timeFrom(t C.firn_time) time.Time { return time.Unix(int64(t.sec), int64(t.ns)).UTC() }

// Parse reads a text that must be an ID of the scheme.
func Parse[T firn.Type](text, name string, opts ...Option) (T, error) {
	var none T
	s, err := makeScheme(name, opts)
	if err != nil {
		return none, err
	}
	defer s.free()
	id, err := idOf(s, text)
	if err != nil {
		return none, err
	}
	if _, err = s.show(&id); err != nil { // its constants
		return none, err
	}
	return goID[T](s, &id)
}

// Format writes an ID in a form; "" is the scheme's own.
func Format[T firn.Type](id T, name, form string, opts ...Option) (string, error) {
	s, err := makeScheme(name, opts)
	if err != nil {
		return "", err
	}
	defer s.free()
	read, err := idOf(s, id)
	if err != nil {
		return "", err
	}
	s.form = C.int(s.c.form)
	if form != "" {
		if err := s.useForm(form); err != nil {
			return "", err
		}
	}
	return formatted(&read, s.form), nil
}

// Range returns the least and the greatest ID of from <= time < to.
func Range[T firn.Type](name string, from, to time.Time, opts ...Option) (least, greatest T, err error) {
	var ids [2]C.firn_id
	var e C.firn_error
	s, err := makeScheme(name, opts)
	if err != nil {
		return least, greatest, err
	}
	defer s.free()
	pinned, err := s.fields(s.o.pinned)
	if err != nil {
		return least, greatest, err
	}
	if kind.Of[T]() == kind.Text && s.c.form == C.FIRN_FORM_DATED && s.c.node_rule == C.FIRN_NODE_REQUIRED && s.o.form == "" {
		return least, greatest, fail(firn.ErrUnsorted, "IDs of %s have texts of several lengths, so texts cannot bound a range: "+
			"compare their first 17 digits, or use the form hex", s.name())
	}
	first, end := timeOf(from), timeOf(to)
	if C.firn_range(&ids[0], &ids[1], s.c, &pinned, &first, &end, &e) != 0 {
		return least, greatest, errorOf(&e)
	}
	if least, err = goID[T](s, &ids[0]); err == nil {
		greatest, err = goID[T](s, &ids[1])
	}
	return least, greatest, err
}

// Convert returns the same fields in another scheme: uuid1, uuid6, uuid1-swapped.
func Convert[T firn.Type](id T, from, to string) (T, error) {
	var none T
	var made C.firn_id
	var e C.firn_error
	source, err := makeScheme(from, nil)
	if err != nil {
		return none, err
	}
	defer source.free()
	target, err := makeScheme(to, nil)
	if err != nil {
		return none, err
	}
	defer target.free()
	read, err := idOf(source, id)
	if err != nil {
		return none, err
	}
	if C.firn_convert(&made, target.c, &read, source.c, &e) != 0 {
		return none, errorOf(&e)
	}
	return goID[T](target, &made)
}

// Guess returns the schemes that a text is plausibly an ID of, best first. The schemes of a number are only possible, the most
// frequent owner first.
func Guess(text string) ([]firn.Reading, error) {
	if err := checkVersion(); err != nil {
		return nil, err
	}
	var a arena
	defer a.free()
	c := a.text("the ID", text)
	if a.err != nil {
		return nil, a.err
	}
	found := (*[C.FIRN_READINGS_MAX]C.firn_reading)(C.malloc(C.FIRN_READINGS_MAX * C.sizeof_firn_reading))
	defer C.free(unsafe.Pointer(found))
	n := int(C.firn_guess(&found[0], c, C.size_t(len(text)), -1))
	out := make([]firn.Reading, n)
	for i := range out {
		r := &found[i]
		out[i] = firn.Reading{Scheme: C.GoString(&r.scheme.name[0]), Form: C.GoString(C.firn_form_name(r.form)),
			Text: formatted(&r.id, C.int(r.scheme.form)), Sure: C.GoString(C.firn_sure_name(r.sure))}
	}
	return out, nil
}

// Digest returns a uuid3 or uuid5 of a namespace ("dns", "url", "oid", "x500" or a UUID) and a name.
func Digest[T firn.Type](name, namespace string, data []byte) (T, error) {
	var none T
	var id C.firn_id
	var e C.firn_error
	s, err := makeScheme(name, nil)
	if err != nil {
		return none, err
	}
	defer s.free()
	space := s.text("the namespace", namespace)
	if s.err != nil {
		return none, s.err
	}
	bytes := C.CBytes(data)
	defer C.free(bytes)
	if C.firn_digest(&id, s.c, space, bytes, C.size_t(len(data)), &e) != 0 {
		return none, errorOf(&e)
	}
	return goID[T](s, &id)
}

var sorts = [...]string{"no", "per node", "by tick", "yes"}

// Describe describes a scheme.
func Describe(name string, opts ...Option) (firn.Scheme, error) {
	s, err := makeScheme(name, opts)
	if err != nil {
		return firn.Scheme{}, err
	}
	defer s.free()
	var text [C.FIRN_LAYOUT_SIZE]C.char
	return firn.Scheme{Name: s.name(), Layout: C.GoString(C.firn_scheme_layout(&text[0], s.c)), Bits: int(s.c.bits),
		Form: C.GoString(C.firn_form_name(C.int(s.c.form))), Sorts: sorts[s.c.sorts]}, nil
}

// Schemes returns the names of all schemes.
func Schemes() []string {
	var out []string
	for i := C.size_t(0); ; i++ {
		s := C.firn_scheme_at(i)
		if s == nil {
			return out
		}
		out = append(out, C.GoString(&s.name[0]))
	}
}

// Forms returns the names of all text forms.
func Forms() []string {
	out := make([]string, C.FIRN_FORM_COUNT)
	for i := range out {
		out[i] = C.GoString(C.firn_form_name(C.int(i)))
	}
	return out
}
