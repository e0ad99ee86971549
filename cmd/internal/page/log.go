package page

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/gostap/gostap/cmd/internal/page/state"
)

const (
	// keptLines is how many lines the log keeps, shownLines how many of them one answer has; longer lines than
	// mostLine bytes are cut.
	keptLines, shownLines = 5000, 500
	mostLine              = 2000
)

// lines keeps the last lines. Writers never wait for readers.
type lines struct {
	mu   sync.Mutex
	ring [keptLines]state.Line
	next uint64 // how many there were
}

// writer gives what takes lines in; message says that they are not what the script prints.
func (l *lines) writer(message bool) io.Writer { return &lineWriter{l: l, message: message} }

type lineWriter struct {
	l       *lines
	message bool
	rest    []byte
}

func (w *lineWriter) Write(b []byte) (int, error) {
	now := time.Now().UnixMilli()
	n := len(b)
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break
		}
		line := b[:i]
		if len(w.rest) > 0 {
			line = append(w.rest, line...)
			w.rest = w.rest[:0]
		}
		w.l.put(line, now, w.message)
		b = b[i+1:]
	}
	if w.rest = append(w.rest, b...); len(w.rest) > mostLine {
		w.l.put(w.rest, now, w.message)
		w.rest = w.rest[:0]
	}
	return n, nil
}

func (l *lines) put(line []byte, now int64, message bool) {
	if len(line) > mostLine {
		line = append(line[:mostLine:mostLine], "..."...)
	}
	at := &l.ring[l.next%keptLines]
	l.next++
	*at = state.Line{Number: l.next, Time: now, Text: strings.ToValidUTF8(string(line), "\uFFFD"),
		Message: message}
}

// after gives the last lines, at most most, behind number since, and the number of the last one of all.
func (l *lines) after(since uint64, most int) (out []state.Line, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := max(since, l.next-min(l.next, uint64(min(most, keptLines))))
	for n := from; n < l.next; n++ {
		out = append(out, l.ring[n%keptLines])
	}
	return out, l.next
}
