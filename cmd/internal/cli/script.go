package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/trusted"
	"github.com/gostap/gostap/grammar"
)

// maxScript bounds a script, so that a device or a program that never stops writing is told from one.
const maxScript = grammar.MaxBytes

// readScript reads the file with the script.
func readScript(path string) ([]byte, error) {
	f, err := foreign.OpenText(path)
	if nr := (*foreign.NotRegularError)(nil); errors.As(err, &nr) {
		hint := ""
		if !errors.Is(err, unix.EISDIR) {
			hint = "a script from elsewhere comes by standard input: gostap - < " + path
		}
		return nil, &usageError{err.Error(), hint}
	}
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	head := make([]byte, 4)
	if n, _ := f.ReadAt(head, 0); bytes.Equal(head[:n], []byte("\x7fELF")) {
		return nil, &usageError{path + " is a program, not a script", "-c runs a program, and process(\"" + path + "\") names it in a script; gostap --help shows examples"}
	}
	text, err := foreign.Read(f, path, maxScript)
	if err != nil {
		return nil, plain(err)
	}
	return text, nil
}

// cache is the folder for what is kept between runs, "" if there is none. One that others may write to is not used,
// and the user is told when there is something in it.
func (c *command) cache() string {
	if c.kept == nil {
		dir := c.findCache()
		c.kept = &dir
	}
	return *c.kept
}

func (c *command) findCache() string {
	dir := cacheDir(c.env)
	if dir == "" {
		return ""
	}
	err := trusted.Dir(dir)
	if err == nil {
		return dir
	}
	if _, serr := os.Stat(dir); serr == nil && !c.noWarn {
		fmt.Fprintf(c.Err, "WARNING: what earlier runs have kept in %s is not used: %v\n", dir, plain(err))
	}
	return ""
}
