package prompt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gostap/gostap/compiler/trusted"
)

// History is the lines that were typed, the last ones of which are kept in a file that nobody else can read.
type History struct {
	all  []string
	file *os.File
}

const (
	mostKept  = 1000
	mostBytes = 4 << 20
)

// OpenHistory reads the lines kept in a file, and keeps those to come there; path may be "" to keep none. With an
// error the History is good for the lines to come, but keeps them in no file.
func OpenHistory(path string) (*History, error) {
	h := &History{}
	if path == "" {
		return h, nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return h, err
	}
	if err := trusted.Dir(dir); err != nil {
		return h, err
	}
	text, err := trusted.ReadFile(path, mostBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return h, err
	}
	for l := range strings.Lines(string(text)) {
		h.all = append(h.all, strings.TrimSuffix(l, "\n"))
	}
	if len(h.all) > 2*mostKept {
		h.all = slices.Clone(h.all[len(h.all)-mostKept:])
		os.Remove(path)
		defer h.write(h.all...)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return h, err
	}
	if err := f.Chmod(0o600); err != nil {
		f.Close()
		return h, err
	}
	h.file = f
	return h, nil
}

// lines are those that can be recalled.
func (h *History) lines() []string {
	if h == nil {
		return nil
	}
	return h.all
}

// add takes in a line, but for empty ones and repetitions.
func (h *History) add(line string) {
	if h == nil || strings.TrimSpace(line) == "" || len(h.all) > 0 && h.all[len(h.all)-1] == line {
		return
	}
	h.all = append(h.all, line)
	h.write(line)
}

// write appends lines to the file. That a disk is full is no reason to stop somebody who types.
func (h *History) write(lines ...string) {
	if h.file != nil {
		h.file.WriteString(strings.Join(lines, "\n") + "\n")
	}
}

// Close closes the file.
func (h *History) Close() {
	if h.file != nil {
		h.file.Close()
	}
}
