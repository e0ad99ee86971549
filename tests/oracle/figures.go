package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Figures counts how a comparison went. It may be used by many goroutines.
type Figures struct {
	mu      sync.Mutex
	equal   int
	refused map[string]int
	notes   map[string]int
	wrong   []string
}

// Equal counts n values (calls, frames) that are the same.
func (f *Figures) Equal(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.equal += n
}

// Refused counts one that gostap refuses or leaves open, by a short reason. It was compared: the other side had it.
func (f *Figures) Refused(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused == nil {
		f.refused = map[string]int{}
	}
	f.refused[reason]++
}

// Note counts what could not be compared, by a short reason: neither side has it, or only gostap.
func (f *Figures) Note(reason string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.notes == nil {
		f.notes = map[string]int{}
	}
	f.notes[reason] += n
}

// Wrong counts one that differs and keeps what to say about it.
func (f *Figures) Wrong(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

// Add takes the figures of another comparison in.
func (f *Figures) Add(o *Figures) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f.Equal(o.equal)
	for why, n := range o.refused {
		for range n {
			f.Refused(why)
		}
	}
	for why, n := range o.notes {
		f.Note(why, n)
	}
	for _, s := range o.wrong {
		f.Wrong("%s", s)
	}
}

// Compared is how many were: equal, refused and wrong.
func (f *Figures) Compared() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.equal + len(f.wrong)
	for _, k := range f.refused {
		n += k
	}
	return n
}

// String is a line of totals and one for each reason.
func (f *Figures) String() string {
	n := f.Compared()
	f.mu.Lock()
	defer f.mu.Unlock()
	refused := 0
	for _, k := range f.refused {
		refused += k
	}
	var b strings.Builder
	fmt.Fprintf(&b, "compared %d, equal %d, refused %d, wrong %d", n, f.equal, refused, len(f.wrong))
	for _, why := range slices.Sorted(maps.Keys(f.refused)) {
		fmt.Fprintf(&b, "\n  refused: %s: %d", why, f.refused[why])
	}
	for _, why := range slices.Sorted(maps.Keys(f.notes)) {
		fmt.Fprintf(&b, "\n  not compared: %s: %d", why, f.notes[why])
	}
	return b.String()
}

// Reporter is what a testing.TB has that Report needs.
type Reporter interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
}

// shown is how many of those that differ are printed each; of the others, how many there are of a kind.
const shown = 40

// Report prints the figures and fails the test if something is wrong, or less than least was compared. What is wrong
// is of one kind if it is the same up to the last ": ".
func (f *Figures) Report(t Reporter, least int) {
	t.Helper()
	t.Logf("%s", f)
	if n := f.Compared(); n < least {
		t.Errorf("only %d compared, at least %d were to be: the comparison itself has come apart", n, least)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	kinds := map[string]int{}
	for i, s := range f.wrong {
		if i < shown {
			t.Errorf("wrong: %s", s)
			continue
		}
		if at := strings.LastIndex(s, ": "); at > 0 {
			s = s[:at]
		}
		kinds[s]++
	}
	for _, s := range slices.Sorted(maps.Keys(kinds)) {
		t.Errorf("wrong, %d more: %s", kinds[s], s)
	}
}
