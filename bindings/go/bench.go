// SPDX-License-Identifier: MIT

//go:build ignore

// ns per ID, call and loop included, the minimum of many short rounds. Needs google/uuid, oklog/ulid and rs/xid:
//
//	mkdir -p gopath/src/firn.example && ln -s "$PWD/build/bindings/go" gopath/src/firn.example/firn
//	GO111MODULE=off GOPATH=$PWD/gopath:/usr/share/gocode go run bindings/go/bench.go [ADDRESS of firn serve]
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"firn.example/firn"
	"firn.example/firn/client"
	"firn.example/firn/libfirn"
	"github.com/google/uuid"
	"github.com/oklog/ulid"
	"github.com/rs/xid"
)

var ctx = context.Background()

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// fastest measures call, which issues n IDs.
func fastest(name string, n int, call func()) {
	best := 1e9
	for round := 0; round < 600; round++ {
		start := time.Now()
		for i := 0; i < 1000; i++ {
			call()
		}
		if took := float64(time.Since(start).Nanoseconds()) / float64(1000*n); took < best {
			best = took
		}
		if round%10 == 9 {
			time.Sleep(2 * time.Millisecond) // the layout has 4096 IDs per ms and node
		}
	}
	fmt.Printf("%-40s %8.1f\n", name, best)
}

// together is the time of one ID of n goroutines at once.
func together(name string, make func() firn.Source[firn.ID]) {
	n, best := runtime.GOMAXPROCS(0), 1e9
	for round := 0; round < 200; round++ {
		var all sync.WaitGroup
		start := time.Now()
		for i := 0; i < n; i++ {
			all.Add(1)
			go func(from firn.Source[firn.ID]) {
				defer all.Done()
				for k := 0; k < 2000; k++ {
					must(from.Next(ctx))
				}
			}(make())
		}
		all.Wait()
		if took := float64(time.Since(start).Nanoseconds()) / float64(2000*n); took < best {
			best = took
		}
		time.Sleep(2 * time.Millisecond)
	}
	fmt.Printf("%-40s %8.1f\n", fmt.Sprintf("%s, %d goroutines", name, n), best)
}

func main() {
	began := time.Now()
	fastest("time.Since", 1, func() { time.Since(began) })
	gen := must(libfirn.Open[firn.ID]("snowflake", libfirn.Config{Store: "memory:", Keys: "nodes=64"}))
	block := must(gen.IDs(0))
	ids := make([]firn.ID, 0, 256)
	fastest("snowflake Next", 1, func() { must(gen.Next(ctx)) })
	fastest("snowflake from a block", 1, func() { must(block.Next(ctx)) })
	fresh := must(libfirn.Open[firn.ID]("time:40/ms@@2024-01-01 node:2 sequence:21", libfirn.Config{Store: "memory:"}))
	fastest("64-bit Append of 256", 256, func() { ids = must(fresh.Append(ctx, ids[:0], 256)) })
	together("snowflake Next", func() firn.Source[firn.ID] { return gen })
	together("one source", func() firn.Source[firn.ID] { return block })
	together("a source each", func() firn.Source[firn.ID] { return must(gen.IDs(0)) })
	v7 := must(libfirn.Open[firn.UUID]("uuid7", libfirn.Config{}))
	v7s := must(v7.IDs(0))
	fastest("uuid7 Next", 1, func() { must(v7.Next(ctx)) })
	fastest("uuid7 from a block", 1, func() { must(v7s.Next(ctx)) })
	text := must(must(libfirn.Open[string]("ulid", libfirn.Config{})).IDs(0))
	fastest("ulid from a block, as text", 1, func() { must(text.Next(ctx)) })

	fastest("google/uuid NewRandom", 1, func() { must(uuid.NewRandom()) })
	uuid.EnableRandPool()
	fastest("google/uuid NewRandom, with its pool", 1, func() { must(uuid.NewRandom()) })
	entropy := ulid.Monotonic(must(os.Open("/dev/urandom")), 0)
	fastest("oklog/ulid monotonic", 1, func() { must(ulid.New(ulid.Now(), entropy)) })
	fastest("rs/xid", 1, func() { xid.New() })

	if len(os.Args) > 1 {
		c := must(client.New(client.Config{Addrs: os.Args[1:]}))
		remote := client.Open[firn.ID](c, "wide")
		blocks := must(remote.IDs(0))
		fastest("client from a block", 1, func() { must(blocks.Next(ctx)) })
		fastest("client Append of 256", 256, func() { ids = must(remote.Append(ctx, ids[:0], 256)) })
		fastest("client Next", 1, func() { must(remote.Next(ctx)) })
	}
}
