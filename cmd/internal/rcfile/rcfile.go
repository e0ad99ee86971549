// Package rcfile reads the options that a user always gives.
//
// In: an environment, which says where the file is. Out: its words.
package rcfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/environ"
	"github.com/gostap/gostap/compiler/trusted"
)

// most is how long a file can be.
const most = 1 << 20

// Read reads the options in $SYSTEMTAP_DIR/rc, or ~/.systemtap/rc: words parted by blanks, with
// '...' and "..." around those that hold some, and # for comments. No file is no error. A file that cannot be read,
// or that others may write to, is left out with a warning: options can name commands.
func Read(env []string, warn io.Writer) (words []string, path string, err error) {
	dir := environ.Get(env, "SYSTEMTAP_DIR")
	if dir == "" {
		home := environ.Get(env, "HOME")
		if home == "" {
			return nil, "", nil
		}
		dir = home + "/.systemtap"
	}
	path = dir + "/rc"
	text, err := trusted.ReadFile(path, most)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, fs.ErrPermission) {
		return nil, "", nil
	}
	if err != nil {
		fmt.Fprintf(warn, "WARNING: the options in %s are not used: %v\n", path, slip.Plain(err))
		return nil, "", nil
	}
	words, err = Words(string(text))
	if err != nil {
		return nil, path, slip.New(fmt.Sprintf("%s: %v", path, err), "")
	}
	return words, path, nil
}

// Words parts text into words as a shell does, without expanding anything.
func Words(text string) ([]string, error) {
	var words []string
	var w strings.Builder
	in, quote := false, byte(0)
	end := func() {
		if in {
			words = append(words, w.String())
			w.Reset()
			in = false
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(text):
			i++
			w.WriteByte(text[i])
			in = true
		case quote != 0:
			w.WriteByte(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == '#' && !in:
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			end()
		default:
			w.WriteByte(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	end()
	return words, nil
}
