package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/cmd/internal/toolbox"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/grammar"
)

// maxScript bounds a script, so that a device or a program that never stops writing is told from one.
const maxScript = grammar.MaxBytes

// readScript reads the file with the script.
func readScript(path string, env []string) ([]byte, error) {
	f, err := foreign.OpenText(path)
	if nr := (*foreign.NotRegularError)(nil); errors.As(err, &nr) {
		hint := ""
		if !errors.Is(err, unix.EISDIR) {
			hint = "a script from elsewhere comes by standard input: gostap - < " + path
		}
		return nil, slip.New(err.Error(), hint)
	}
	if hint := misplaced(path); hint != "" && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENAMETOOLONG)) {
		return nil, slip.New(fmt.Sprintf("there is no file %q", path), hint)
	}
	if errors.Is(err, unix.ENOENT) && toolbox.IsName(path) {
		hint := slip.Meant(path, toolbox.Names(env))
		if hint == "" {
			hint = "gostap tools lists the tools; gostap --help shows examples"
		}
		return nil, slip.New(path+": no such file, and no tool of that name", hint)
	}
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	head := make([]byte, 4)
	if n, _ := f.ReadAt(head, 0); bytes.Equal(head[:n], []byte("\x7fELF")) {
		return nil, slip.New(path+" is a program, not a script", "-c runs a program, and process(\""+path+
			"\") names it in a script; gostap --help shows examples")
	}
	text, err := foreign.Read(f, path, maxScript)
	if err != nil {
		return nil, plain(err)
	}
	return text, nil
}

// misplaced is the hint for a word that stands where the name of the script's file is expected and cannot be one.
func misplaced(word string) string {
	switch {
	case word == "run":
		return "gostap run NAME.ko runs a module that was built elsewhere"
	case strings.ContainsAny(word, "{}\n"):
		return "a script in the command line stands behind -e: gostap -e 'SCRIPT'"
	}
	return ""
}

// checkTemp refuses a TMPDIR that is none, for sessions that make files there, and one that cannot be written to where
// nothing goes without. (A command that is started does: it is the name of its process that needs the file.)
func (c *command) checkTemp() error {
	dir := getenv(c.env, "TMPDIR")
	if dir == "" || c.command == "" && c.runtime != "kernel" && (!c.keep || c.tmpdir != "") {
		return nil
	}
	st, err := os.Stat(dir)
	switch {
	case err != nil:
		err = plain(err)
	case !st.IsDir():
		err = fmt.Errorf("%s is no directory", dir)
	case c.runtime == "kernel" || c.keep && c.tmpdir == "":
		if err = unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			err = fmt.Errorf("%s: %w", dir, err)
		}
	}
	if err != nil {
		return slip.New(fmt.Sprintf("TMPDIR: %v", err), "unset it, or name a directory that can be written to")
	}
	return nil
}

// plain says what went wrong with a file without Go's name of the call.
func plain(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
