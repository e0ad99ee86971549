// Package ccompiler finds the C compiler of this machine.
//
// In: an environment. Out: the words that a command for it begins with.
package ccompiler

import (
	"errors"
	"os/exec"
	"strings"
)

// Names are looked for in this order: what is called cc may be any.
var Names = []string{"gcc", "clang", "cc"}

// ErrNone says that there is none.
var ErrNone = errors.New("there is no C compiler")

// Find gives the compiler that $CC of env names, which may have arguments, else the path of the first that is there.
// With a nil env it is one of the latter, which compile for this machine; $CC need not.
func Find(env []string) ([]string, error) {
	for i := len(env) - 1; i >= 0; i-- {
		if cc, ok := strings.CutPrefix(env[i], "CC="); ok {
			if words := strings.Fields(cc); len(words) > 0 {
				return words, nil
			}
			break // the last one counts, and it is empty
		}
	}
	for _, name := range Names {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, ErrNone
}
