// Package feed reads the JSON lines of a session (docs/json.md).
//
// In: bytes, as fast as they come. Out: lines one after the other; what came faster than it was taken is left out and
// counted, but for lines of which each is needed.
package feed

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gostap/gostap/runtime/export/jsonlines"
)

// Line is one line; what a kind of line does not have is zero.
type Line struct {
	Type                                           string
	Schema                                         int
	Gostap, Host, Kernel, Script                   string
	Time, Begin                                    time.Time
	Name, Kind, Unit, Help, Metric                 string
	Text, Message, Code, File, Cause, Error, Probe string
	Line, Column, PID, TID, Status, Errors         int
	CPU                                            *int
	Count                                          uint64
	Fields, Labels                                 Fields
	Keys                                           []Value
	Value                                          Value
	Stats                                          *Stats
	Histograms                                     []Histogram
	Raw                                            map[string]string
	Origin
}

// Origin is where a line comes from. Machine is the one that said it, where there are several; Node, Namespace and Pod
// are those of a cluster.
type Origin struct{ Machine, Node, Namespace, Pod string }

// Lasting is the part of o that stays while pods come and go: series of one machine belong together by it.
func (o Origin) Lasting() Origin { return Origin{Machine: o.Machine, Node: o.Node} }

// Value is a number, a string, or a stack: int64, uint64, float64, string or []string.
type Value struct{ V any }

// Field is a value with its name.
type Field struct {
	Name string
	Value
}

// Fields are in the order of the line.
type Fields []Field

// Stats is an aggregate, in parts of 1/Scale.
type Stats struct{ Count, Sum, Min, Max, Avg, Scale int64 }

// Histogram has the buckets that are not empty.
type Histogram struct {
	Kind             string
	Low, High, Width int64
	Buckets          []Bucket
}

// Bucket counts values v with From <= v <= To.
type Bucket struct{ From, To, Count int64 }

// UnmarshalJSON reads a number with all its digits, a string or a list of strings.
func (v *Value) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		var s string
		err := json.Unmarshal(b, &s)
		v.V = s
		return err
	case '[':
		var s []string
		err := json.Unmarshal(b, &s)
		v.V = s
		return err
	}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		v.V = n
		return nil
	}
	if n, err := strconv.ParseUint(string(b), 10, 64); err == nil {
		v.V = n
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	v.V = f
	return err
}

// Number is the value of a metric, int64 or float64: what JSON has no number for too.
func (l *Line) Number() any {
	switch v := l.Value.V.(type) {
	case string:
		switch v {
		case "Infinity":
			return math.Inf(1)
		case "-Infinity":
			return math.Inf(-1)
		}
		return math.NaN()
	case uint64:
		return float64(v)
	}
	return l.Value.V
}

// Float is what Number gives as a number with a fraction; 0 of anything else.
func Float(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// String is v as text; of a stack the frames in lines.
func (v Value) String() string {
	switch x := v.V.(type) {
	case nil:
		return ""
	case string:
		return x
	case []string:
		return strings.Join(x, "\n")
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(v.V)
}

// UnmarshalJSON reads an object.
func (f *Fields) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("fields are no object: %.40q", b)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		var v Value
		if err := d.Decode(&v); err != nil {
			return err
		}
		*f = append(*f, Field{t.(string), v})
	}
	return nil
}

const (
	// chunk is how many bytes are read at once, mostBytes how many wait.
	chunk     = 256 << 10
	mostBytes = 32 << 20
	// longest is how long a line can be.
	longest = 64 << 20
)

// Reader reads a stream.
type Reader struct {
	mu     sync.Mutex
	more   sync.Cond // something came, or all has come
	wait   [][]byte  // whole lines
	bytes  int       // in wait
	late   uint64
	ended  bool
	reason error // why it ended, if that was no end
	// patient: who writes does not mind to wait, so nothing is left out.
	patient bool
	less    sync.Cond // something was taken
}

// New begins to read r. Of a regular file nothing is left out.
func New(r io.Reader) *Reader {
	f := &Reader{}
	f.more.L, f.less.L = &f.mu, &f.mu
	if file, ok := r.(*os.File); ok {
		info, err := file.Stat()
		f.patient = err == nil && info.Mode().IsRegular()
	}
	go f.read(r)
	return f
}

// Late is how many lines were left out, since they came faster than they were taken.
func (f *Reader) Late() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.late
}

// read takes the stream apart at the ends of lines.
func (f *Reader) read(r io.Reader) {
	err := f.lines(r)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.reason = true, err
	f.more.Signal()
}

func (f *Reader) lines(r io.Reader) error {
	var rest []byte
	for {
		b := make([]byte, len(rest), len(rest)+chunk)
		copy(b, rest)
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		end := bytes.LastIndexByte(b, '\n') + 1
		rest = b[end:]
		if end > 0 {
			f.pass(bytes.Clone(b[:end]))
		}
		switch {
		case err == io.EOF && len(rest) > 0:
			return errors.New("the stream ends in the middle of a line")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case len(rest) > longest:
			return errors.New("a line has no end: this is not the output of gostap --format=json")
		}
	}
}

// pass hands lines on. Where too many wait, those that tell of one hit each are left out.
func (f *Reader) pass(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.patient && f.bytes > mostBytes {
		f.less.Wait()
	}
	if f.bytes > mostBytes {
		var keep []byte
		for line := range bytes.Lines(b) {
			if bytes.HasPrefix(line, []byte(`{"type":"print"`)) || bytes.HasPrefix(line, []byte(`{"type":"span"`)) ||
				bytes.HasPrefix(line, []byte(`{"type":"text"`)) {
				f.late++
				continue
			}
			keep = append(keep, line...)
		}
		b = keep
	}
	f.wait = append(f.wait, b)
	f.bytes += len(b)
	f.more.Signal()
}

// next gives the lines that came next; empty says that none are there for now, and ok that there will be more.
func (f *Reader) next(block bool) (b []byte, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.wait) == 0 {
		if f.ended || !block {
			return nil, !f.ended
		}
		f.more.Wait()
	}
	b = f.wait[0]
	f.wait = f.wait[1:]
	f.bytes -= len(b)
	f.less.Signal()
	return b, true
}

// ErrEmpty says that there was not even a beginning.
var ErrEmpty = errors.New("there is no line to read: gostap --format=json writes them")

// Each calls fn for each line until the stream ends. The first is that of the beginning, of a version that is known.
// idle, if not nil, is called when there is nothing to read for now.
func (f *Reader) Each(fn func(*Line) error, idle func()) error {
	begun := false
	for {
		b, ok := f.next(false)
		if b == nil && ok {
			if idle != nil {
				idle()
			}
			b, ok = f.next(true)
		}
		if !ok {
			if f.reason == nil && !begun {
				return ErrEmpty
			}
			return f.reason
		}
		for line := range bytes.Lines(b) {
			var l Line
			if err := json.Unmarshal(line, &l); err != nil {
				return fmt.Errorf("a line is not of gostap --format=json: %w: %.80q", err, line)
			}
			if !begun && l.Type != "begin" {
				return fmt.Errorf("the first line is not that of a session's beginning: %.80q", line)
			}
			if l.Type == "begin" && l.Schema != jsonlines.Version {
				return fmt.Errorf("the lines are of schema %d, and this gostap-export reads %d: take both from "+
					"one version", l.Schema, jsonlines.Version)
			}
			begun = true
			if err := fn(&l); err != nil {
				return err
			}
		}
	}
}

// Bytes are the exact bytes of a string of the line that is no UTF-8, by its place; ok tells that there are any.
func (l *Line) Bytes(pointer string) (b []byte, ok bool) {
	s, ok := l.Raw[pointer]
	if !ok {
		return nil, false
	}
	b, err := base64.StdEncoding.DecodeString(s)
	return b, err == nil
}
