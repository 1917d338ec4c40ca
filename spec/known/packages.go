// SPDX-License-Identifier: MIT
// Go packages of Debian, asked by check.py.
package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/oklog/ulid"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
)

type call func(scheme string, args []string) (string, error)

var versions = map[string]int{"uuid1": 1, "uuid3": 3, "uuid4": 4, "uuid5": 5, "uuid6": 6, "uuid7": 7, "uuid8": 8, "nil": 0, "max": 15}

func readUUID(scheme string, args []string) (string, error) {
	id, err := uuid.Parse(args[0])
	if err == nil && (int(id.Version()) != versions[scheme] || scheme != "nil" && scheme != "max" && id.Variant() != uuid.RFC4122) {
		err = errors.New("version or variant")
	}
	return hex.EncodeToString(id[:]), err
}

func bytesOf(text string) []byte {
	raw, _ := hex.DecodeString(text)
	return raw
}

var packages = []struct {
	name, debian, schemes string
	ops                   map[string]call
}{
	{"google/uuid", "golang-github-google-uuid-dev", "uuid1,uuid3,uuid4,uuid5,uuid6,uuid7,uuid8,nil,max", map[string]call{
		"read": readUUID,
		"write": func(_ string, args []string) (string, error) {
			id, err := uuid.FromBytes(bytesOf(args[0]))
			return id.String(), err
		},
		"digest": func(scheme string, args []string) (string, error) {
			if scheme == "uuid3" {
				return uuid.NewMD5(uuid.MustParse(args[1]), bytesOf(args[0])).String(), nil
			}
			return uuid.NewSHA1(uuid.MustParse(args[1]), bytesOf(args[0])).String(), nil
		},
	}},
	{"oklog/ulid", "golang-github-oklog-ulid-dev", "ulid", map[string]call{
		"read": func(_ string, args []string) (string, error) {
			id, err := ulid.ParseStrict(args[0])
			return hex.EncodeToString(id[:]), err
		},
		"write": func(_ string, args []string) (string, error) {
			var id ulid.ULID
			copy(id[:], bytesOf(args[0]))
			return id.String(), nil
		},
		"time": func(_ string, args []string) (string, error) {
			id, err := ulid.ParseStrict(args[0])
			return strconv.FormatUint(id.Time(), 10), err
		},
	}},
	{"segmentio/ksuid", "golang-github-segmentio-ksuid-dev", "ksuid", map[string]call{
		"read": func(_ string, args []string) (string, error) {
			id, err := ksuid.Parse(args[0])
			return hex.EncodeToString(id.Bytes()), err
		},
		"write": func(_ string, args []string) (string, error) {
			id, err := ksuid.FromBytes(bytesOf(args[0]))
			return id.String(), err
		},
		"time": func(_ string, args []string) (string, error) {
			id, err := ksuid.Parse(args[0])
			return strconv.FormatInt(id.Time().UnixMilli(), 10), err
		},
	}},
	{"rs/xid", "golang-github-rs-xid-dev", "xid", map[string]call{
		"read": func(_ string, args []string) (string, error) {
			id, err := xid.FromString(args[0])
			return hex.EncodeToString(id.Bytes()), err
		},
		"write": func(_ string, args []string) (string, error) {
			id, err := xid.FromBytes(bytesOf(args[0]))
			return id.String(), err
		},
		"time": func(_ string, args []string) (string, error) {
			id, err := xid.FromString(args[0])
			return strconv.FormatInt(id.Time().UnixMilli(), 10), err
		},
	}},
}

func main() {
	ops := map[string]map[string]call{}
	list := []string{}
	for _, one := range packages {
		version, _ := exec.Command("dpkg-query", "-W", "-f", "${Version}", one.debian).Output()
		ops[one.name] = one.ops
		list = append(list, fmt.Sprintf("%s|%s|%s", one.name, version, one.schemes))
	}
	fmt.Println(strings.Join(list, "\t"))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Split(lines.Text(), "\t")
		args := []string{}
		for _, word := range words[3:] {
			args = append(args, string(bytesOf(word)))
		}
		answer := "-"
		if op, known := ops[words[0]][words[1]]; known {
			var err error
			if answer, err = op(words[2], args); err != nil {
				answer = "!" + err.Error()
			}
		}
		fmt.Println(answer)
	}
}
