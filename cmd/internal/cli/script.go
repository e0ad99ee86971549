package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/cmd/internal/toolbox"
	"github.com/gostap/gostap/compiler/environ"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/habits"
	"github.com/gostap/gostap/grammar"
)

// maxScript bounds a script, so that a device or a program that never stops writing is told from one.
const maxScript = grammar.MaxBytes

// readScript reads the file with the script.
func readScript(path string, env []string) ([]byte, error) {
	f, err := foreign.OpenText(path)
	if nr := (*foreign.NotRegularError)(nil); errors.As(err, &nr) {
		hint := "-I " + path + " takes the functions and aliases of a directory"
		if !errors.Is(err, unix.EISDIR) {
			hint = "a script from elsewhere comes by standard input: gostap - < " + path
		}
		return nil, slip.New(err.Error(), hint)
	}
	if hint := misplaced(path); hint != "" && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENAMETOOLONG)) {
		return nil, slip.New(fmt.Sprintf("there is no file %q", path), hint)
	}
	if name := habits.ToolName(path); errors.Is(err, unix.ENOENT) && toolbox.IsName(name) {
		if hint := toolHint(name, env); hint != "" || name == path {
			return nil, slip.New(path+": no such file, and no tool of that name",
				cmp.Or(hint, "gostap tools lists the tools; gostap --help shows examples"))
		}
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

// toolHint is the hint for a word that is no name of a tool, "" for none.
func toolHint(name string, env []string) string {
	if slices.Contains(toolbox.Names(env), name) {
		return "it is a tool here: gostap " + name
	}
	if hint := habits.Tool(name); hint != "" {
		return hint
	}
	return slip.Meant(name, toolbox.Names(env))
}

// wanted is the hint for a command line without a script.
func (o *options) wanted() string {
	const all = `probe process.function("main.*") { println(pp()) }`
	switch {
	case o.command != "":
		return "what is to be seen of it? All functions of a Go program's package main: gostap -e '" + all + "' -c " +
			quoted(o.command)
	case o.pid != 0:
		return fmt.Sprintf("what is to be seen of it? All functions of a Go program's package main: "+
			"gostap -e '%s' -x %d", all, o.pid)
	}
	return `a script file, -e 'SCRIPT', or - for standard input; gostap --help shows examples`
}

// strangers is the hint for words behind the script of which it uses none, "" if there is nothing to say.
func (c *command) strangers() string {
	for _, a := range c.args {
		switch {
		case c.command != "" && !strings.Contains(c.command, " "):
			return "-c takes a command with its arguments as one word: -c " +
				quoted(c.command+" "+strings.Join(c.args, " "))
		case strings.HasSuffix(a, ".stp"):
			return "one script is run; -I DIR takes further files, and cat A.stp B.stp | gostap - runs two as one"
		case c.command == "" && c.pid == 0 && isProgram(a):
			return "-c starts a program: -c " + quoted(strings.Join(c.args, " "))
		}
	}
	return ""
}

// isProgram says whether a word is the path of a file that can be run.
func isProgram(word string) bool {
	st, err := os.Stat(word)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 && strings.Contains(word, "/")
}

// quoted is a word as it is written for a shell.
func quoted(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
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
	dir := environ.Get(c.env, "TMPDIR")
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
func plain(err error) error { return slip.Plain(err) }
