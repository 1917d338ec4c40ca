// SPDX-License-Identifier: MIT

// Package spec reads the conformance cases, spec/*.json, for the tests.
package spec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Case is one of valid or invalid.
type Case struct {
	Fields                                map[string]string
	Tick, Text, Also, Bytes, Layout, Form string
}

// File is one of spec/*.json.
type File struct {
	Scheme, Layout, Form string
	Valid, Invalid       []Case
	Ranges               []struct{ From, To, Least, Greatest string }
	Pairs                [][2]string
	Convert              []map[string]any
	Digest               []map[string]any
	Guess                []struct{ Text, Scheme string }
	Order                []struct {
		Key, Tweak, Integer, Text string
		Digits, Check             int
		KeyID                     *int `json:"key_id"`
	}
}

// Files reads all files, from $FIRN_SPEC or the tree of firn.
func Files(t *testing.T) []File {
	folder := os.Getenv("FIRN_SPEC")
	if folder == "" {
		folder = "../../../spec"
	}
	paths, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	if len(paths) == 0 {
		t.Fatalf("no cases in %s: set FIRN_SPEC", folder)
	}
	var files []File
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file File
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		files = append(files, file)
	}
	return files
}
