package state

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// MostWhole is how many bytes a state has at most that was packed, as JSON.
const MostWhole = 4 << 20

// steps is in how many steps it is looked for what fits.
const steps = 6

// Pack gives a state as a text of at most most bytes: JSON, gzip, base64. Where it is larger it has fewer lines, the
// last ones; where it is too large without lines, arrays have fewer elements and stacks, the first ones; and where that
// does not help it has neither script nor globals.
func Pack(s *State, most int) (string, error) {
	if text, err := try(s, most); text != "" || err != nil {
		return text, err
	}
	cut := *s
	cut.Cut = true
	lines := fits(func(part float64) (string, error) {
		cut.Lines = s.Lines[len(s.Lines)-int(part*float64(len(s.Lines))):]
		return try(&cut, most)
	})
	if lines != "" {
		return lines, nil
	}
	cut.Lines = []Line{}
	rows := fits(func(part float64) (string, error) {
		cut.Globals = slices.Clone(s.Globals)
		for i := range cut.Globals {
			g := &cut.Globals[i]
			g.Stacks = g.Stacks[:int(part*float64(len(g.Stacks)))]
			if g.Keys > 0 {
				g.Rows = g.Rows[:int(part*float64(len(g.Rows)))]
			}
		}
		return try(&cut, most)
	})
	if rows != "" {
		return rows, nil
	}
	cut.Sources, cut.Globals, cut.Probes, cut.Error = []Source{}, []Global{}, []Probe{}, ""
	text, err := try(&cut, most)
	if text == "" && err == nil {
		err = fmt.Errorf("a state does not fit into %d bytes", most)
	}
	return text, err
}

// fits gives the text of the largest part, 0 to 1, that has one, "" if there is none.
func fits(text func(part float64) (string, error)) (best string) {
	if best, _ = text(0); best == "" {
		return ""
	}
	low, high := 0.0, 1.0
	for range steps {
		if more, err := text((low + high) / 2); more != "" && err == nil {
			low, best = (low+high)/2, more
		} else {
			high = (low + high) / 2
		}
	}
	return best
}

// try packs a state, "" if it is too large.
func try(s *State, most int) (string, error) {
	b, err := json.Marshal(s)
	if err != nil || len(b) > MostWhole {
		return "", err
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	if base64.StdEncoding.EncodedLen(out.Len()) > most {
		return "", nil
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}

// errLarge is said of what becomes too large.
var errLarge = fmt.Errorf("it has more than %d bytes", MostWhole)

// Unpack reads what Pack has made, or somebody who says so: what it gives is a state that a page can show.
func Unpack(text string) (*State, error) {
	if len(text) > MostWhole {
		return nil, errLarge
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if b, err = io.ReadAll(io.LimitReader(z, MostWhole+1)); err != nil {
		return nil, err
	}
	if len(b) > MostWhole {
		return nil, errLarge
	}
	s, err := Parse(b)
	if err == nil && s.elements() > mostElements {
		return nil, fmt.Errorf("it has more than %d elements", mostElements)
	}
	return s, err
}

// mostElements is how many lines, probes, rows and stacks a state has at most that was packed: each takes more bytes of
// MostWhole than fit in for more.
const mostElements = 150000

func (s *State) elements() int {
	n := len(s.Sources) + len(s.Probes) + len(s.Lines) + len(s.Globals)
	for i := range s.Globals {
		n += len(s.Globals[i].Rows) + len(s.Globals[i].Stacks)
	}
	return n
}

// Parse reads a state as JSON from who knows whom.
func Parse(b []byte) (*State, error) {
	s := new(State)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.Far = nil // that is said by who shows it
	s.Sources, s.Probes, s.Globals, s.Lines = some(s.Sources), some(s.Probes), some(s.Globals), some(s.Lines)
	for i := range s.Globals {
		g := &s.Globals[i]
		g.Rows = some(g.Rows)
		for k := range g.Rows {
			g.Rows[k].Key = some(g.Rows[k].Key)
		}
	}
	return s, nil
}

// some is a list that is there, though it may be empty.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// mostTime is the last moment that a browser can tell, in milliseconds since 1970.
const mostTime = 8.64e15

// check says what is wrong.
func (s *State) check() error {
	switch s.State {
	case Pending, Starting, Running, Ended, Refused, Gone:
	default:
		return fmt.Errorf("there is no state %q", s.State)
	}
	if s.Now < 0 || s.Now > mostTime || s.Began < 0 || s.Began > mostTime {
		return errors.New("its time is none")
	}
	last := uint64(0)
	for i := range s.Lines {
		if n := s.Lines[i].Number; n <= last || n > s.Last {
			return fmt.Errorf("its line %d follows line %d, of %d", n, last, s.Last)
		}
		last = s.Lines[i].Number
	}
	if s.Last > 1<<53 {
		return errors.New("it has more lines than can be counted")
	}
	names := map[string]bool{}
	for i := range s.Globals {
		g := &s.Globals[i]
		if names[g.Name] {
			return fmt.Errorf("it has two globals %q", g.Name)
		}
		names[g.Name] = true
		if err := g.check(); err != nil {
			return fmt.Errorf("its global %q: %w", g.Name, err)
		}
	}
	return nil
}

// mostKeys is how many keys an array has at most here, mostBuckets how many of a histogram can be drawn.
const mostKeys, mostBuckets = 100, 1 << 16

func (g *Global) check() error {
	if g.Keys < 0 || g.Keys > mostKeys || g.Keys == 0 && len(g.Rows) > 1 {
		return fmt.Errorf("%d rows of %d keys", len(g.Rows), g.Keys)
	}
	for i := range g.Rows {
		r := &g.Rows[i]
		switch {
		case len(r.Key) != g.Keys:
			return fmt.Errorf("an element has %d keys of %d", len(r.Key), g.Keys)
		case g.Stat != (r.Stats != nil):
			return errors.New("some of it are aggregates")
		case r.Stats == nil:
			continue
		}
		if len(r.Stats.Buckets) > mostBuckets {
			return fmt.Errorf("a histogram of %d buckets", len(r.Stats.Buckets))
		}
	}
	return nil
}
