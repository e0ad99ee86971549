package kept

import (
	"bytes"
	"regexp"
	"strconv"
)

var (
	counted  = regexp.MustCompile(`^WARNING: (\d+) (more warnings)?`)
	refusal  = regexp.MustCompile(`^(error: |\S+:\d+:\d+: error: )`)
	breaking = regexp.MustCompile(`^ERROR: `)
)

// mostLine is how long a message is at most; a longer one is several.
const mostLine = 64 << 10

// Lines takes a stream of messages apart.
type Lines struct {
	// Line takes one, with its end of line if it has one.
	Line func(string)

	rest []byte
}

// Write takes what has come. It never fails.
func (l *Lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 && len(l.rest) < mostLine {
			return len(b), nil
		}
		if i < 0 {
			i = len(l.rest) - 1
		}
		l.Line(string(l.rest[:i+1]))
		l.rest = l.rest[i+1:]
	}
}

// End takes what has come without an end of line.
func (l *Lines) End() {
	if len(l.rest) > 0 {
		l.Line(string(l.rest))
		l.rest = nil
	}
}

// Lost is how many events or hits a message says are missing, 0 if it is about something else.
func Lost(text string) int64 {
	if m := counted.FindStringSubmatch(text); m != nil && m[2] == "" {
		if c, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			return c
		}
	}
	return 0
}

// Breaks says that a message is about an error that ends a script while it runs.
func Breaks(text string) bool { return breaking.MatchString(text) }

// Refuses says that a message is about a command line or a script that is not run.
func Refuses(text string) bool { return refusal.MatchString(text) }
