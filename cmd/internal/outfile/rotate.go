// Package outfile writes what scripts print to files: under a name with the time in it (-o), and in others when one is
// full or the script says so (-S, switch_file()).
//
// In: bytes. Out: files with whole lines.
package outfile

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// Rotation is -S SIZE[,COUNT]: how large an output file gets, in bytes, and how many are kept, 0 for all.
type Rotation struct {
	size int64
	keep int
}

// ParseRotation reads the value of -S.
func ParseRotation(s string) (r Rotation, err error) {
	size, keep, several := strings.Cut(s, ",")
	n, err := strconv.Atoi(size)
	if err == nil && several {
		r.keep, err = strconv.Atoi(keep)
	}
	if err != nil || n < 1 || n > 1<<20 || several && r.keep < 1 {
		return r, slip.New(fmt.Sprintf("-S takes megabytes, and how many files to keep, not %q", s),
			"-S 10,3 keeps the last three files of 10 MB")
	}
	r.size = int64(n) << 20
	return r, nil
}

// Rotator is an output file that goes on in another when it is full, or when the script says so: PATH.0, PATH.1 and so
// on; where no size makes one full, the first is PATH itself. Lines stay whole when files are full.
type Rotator struct {
	Rotation
	path string
	n    int // the number of the file
	f    *os.File
	size int64 // its bytes
	mid  bool  // the last line is not complete
	// opened is told each new file; may be nil.
	opened func(*os.File) error
}

// New opens the first file.
func New(path string, r Rotation) (*Rotator, error) {
	w := &Rotator{Rotation: r, path: path}
	return w, w.open()
}

func (w *Rotator) name(n int) string {
	if n == 0 && w.Rotation.size == 0 {
		return w.path
	}
	return fmt.Sprintf("%s.%d", w.path, n)
}

func (w *Rotator) open() (err error) {
	w.f, err = os.Create(w.name(w.n))
	w.size = 0
	if err == nil && w.opened != nil {
		err = w.opened(w.f)
	}
	return err
}

// Opened has f told the file that is open, and each new one from now on.
func (w *Rotator) Opened(f func(*os.File) error) error {
	w.opened = f
	return f(w.f)
}

// Write implements io.Writer.
func (w *Rotator) Write(b []byte) (int, error) {
	total := 0
	for len(b) > 0 {
		n := len(b)
		if room := w.Rotation.size - w.size; w.Rotation.size > 0 && int64(n) > room {
			n = bytes.LastIndexByte(b[:max(room, 0)], '\n') + 1
			if n == 0 && w.size > 0 && !w.mid {
				if err := w.Next(); err != nil {
					return total, err
				}
				continue
			}
			if n == 0 { // a line that is longer than the file, or that was begun in it
				if n = bytes.IndexByte(b, '\n') + 1; n == 0 {
					n = len(b)
				}
			}
		}
		k, err := w.f.Write(b[:n])
		total += k
		w.size += int64(k)
		if err != nil {
			return total, err
		}
		w.mid = b[n-1] != '\n'
		b = b[n:]
	}
	return total, nil
}

// Next goes on in the next file, and removes the oldest if there are too many then.
func (w *Rotator) Next() error {
	if err := w.f.Close(); err != nil {
		return err
	}
	if w.n++; w.keep > 0 && w.n >= w.keep {
		os.Remove(w.name(w.n - w.keep))
	}
	return w.open()
}

// Close closes the last file.
func (w *Rotator) Close() error { return w.f.Close() }
