// SPDX-License-Identifier: MIT

package libfirn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"firn.example/firn"
	"firn.example/firn/internal/heap"
)

var (
	_          firn.Generator[firn.ID] = (*Generator[firn.ID])(nil)
	_          firn.Segment            = (*Segment)(nil)
	background                         = context.Background()
)

func open[T firn.Type](t testing.TB, scheme, keys string) *Generator[T] {
	t.Helper()
	g, err := Open[T](scheme, Config{Store: "memory:", Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func code(t *testing.T, want firn.Code, err error) {
	t.Helper()
	var known *firn.Error
	if !errors.Is(err, want) || !errors.As(err, &known) || len(known.Text) < 10 {
		t.Errorf("%v, not an error of code %v", err, want)
	}
}

func TestCodesAreThoseOfTheLibrary(t *testing.T) {
	for c := firn.Code(-1); c >= firn.ErrFull; c-- {
		if name, text := codeOf(c); c.String() != name || c.Error() != "firn: "+text {
			t.Error(c, name, text)
		}
	}
	if name, _ := codeOf(firn.ErrFull - 1); name != "?" {
		t.Error("run go generate: the library has", name)
	}
}

// wide is a type of a program's own.
type wide [16]byte

func TestTypes(t *testing.T) {
	if n, err := open[int64](t, "snowflake", "").Next(background); err != nil || n <= 0 {
		t.Error(n, err)
	}
	if id, err := open[wide](t, "uuid7", "").Next(background); err != nil || id[6]>>4 != 7 {
		t.Error(id, err)
	}
	for scheme, length := range map[string]int{"ulid": 26, "ksuid": 27, "objectid": 24, "typeid": 26, "tsid": 13} {
		g := open[string](t, scheme, "")
		ids, err := g.Append(background, nil, 300)
		source, err2 := g.IDs(0)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		one, err := source.Next(background)
		if ids = append(ids, one); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if back, err := Parse[string](id, scheme); len(id) != length || err != nil || back != id {
				t.Error(scheme, id, back, err)
			}
		}
	}
	if id, err := open[string](t, "typeid", "prefix=user").Next(background); err != nil || !strings.HasPrefix(id, "user_") {
		t.Error(id, err)
	}
	for _, scheme := range []string{"uuid7", "ksuid", "objectid"} {
		_, err := Open[firn.ID](scheme, Config{})
		code(t, firn.ErrUsage, err)
	}
	_, err := Open[firn.UUID]("ksuid", Config{})
	code(t, firn.ErrUsage, err)
	g, err := Open[string]("uuid7", Config{Form: "base58"})
	if id, err2 := g.Next(background); err != nil || err2 != nil || len(id) != 22 {
		t.Error(id, err, err2)
	}
	_, err = Open[string]("snowflake", Config{Store: "memory:", Form: "uuid"})
	code(t, firn.ErrUsage, err)
}

func TestOrderAcrossCalls(t *testing.T) {
	g := open[firn.ID](t, "snowflake", "full=wait")
	source, err := g.IDs(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	one, err := g.Next(background)
	ids, err2 := g.Append(background, []firn.ID{one}, 1000)
	if err != nil || err2 != nil || len(ids) != 1001 || ids[0] != one {
		t.Fatal(err, err2, len(ids))
	}
	for i := 0; i < 5000; i++ {
		if one, err = source.Next(background); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, one)
	}
	for i := range ids[1:] {
		if ids[i+1] <= ids[i] {
			t.Fatal(i, ids[i], ids[i+1])
		}
	}
}

func TestOldBlocksAreDropped(t *testing.T) {
	g := open[firn.UUID](t, "uuid7", "")
	source, _ := g.IDs(50 * time.Millisecond)
	source.Next(background)
	time.Sleep(70 * time.Millisecond)
	start := time.Now().Truncate(time.Millisecond)
	id, err := source.Next(background)
	shown, err2 := Show(id, "uuid7")
	if err != nil || err2 != nil || shown.Time.Before(start) {
		t.Error(shown.Time, start, err, err2)
	}
}

func TestARenewedIdentity(t *testing.T) {
	g, drawn := open[firn.ID](t, "snowflake", ""), open[firn.UUID](t, "uuid1", "")
	ids, _ := g.IDs(time.Second)
	uuids, _ := drawn.IDs(time.Second)
	nodes := func() (firn.ID, string) {
		id, err := ids.Next(background)
		uuid, err2 := uuids.Next(background)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		return id >> 12 & 1023, uuid.String()[24:]
	}
	node, random := nodes()
	if again, same := nodes(); again != node || same != random {
		t.Error(node, again, random, same)
	}
	RenewIdentity()
	if other, another := nodes(); other == node || another == random {
		t.Error(node, random)
	}
}

func TestBackDated(t *testing.T) {
	g := open[firn.ID](t, "snowflake", "")
	at := time.Date(2020, 2, 29, 12, 0, 0, 1e6, time.UTC)
	ids, err := g.At(background, at, 3)
	if err != nil || len(ids) != 3 || ids[0] == ids[1] || ids[1] == ids[2] {
		t.Fatal(ids, err)
	}
	for _, id := range ids {
		if shown, err := Show(id, "snowflake"); err != nil || !shown.Time.Equal(at) {
			t.Error(shown, err)
		}
	}
	_, err = open[firn.UUID](t, "uuid7", "").At(background, time.Unix(-1, 5e8), 1)
	code(t, firn.ErrLayout, err)
}

// Many old records need no write each: the store is gone in the meantime.
func TestManyBackDated(t *testing.T) {
	file := t.TempDir() + "/ids.db"
	g, err := Open[firn.ID]("snowflake", Config{Store: "sqlite:" + file, Keys: "history=job", Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)
	ids := map[firn.ID]bool{}
	for i := 0; i <= 100000; i++ {
		if i == 1 && os.Rename(file, file+"-away") != nil {
			t.Fatal("the store stays")
		}
		id, err := g.At(background, start.Add(time.Duration(i)*1000003), 1)
		if err != nil {
			t.Fatal(i, err)
		}
		ids[id[0]] = true
	}
	if len(ids) != 100001 || os.Rename(file+"-away", file) != nil || g.Close() != nil {
		t.Error(len(ids))
	}
}

var jobStart = time.Date(2019, 5, 4, 12, 0, 0, 0, time.UTC)

// jobTime returns the time of record i: out of order, some equal.
func jobTime(i int) time.Time { return jobStart.Add(time.Duration(i*7919%1000) * time.Millisecond) }

func jobConfig(file string) JobConfig {
	return JobConfig{Config: Config{Store: "sqlite:" + file, Unsafe: true}, Name: "orders", Digest: 7}
}

func openJob[T firn.Type](t *testing.T, scheme string, config JobConfig) *Job[T] {
	t.Helper()
	j, err := OpenJob[T](scheme, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func jobIDs[T firn.Type](t *testing.T, j *Job[T], n int) []T {
	t.Helper()
	ids := make([]T, n)
	for i := range ids {
		var err error
		if ids[i], err = j.Next(jobTime(i)); err != nil {
			t.Fatal(i, err)
		}
	}
	return ids
}

// A process that is killed in the middle, and others that continue with the same IDs.
func TestJobContinues(t *testing.T) {
	if file := os.Getenv("FIRN_JOB_CHILD"); file != "" {
		for _, id := range jobIDs(t, openJob[firn.ID](t, "snowflake", jobConfig(file)), 1001) {
			fmt.Println("ID", id)
		}
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		select {}
	}
	file := t.TempDir() + "/ids.db"
	child := exec.Command(os.Args[0], "-test.run=^TestJobContinues$")
	child.Env = append(os.Environ(), "FIRN_JOB_CHILD="+file)
	out, err := child.Output()
	if err == nil || child.ProcessState.String() != "signal: killed" {
		t.Fatal(child.ProcessState, err)
	}
	again, beside := openJob[firn.ID](t, "snowflake", jobConfig(file)), openJob[firn.ID](t, "snowflake", jobConfig(file))
	other := jobConfig(file)
	other.Name = "others"
	others := openJob[firn.ID](t, "snowflake", other)
	if !again.Again() || !beside.Again() || others.Again() {
		t.Error(again.Again(), beside.Again(), others.Again())
	}
	ids := jobIDs(t, again, 3000)
	seen := map[firn.ID]bool{}
	for i, id := range jobIDs(t, beside, 3000) {
		if id != ids[i] {
			t.Fatal(i, id, ids[i])
		}
		seen[id] = true
	}
	var written strings.Builder
	for _, id := range ids[:1001] {
		fmt.Fprintln(&written, "ID", id)
	}
	if string(out) != written.String() {
		t.Error("the killed process wrote other IDs")
	}
	for _, id := range jobIDs(t, others, 3000) {
		seen[id] = true
	}
	if len(seen) != 6000 {
		t.Error(len(seen))
	}
	for _, change := range []func(c *JobConfig){func(c *JobConfig) { c.Digest = 8 }, func(c *JobConfig) { c.Seed = "other" },
		func(c *JobConfig) { c.Disorder = 1 }, func(c *JobConfig) { c.MaxShift = -1 }} {
		config := jobConfig(file)
		change(&config)
		_, err := OpenJob[firn.ID]("snowflake", config)
		code(t, firn.ErrTaken, err)
	}
}

func TestJobs(t *testing.T) {
	full := openJob[firn.ID](t, "snowflake", JobConfig{Config: Config{Keys: "node=3"}, MaxShift: -1})
	moves := openJob[firn.ID](t, "snowflake", JobConfig{Config: Config{Keys: "node=3"}})
	for i := 0; i < 4096; i++ {
		id, err := full.Next(jobStart)
		same, other := moves.Next(jobStart)
		if err != nil || other != nil || id != same {
			t.Fatal(i, err, other, id, same)
		}
	}
	_, err := full.Next(jobStart)
	code(t, firn.ErrFull, err)
	if _, err := moves.Next(jobStart); err != nil || moves.Shift() != time.Millisecond || full.Shift() != 0 || moves.Again() {
		t.Error(err, moves.Shift(), full.Shift())
	}
	seed := JobConfig{Seed: "a seed of sixteen"}
	texts, uuids := openJob[string](t, "uuid7", seed), openJob[firn.UUID](t, "uuid7", seed)
	for i := 0; i < 10; i++ {
		text, err := texts.Next(jobTime(i))
		if id, other := uuids.Next(jobTime(i)); err != nil || other != nil || text != id.String() {
			t.Error(text, id, err, other)
		}
	}
	for _, wrong := range []JobConfig{{Name: "orders"}, {Config: Config{Store: "memory:"}, Digest: 1}, {},
		{Config: Config{Keys: "node=3 window=3s"}}, {Config: Config{Keys: "node=3", Form: "uuid"}}, {Name: "a\x00b", Digest: 1}} {
		_, err := OpenJob[firn.ID]("snowflake", wrong)
		code(t, firn.ErrUsage, err)
	}
	_, err = OpenJob[firn.ID]("uuid7", seed)
	code(t, firn.ErrUsage, err)
	full.Close()
	full.Close()
	_, err = full.Next(jobStart)
	code(t, firn.ErrUsage, err)
}

func TestIntegers(t *testing.T) {
	config := Config{Store: "sqlite:" + t.TempDir() + "/ids.db", Keys: "kind=serial", Unsafe: true}
	s, err := OpenSegment("orders", config)
	if err != nil {
		t.Fatal(err)
	}
	next := func(want int64) {
		t.Helper()
		if n, err := s.Next(background); err != nil || n != want {
			t.Error(n, want, err)
		}
	}
	next(1)
	if first, increment, err := s.Block(background, 3); first != 2 || increment != 1 || err != nil {
		t.Error(first, increment, err)
	}
	next(5)
	if n, err := s.Advance(background, 100); n != 100 || err != nil {
		t.Error(n, err)
	}
	if n, err := s.Peek(background); n != 100 || err != nil {
		t.Error(n, err)
	}
	next(100)
	if err := s.Close(); err != nil || s.Close() != nil {
		t.Error(err)
	}
	_, err = s.Next(background)
	code(t, firn.ErrUsage, err)
	for _, key := range []string{"", strings.Repeat("x", 64), "a\x00b"} {
		if _, err = OpenSegment(key, config); err == nil {
			t.Errorf("a segment %.20q", key)
		}
	}
}

func TestErrorsNameTheCure(t *testing.T) {
	_, err := Open[firn.ID]("snowflak", Config{})
	var known *firn.Error
	if !errors.As(err, &known) || known.Code != firn.ErrUsage || !strings.Contains(known.Cure(), "did you mean") || known.CureName != "SPELLING" || known.Value != "snowflak" {
		t.Error(err)
	}
	g := open[firn.ID](t, "snowflake", "")
	for _, n := range []int{-1, firn.MaxCount + 1, 1 << 40} {
		_, err = g.Append(background, nil, n)
		code(t, firn.ErrRange, err)
		_, err = g.At(background, time.Unix(1577836800, 0), n)
		code(t, firn.ErrRange, err)
	}
	if ids, err := g.Append(background, []firn.ID{7}, 0); err != nil || len(ids) != 1 {
		t.Error(ids, err)
	}
	for _, age := range []time.Duration{-1, 1, time.Second + 1} {
		_, err = g.IDs(age)
		code(t, firn.ErrRange, err)
	}
	fields := func(sequence string) map[string]string {
		return map[string]string{"time": "2020-01-01", "datacenter": "1", "worker": "1", "sequence": sequence}
	}
	for _, text := range []string{"", "-1", "4096", "x", "1.5", "\x00", "1\x002", "\xff\xfe", "\xed\xa0\x80", " ", "NaN",
		"18446744073709551616", strings.Repeat("9", 100000), "é", "😀"} {
		if _, err := Pack[firn.ID]("snowflake", fields(text)); err == nil {
			t.Errorf("sequence %.20q", text)
		}
		if _, err := Open[firn.ID](text, Config{Store: "memory:"}); err == nil {
			t.Errorf("scheme %.20q", text)
		}
		if _, err := Parse[string](text, "uuid7"); err == nil {
			t.Errorf("ID %.20q", text)
		}
		if _, err := Open[firn.ID]("snowflake", Config{Store: "memory:", Keys: "node=" + text}); err == nil && text != "" {
			t.Errorf("node %.20q", text)
		}
		Guess(text)
		ParseTime(text)
	}
	_, err = Show(firn.ID(1<<63), "snowflake")
	code(t, firn.ErrMismatch, err)
	_, err = Show(firn.ID(1<<40), "time:20/s@@2020-01-01 node:10 sequence:10")
	code(t, firn.ErrRange, err)
	_, err = Show("nonsense", "")
	code(t, firn.ErrText, err)
	_, err = Format(firn.ID(1), "snowflake", "uuid")
	code(t, firn.ErrUsage, err)
	_, err = OpenOrder(make([]byte, 15), Config{})
	code(t, firn.ErrUsage, err)
}

func TestClosed(t *testing.T) {
	g := open[firn.ID](t, "snowflake", "")
	source, _ := g.IDs(0)
	source.Next(background)
	g.Close()
	_, err := g.Next(background)
	code(t, firn.ErrUsage, err)
	_, err = source.Next(background)
	code(t, firn.ErrUsage, err)
	_, err = g.Append(background, nil, 3)
	code(t, firn.ErrUsage, err)
	_, err = g.At(background, time.Now(), 1)
	code(t, firn.ErrUsage, err)
	_, err = g.IDs(0)
	code(t, firn.ErrUsage, err)
	_, err = g.Status()
	code(t, firn.ErrUsage, err)
	_, err = g.Layout()
	code(t, firn.ErrUsage, err)
}

// TestGoroutines issues with every call at once, and at the end closes the generator while calls run.
func TestGoroutines(t *testing.T) {
	const goroutines, each = 8, 1500
	url := "sqlite:" + t.TempDir() + "/ids.db"
	for _, scheme := range []string{"snowflake", "tsid"} {
		g, err := Open[firn.ID](scheme, Config{Store: url, Unsafe: true, Keys: "full=wait"})
		if err != nil {
			t.Fatal(err)
		}
		shared, _ := g.IDs(0)
		parts := make([][]firn.ID, goroutines)
		var all sync.WaitGroup
		for i := range parts {
			all.Add(1)
			go func(ids *[]firn.ID) {
				defer all.Done()
				own, _ := g.IDs(0)
				for k := 0; k < each; k++ {
					for _, from := range []firn.Source[firn.ID]{g, own, shared} {
						id, err := from.Next(background)
						if err != nil {
							t.Error(err)
							return
						}
						*ids = append(*ids, id)
					}
				}
				var err error
				if *ids, err = g.Append(background, *ids, each); err != nil {
					t.Error(err)
				}
			}(&parts[i])
		}
		all.Wait()
		seen := map[firn.ID]bool{}
		for _, part := range parts {
			for _, id := range part {
				if seen[id] {
					t.Fatal("duplicate", id)
				}
				seen[id] = true
			}
		}
		if len(seen) != goroutines*each*4 {
			t.Error(len(seen))
		}
		for i := 0; i < goroutines; i++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for {
					_, err := g.Next(background)
					_, err2 := shared.Next(background)
					if err != nil && err2 != nil {
						code(t, firn.ErrUsage, err)
						code(t, firn.ErrUsage, err2)
						return
					}
				}
			}()
		}
		time.Sleep(5 * time.Millisecond)
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	}
}

func TestTheWindowIsRenewed(t *testing.T) {
	g, err := Open[firn.ID]("snowflake", Config{Store: "sqlite:" + t.TempDir() + "/ids.db", Unsafe: true, Keys: "window=50ms"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	limit := time.Now().Add(time.Minute)
	for time.Now().Before(limit) {
		if _, err := g.Next(background); err != nil {
			t.Fatal(err)
		}
		if s, _ := g.Status(); s.Renewals >= 3 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("no renewal in a minute")
}

// TestAStoreThatHangs locks the database, so that the window cannot be renewed.
func TestAStoreThatHangs(t *testing.T) {
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("sqlite3 is not installed")
	}
	path := filepath.Join(t.TempDir(), "ids.db")
	g, err := Open[firn.ID]("snowflake", Config{Store: "sqlite:" + path, Unsafe: true, Keys: "window=50ms"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	lock := exec.Command(sqlite, path)
	in, _ := lock.StdinPipe()
	out, _ := lock.StdoutPipe()
	if err := lock.Start(); err != nil {
		t.Fatal(err)
	}
	defer lock.Wait()
	defer in.Close()
	io.WriteString(in, ".timeout 60000\nBEGIN IMMEDIATE;\nSELECT 'locked';\n")
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatal(line, err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		ctx, cancel := context.WithTimeout(background, 50*time.Millisecond)
		_, err := g.Next(ctx)
		cancel()
		if err != nil && errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the deadline of the context never ended a call:", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	// Many calls that wait need few threads.
	s, err := OpenSegment("x", Config{Store: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	online, err := Open[firn.ID]("snowflake", Config{Store: "sqlite:" + path, Unsafe: true, Keys: "mode=online max_wait=300ms"})
	if err != nil {
		t.Fatal(err)
	}
	defer online.Close()
	ctx, cancel := context.WithTimeout(background, 200*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	for i := 0; i < 3000; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			if _, err := online.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	if threads := pprof.Lookup("threadcreate").Count(); threads > 300 {
		t.Error(threads, "threads")
	}
	if n, err := s.Next(background); err != nil || n != 1 {
		t.Error(n, err)
	}
	in.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err = g.Next(background); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the generator does not recover:", err)
		}
	}
}

func TestCancelled(t *testing.T) {
	g := open[firn.ID](t, "snowflake", "mode=online")
	ctx, cancel := context.WithCancel(background)
	if _, err := g.Next(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := g.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestManyGeneratorsAreCollected(t *testing.T) {
	seen := map[firn.UUID]bool{}
	gens := make([]*Generator[firn.UUID], 10000)
	for i := range gens {
		var err error
		if gens[i], err = Open[firn.UUID]("uuid7", Config{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range gens {
		id, err := g.Next(background)
		if err != nil || seen[id] {
			t.Fatal(id, err)
		}
		seen[id] = true
	}
	core := gens[0].core
	gens = nil
	for limit := time.Now().Add(time.Minute); ; runtime.Gosched() {
		runtime.GC()
		core.users.RLock()
		freed := core.gen == nil
		core.users.RUnlock()
		if freed {
			return
		}
		if time.Now().After(limit) {
			t.Fatal("the finalizer has not closed it")
		}
	}
}

func TestNothingLeaks(t *testing.T) {
	if os.Getenv("FIRN_LEAKS") == "" {
		t.Skip("FIRN_LEAKS is not set")
	}
	// Memory in use, measured so that a heap that only grew does not count: allocated bytes of C, of Go, and pages that a fork
	// wipes.
	inUse := func() (c, golang, wiped int) {
		debug.FreeOSMemory() // collects
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		text, err := os.ReadFile("/proc/self/smaps")
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, line := range strings.Split(string(text), "\n") {
			if fields := strings.Fields(line); strings.HasPrefix(line, "Size:") {
				size, _ = strconv.Atoi(fields[1])
			} else if strings.HasPrefix(line, "VmFlags:") && strings.Contains(line, " wf") {
				wiped += size * 1024
			}
		}
		return heap.InUse(), int(stats.HeapAlloc), wiped
	}
	keyFile := zeroKey(t)
	work := func(n int) {
		for ; n > 0; n-- {
			g, _ := Open[string]("snowflake", Config{Store: "memory:"})
			source, _ := g.IDs(0)
			source.Next(background)
			g.Append(background, nil, 10)
			g.At(background, time.Unix(1577836800, 0), 2)
			Show("2124459457274892288", "")
			Parse[string]("x", "uuid7")
			Pack[string]("snowflake", map[string]string{"nonsense": "1"})
			Range[firn.ID]("snowflake", time.Unix(1577836800, 0), time.Unix(1577836801, 0))
			g.Close()
			if order, err := OpenOrder(make([]byte, 16), Config{}); err == nil {
				order.Write(5)
				order.Close()
			}
			if mask, err := OpenMask(keyFile, Config{Keys: "name=orders"}); err == nil {
				mask.Mask("5")
				mask.Close()
			}
			s, _ := OpenSegment("x", Config{Store: "memory:"})
			s.Next(background)
			s.Close()
		}
	}
	work(500)
	const rounds, least = 3000, 16 // a leak is larger in each round
	c, golang, wiped := inUse()
	goroutines := runtime.NumGoroutine()
	work(rounds)
	for limit := time.Now().Add(time.Minute); ; { // finalizers and threads may free late
		cNow, golangNow, wipedNow := inUse()
		if cNow-c <= rounds*least && golangNow-golang <= rounds*least && wipedNow-wiped <= rounds*least && runtime.NumGoroutine() <= goroutines {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("bytes per round: %d of C, %d of Go, %d of wiped pages; goroutines: %d, %d before",
				(cNow-c)/rounds, (golangNow-golang)/rounds, (wipedNow-wiped)/rounds, runtime.NumGoroutine(), goroutines)
		}
		time.Sleep(time.Millisecond)
	}
	g := open[firn.ID](t, "snowflake", "")
	source, _ := g.IDs(0)
	if n := testing.AllocsPerRun(1000, func() { g.Next(background); source.Next(background) }); n != 0 {
		t.Errorf("Next allocates %v times", n)
	}
}

// TestVersion runs with a library of another version loaded first, if FIRN_OTHER is its version.
func TestVersion(t *testing.T) {
	other := os.Getenv("FIRN_OTHER")
	if other == "" {
		t.Skip("FIRN_OTHER is not set")
	}
	_, err := Open[firn.UUID]("uuid7", Config{})
	code(t, firn.ErrSystem, err)
	_, err = Pack[firn.UUID]("uuid7", nil)
	code(t, firn.ErrSystem, err)
	if !strings.Contains(fmt.Sprint(err), "libfirn is version "+other) {
		t.Error(err)
	}
}

func BenchmarkIDs(b *testing.B) {
	g := open[firn.ID](b, "snowflake", "nodes=16 full=borrow")
	source, _ := g.IDs(0)
	for name, from := range map[string]firn.Source[firn.ID]{"next": g, "block": source} {
		b.Run(name, func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				from.Next(background)
			}
		})
	}
}

// zeroKey makes a key file of zeros.
func zeroKey(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mask.key")
	if err := os.WriteFile(file, []byte("1 "+strings.Repeat("0", 64)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSeries(t *testing.T) {
	store := "sqlite:" + filepath.Join(t.TempDir(), "ids.db")
	invoices, err := OpenSeries("invoices", Config{Keys: "template=INV{counter:4}", Store: store, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := invoices.Peek(background, time.Time{}); err != nil || text != "INV0001" {
		t.Errorf("%s: %v", text, err)
	}
	if text, err := invoices.Next(background); err != nil || text != "INV0001" {
		t.Errorf("%s: %v", text, err)
	}
	if all, err := invoices.Many(background, 2, time.Time{}); err != nil || strings.Join(all, " ") != "INV0002 INV0003" {
		t.Errorf("%v: %v", all, err)
	}
	if counter, err := invoices.Read("INV0003"); err != nil || counter != 3 {
		t.Errorf("%d: %v", counter, err)
	}
	if _, err := invoices.Many(background, 9999, time.Time{}); !errors.Is(err, firn.ErrEnd) {
		t.Errorf("too many: %v", err)
	}
	if _, err := invoices.Many(background, 0, time.Time{}); !errors.Is(err, firn.ErrRange) {
		t.Errorf("none: %v", err)
	}
	if _, err := invoices.Peek(background, time.Now().AddDate(9, 0, 0)); err != nil {
		t.Errorf("a series that never restarts has one period: %v", err)
	}
	if keys := invoices.Definition(); keys != "template=INV{counter:4} zone=UTC restart=never late=0 grow=0" {
		t.Errorf("definition %s", keys)
	}
	again, err := OpenSeries("invoices", Config{Store: store, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := again.Next(background); err != nil || text != "INV0004" {
		t.Errorf("%s: %v", text, err)
	}
	for _, series := range []*Series{again, invoices, invoices} {
		if err := series.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := invoices.Next(background); !errors.Is(err, firn.ErrUsage) {
		t.Errorf("closed: %v", err)
	}
	if _, err := OpenSeries("none", Config{Store: store, Unsafe: true}); !errors.Is(err, firn.ErrUsage) {
		t.Errorf("no definition: %v", err)
	}
}

func TestMasks(t *testing.T) {
	const id, masked = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "ee4010b4-ae5e-47e1-b9da-ad69663a79d9"
	file := zeroKey(t)
	orders, err := OpenMask(file, Config{Keys: "name=orders width=uuid"})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := orders.Mask(id); err != nil || text != masked {
		t.Errorf("%s: %v", text, err)
	}
	if text, err := orders.Unmask(masked); err != nil || text != id {
		t.Errorf("%s: %v", text, err)
	}
	if print := orders.Fingerprint(); print != "78555f0c" {
		t.Errorf("fingerprint %s", print)
	}
	if _, err := orders.Mask("x"); !errors.Is(err, firn.ErrText) {
		t.Errorf("no ID: %v", err)
	}
	orders.Close()
	orders.Close()
	if _, err := orders.Mask(id); !errors.Is(err, firn.ErrUsage) {
		t.Errorf("closed: %v", err)
	}
	if _, err := OpenMask(file, Config{Keys: "name=orders fingerprint=78555f0c"}); !errors.Is(err, firn.ErrUsage) {
		t.Errorf("another width: %v", err)
	}
	if _, err := OpenMask(file+".none", Config{Keys: "name=orders"}); !errors.Is(err, firn.ErrIO) {
		t.Errorf("no file: %v", err)
	}
}
