package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/foreign"
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
		return nil, &usageError{path + " is a program, not a script", "-c runs a program, and process(\"" + path +
			"\") names it in a script; gostap --help shows examples"}
	}
	text, err := foreign.Read(f, path, maxScript)
	if err != nil {
		return nil, plain(err)
	}
	return text, nil
}

// plain says what went wrong with a file without Go's name of the call.
func plain(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
