// SPDX-License-Identifier: MIT

package client

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"firn.example/firn"
	"firn.example/firn/internal/spec"
)

// server is a firn serve on a unix socket.
type process struct {
	*exec.Cmd
	address string
	args    []string
}

func serve(t *testing.T, args ...string) *process {
	t.Helper()
	return serveAt(t, filepath.Join(t.TempDir(), "socket"), args...)
}

// serveAt starts $FIRN serve at a path, or at HOST:PORT, and waits until it accepts connections.
func serveAt(t *testing.T, path string, args ...string) *process {
	t.Helper()
	firn := os.Getenv("FIRN")
	if firn == "" {
		t.Skip("FIRN is not set: the path of the command firn")
	}
	network, address := "tcp", path
	if strings.HasPrefix(path, "/") {
		network, address = "unix", "unix:"+path
	}
	args = append([]string{"serve", "--auto-create", "--unsafe", "--http", "none", "--log-level", "warning"}, args...)
	p := &process{exec.Command(firn, append(args, "--resp", address)...), address, args}
	p.Stderr = os.Stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
	for limit := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial(network, path); err == nil {
			c.Close()
			return p
		}
		if time.Now().After(limit) {
			t.Fatal("firn serve does not listen")
		}
	}
}

func (p *process) end(how syscall.Signal) {
	p.Process.Signal(how)
	p.Wait()
}

func store(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "ids.db") }

func TestServer(t *testing.T) {
	p := serve(t, "--store", store(t))
	c := newClient(t, Config{Addrs: []string{p.address}})
	gen := Open[firn.ID](c, "snowflake")
	ids, err := gen.Append(background, nil, 10000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ids[1:] {
		if ids[i] >= ids[i+1] {
			t.Fatal(ids[i], ids[i+1])
		}
	}
	at := time.Date(2020, 2, 29, 12, 0, 0, 1e6, time.UTC)
	old, err := gen.At(background, at, 2)
	if err != nil || old[0] == old[1] {
		t.Error(old, err)
	}
	if shown, err := c.Show(background, old[0].String(), "snowflake"); err != nil || !shown.Time.Equal(at) {
		t.Error(shown, err)
	}
	if id, err := Open[firn.UUID](c, "uuid7").Next(background); err != nil || id[6]>>4 != 7 {
		t.Error(id, err)
	}
	if id, err := Open[string](c, "typeid", "PREFIX", "user").Next(background); err != nil || !strings.HasPrefix(id, "user_") {
		t.Error(id, err)
	}
	_, err = Open[firn.UUID](c, "ksuid").Next(background)
	code(t, firn.ErrUsage, err)
	_, err = Open[firn.ID](c, "snowflak").Next(background)
	code(t, firn.ErrUsage, err)
	s := c.Segment("orders")
	first, err := s.Next(background)
	if err != nil {
		t.Fatal(err)
	}
	if block, increment, err := s.Block(background, 10); err != nil || block <= first || increment != 1 {
		t.Error(block, increment, err)
	}
	_, _, err = s.Block(background, -1)
	code(t, firn.ErrUsage, err)
	for _, text := range []string{"", "\x00", "a\r\nb", "\xff", strings.Repeat("x", 100000)} {
		if _, err := Open[firn.ID](c, text).Next(background); err == nil {
			t.Errorf("%.20q", text)
		}
	}
	if scheme, err := c.Describe(background, "uuid7"); err != nil || scheme.Bits != 128 || scheme.Form != "uuid" {
		t.Error(scheme, err)
	}
}

// TestEveryCaseOfSpec asks the server what it can answer: packing, showing, ranges and conversions.
func TestEveryCaseOfSpec(t *testing.T) {
	c := newClient(t, Config{Addrs: []string{serve(t, "--store", "memory:").address}})
	var known *firn.Error
	count := 0
	for _, file := range spec.Files(t) {
		for _, one := range file.Valid {
			if one.Layout != "" || one.Form != "" && one.Form != file.Form || file.Form == "typeid" {
				continue
			}
			count++
			if id, err := Pack[string](background, c, file.Scheme, one.Fields); err != nil || id != one.Text {
				t.Error(file.Scheme, one, id, err)
			}
			shown, err := c.Show(background, one.Text, file.Scheme)
			if err != nil || shown.Scheme != file.Scheme || one.Tick == "" != shown.Time.IsZero() {
				t.Error(file.Scheme, one, shown, err)
			}
			for name, value := range shown.Fields {
				if want, ok := one.Fields[name]; ok && strings.TrimLeft(value, "0") != strings.TrimLeft(want, "0") && !strings.ContainsAny(value, "x:") {
					t.Error(file.Scheme, one, name, value)
				}
			}
		}
		for _, one := range file.Invalid {
			if one.Layout != "" || one.Fields == nil {
				continue
			}
			count++
			if id, err := Pack[string](background, c, file.Scheme, one.Fields); !errors.As(err, &known) {
				t.Error(file.Scheme, one, id, err)
			}
		}
		for _, one := range file.Ranges {
			from, err := time.Parse(time.RFC3339Nano, one.From)
			to, err2 := time.Parse(time.RFC3339Nano, one.To)
			if err != nil || err2 != nil {
				continue // years that package time does not read
			}
			count++
			if file.Scheme == "time-member" { // its texts have several lengths, which the server refuses
				continue
			}
			if least, greatest, err := Range[string](background, c, file.Scheme, from, to); err != nil || least != one.Least || greatest != one.Greatest {
				t.Error(file.Scheme, one, least, greatest, err)
			}
		}
		for _, one := range file.Convert {
			if one["uuid1"] == nil || one["uuid6"] == nil {
				continue
			}
			count++
			if id, err := c.Convert(background, one["uuid1"].(string), "uuid6"); err != nil || id != one["uuid6"] {
				t.Error(one, id, err)
			}
		}
	}
	if count < 1000 {
		t.Error("only", count, "cases")
	}
}

// TestRestarts issues from many goroutines while two servers of one store are restarted and killed.
func TestRestarts(t *testing.T) {
	url, folder := store(t), t.TempDir()
	paths := []string{folder + "/a", folder + "/b"}
	servers := []*process{serveAt(t, paths[0], "--store", url), serveAt(t, paths[1], "--store", url)}
	c := newClient(t, Config{Addrs: []string{servers[0].address, servers[1].address}, Timeout: time.Minute, Attempt: 10 * time.Second})
	gen := Open[firn.ID](c, "snowflake")
	stop := make(chan struct{})
	parts := make([][]firn.ID, 6)
	shared, _ := gen.IDs(0)
	var all sync.WaitGroup
	for i := range parts {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for {
				for _, from := range []firn.Source[firn.ID]{gen, shared} {
					id, err := from.Next(background)
					if err != nil {
						t.Error(err)
						return
					}
					parts[i] = append(parts[i], id)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		}(i)
	}
	for round, how := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM} {
		which := round % 2
		servers[which].end(how)
		os.Remove(paths[which])
		if round == 0 { // both are away for a moment
			servers[1].end(syscall.SIGTERM)
			servers[1] = serveAt(t, paths[1], "--store", url)
		}
		servers[which] = serveAt(t, paths[which], "--store", url)
		time.Sleep(20 * time.Millisecond)
	}
	close(stop)
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
	if len(seen) < 100 {
		t.Error("only", len(seen), "IDs")
	}
}

// TestOverload requests more IDs than the layout has.
func TestOverload(t *testing.T) {
	config := filepath.Join(t.TempDir(), "firn.ini")
	os.WriteFile(config, []byte("[server]\nstore = memory:\nwait = 0\n[generator tiny]\nscheme = 0x0:1 time:41/ms node:20 sequence:2\n"), 0o600)
	p := serve(t, "--config", config)
	c := newClient(t, Config{Addrs: []string{p.address}, Timeout: time.Minute})
	gen := Open[firn.ID](c, "tiny")
	var err error
	for wait := 150 * time.Millisecond; wait < time.Minute && !errors.Is(err, firn.ErrOverload); wait *= 4 {
		ctx, cancel := context.WithTimeout(background, wait) // on a busy machine one reply may take longer
		defer cancel()
		for err = nil; err == nil; {
			_, err = gen.Append(ctx, nil, 500)
		}
	}
	code(t, firn.ErrOverload, err)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if ids, err := gen.Append(background, nil, 500); err != nil || len(ids) != 500 {
		t.Error(err) // it waits
	}
}

func TestTokens(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	os.WriteFile(tokens, []byte("issue 0123456789abcdef\n"), 0o600)
	p := serve(t, "--store", "memory:", "--tokens", tokens)
	for _, config := range []Config{{Token: "0123456789abcdef"}, {User: "app", Token: "0123456789abcdef"}} {
		config.Addrs = []string{p.address}
		if _, err := Open[firn.UUID](newClient(t, config), "uuid7").Next(background); err != nil {
			t.Error(err)
		}
	}
	for _, config := range []Config{{}, {Token: "fedcba9876543210"}} {
		config.Addrs = []string{p.address}
		_, err := Open[firn.UUID](newClient(t, config), "uuid7").Next(background)
		code(t, firn.ErrDenied, err)
	}
}

func TestTLS(t *testing.T) {
	folder := t.TempDir()
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	made, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	private, _ := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(folder+"/cert", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}), 0o600)
	os.WriteFile(folder+"/key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	serveAt(t, address, "--store", "memory:", "--tls-cert", folder+"/cert", "--tls-key", folder+"/key")
	roots := x509.NewCertPool()
	parsed, _ := x509.ParseCertificate(made)
	roots.AddCert(parsed)
	good := newClient(t, Config{Addrs: []string{address}, TLS: &tls.Config{RootCAs: roots}})
	if _, err := Open[firn.UUID](good, "uuid7").Next(background); err != nil {
		t.Error(err)
	}
	for _, settings := range []*tls.Config{{}, {RootCAs: roots, ServerName: "other.example"}, nil} {
		bad := newClient(t, Config{Addrs: []string{address}, TLS: settings, Timeout: 200 * time.Millisecond})
		_, err := Open[firn.UUID](bad, "uuid7").Next(background)
		if !errors.Is(err, firn.ErrUnavailable) && !errors.Is(err, firn.ErrProtocol) {
			t.Error(err)
		}
	}
}
