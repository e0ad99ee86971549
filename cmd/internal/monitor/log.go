package monitor

import (
	"strings"
	"sync"
)

// mostLines is how many lines of output are kept.
const mostLines = 10000

// Log is a writer that keeps the last lines of what it is given.
type Log struct {
	mu   sync.Mutex
	all  []string
	rest string // not ended yet
	lost int    // lines that are not kept any more
	news chan struct{}
}

// NewLog makes one.
func NewLog() *Log { return &Log{news: make(chan struct{}, 1)} }

// Write implements io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	text := l.rest + string(b)
	for {
		line, rest, ended := strings.Cut(text, "\n")
		if !ended && len(line) < 1<<16 {
			break
		}
		l.all, text = append(l.all, line), rest
	}
	l.rest = text
	if n := len(l.all) - mostLines; n > mostLines/10 {
		l.all, l.lost = append([]string(nil), l.all[n:]...), l.lost+n
	}
	l.mu.Unlock()
	select {
	case l.news <- struct{}{}:
	default:
	}
	return len(b), nil
}

// kept gives what is kept, with a line that has not ended.
func (l *Log) kept() (all []string, lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all = append([]string(nil), l.all...)
	if l.rest != "" {
		all = append(all, l.rest)
	}
	return all, l.lost
}
