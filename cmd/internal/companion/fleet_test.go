package companion

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// TestFleet: what the program prints and its status come through, it is told when it is to end, and one that is not
// there is said with what makes it.
func TestFleet(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	var out, errw strings.Builder
	_, err := Fleet(context.Background(), nil, &out, &errw)
	var e *slip.Error
	if !errors.As(err, &e) || !strings.Contains(e.Text, "neither beside gostap nor in $PATH") ||
		!strings.Contains(e.Hint, "the package gostap-fleet") || !strings.Contains(e.Hint, "make bin/gostap-fleet") {
		t.Errorf("%v", err)
	}
	program := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "gostap-fleet"), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program(`echo "$# $1 $2"; echo said >&2; exit 7`)
	status, err := Fleet(context.Background(), []string{"a b", "--c"}, &out, &errw)
	if err != nil || status != 7 || out.String() != "2 a b --c\n" || errw.String() != "said\n" {
		t.Errorf("%d, %v, %q, %q", status, err, &out, &errw)
	}
	program("exit 0")
	if status, err := Fleet(context.Background(), nil, &out, &errw); err != nil || status != 0 {
		t.Errorf("%d, %v", status, err)
	}
	program("trap 'echo ended; exit 3' TERM; echo begun; while :; do :; done")
	ctx, cancel := context.WithCancel(context.Background())
	begun := &sign{text: "begun\n", then: cancel}
	if status, err := Fleet(ctx, nil, begun, &errw); err != nil || status != 3 || begun.String() != "begun\nended\n" {
		t.Errorf("%d, %v, %q", status, err, begun)
	}
	if err := os.Chmod(filepath.Join(dir, "gostap-fleet"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Fleet(context.Background(), nil, &out, &errw); err == nil {
		t.Error("what cannot be run is")
	}
}

// sign calls then when a text has come.
type sign struct {
	strings.Builder
	text string
	then func()
}

func (s *sign) Write(b []byte) (int, error) {
	n, err := s.Builder.Write(b)
	if s.then != nil && strings.Contains(s.String(), s.text) {
		s.then()
		s.then = nil
	}
	return n, err
}
