package gostap

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/gostap/gostap/compiler/ir"
)

// targetPath is the program that a bare "process" means: the file of PID, the first word of Command.
func (o *Options) targetPath() (string, error) {
	switch {
	case o.PID != 0:
		exe := fmt.Sprintf("/proc/%d/exe", o.PID)
		path, err := os.Readlink(exe)
		if err != nil {
			if os.IsNotExist(err) {
				if o.Elsewhere {
					return exe, nil // nothing is traced here: only a bare "process" misses it
				}
				return "", fmt.Errorf("no process %d", o.PID)
			}
			if os.IsPermission(err) {
				return exe, nil // what asks for the program is refused then, and the rest needs only the number
			}
			return "", plain(err)
		}
		// In another mount namespace, or replaced since: the link itself is the file that runs.
		if a, err := os.Stat(path); err == nil {
			if b, err := os.Stat(exe); err == nil && os.SameFile(a, b) {
				return path, nil
			}
		}
		return exe, nil
	case o.Command != "":
		word := o.commandWord()
		if path, err := exec.LookPath(word); err == nil {
			if abs, err := filepath.Abs(path); err == nil {
				return abs, nil
			}
		}
	}
	return "", nil
}

// commandWord is the first word of Command that is not an assignment to a variable of the environment.
func (o *Options) commandWord() string {
	// The shell's signs end a word without a space as well.
	for _, w := range strings.FieldsFunc(o.Command,
		func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(";&|()<>", r) }) {
		if name, _, ok := strings.Cut(w, "="); !ok || strings.Contains(name, "/") {
			return strings.Trim(w, `"'`)
		}
	}
	return ""
}

// sameTarget checks that the target is the program that a bare "process" meant when p was made; what is its name.
func (o *Options) sameTarget(p *ir.Program, what string) error {
	path := ""
	for _, pr := range p.Probes {
		for _, s := range pr.Sites {
			if s.Program.Target && s.Program.Path != "" && !strings.Contains(s.Point, ").library(") {
				path = s.Program.Path
			}
		}
	}
	if path == "" {
		return nil
	}
	got, err := o.targetPath()
	if err != nil || got == "" {
		return err // without a target, attaching says so
	}
	a, aerr := os.Stat(path)
	b, berr := os.Stat(got)
	if aerr == nil && berr == nil && !os.SameFile(a, b) || aerr != nil && filepath.Clean(got) != path {
		return fmt.Errorf("%s was built to trace %s, not %s", what, path, got)
	}
	return nil
}
