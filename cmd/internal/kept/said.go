package kept

import (
	"regexp"
	"strconv"
)

var (
	counted  = regexp.MustCompile(`^WARNING: (\d+) (more warnings)?`)
	refusal  = regexp.MustCompile(`^(error: |\S+:\d+:\d+: error: )`)
	breaking = regexp.MustCompile(`^ERROR: `)
)

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
