package feed

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export/jsonlines"
	"github.com/gostap/gostap/runtime/export/record"
)

const begin = `{"type":"begin","schema":1,"gostap":"v","time":"2026-01-02T03:04:05.000000006Z","host":"h","kernel":"k","script":"s"}` + "\n"

func all(t *testing.T, text string) ([]*Line, error) {
	t.Helper()
	var out []*Line
	err := New(strings.NewReader(text)).Each(func(l *Line) error {
		out = append(out, l)
		return nil
	}, nil)
	return out, err
}

// TestLines: what the encoder writes is read with all its digits and in its order.
func TestLines(t *testing.T) {
	var e jsonlines.Encoder
	at := time.Unix(1700000000, 7)
	b := []byte(begin)
	b = e.Append(b, &record.Record{Kind: record.Span, Name: "f", Text: "t\n", Begin: at.Add(-8), Time: at, PID: 1,
		TID: 2, CPU: -1, Fields: []record.Field{{Name: "z", Value: record.Value{Int: math.MinInt64}},
			{Name: "a", Value: record.Value{Type: record.Uint, Int: -1}},
			{Name: "s", Value: record.Value{Type: record.String, Text: "x\xff"}},
			{Name: "f", Value: record.Value{Type: record.Float, Float: math.Inf(1)}},
			{Name: "k", Value: record.Value{Type: record.Stack, Stack: []string{"g", "h"}}}}})
	b = e.Append(b, &record.Record{Kind: record.MetricPoint, Metric: &record.Metric{Name: "m",
		Type:   record.Distribution,
		Labels: []record.Field{{Name: "l", Value: record.Value{Int: 3}}}, Begin: at, Time: at,
		Stats: &record.Stats{Count: 2, Sum: 5, Min: 2, Max: 3, Avg: 2, Scale: 10,
			Histograms: []record.Buckets{{Buckets: []record.Bucket{{From: 2, To: 3, Count: 2}}}}}}})
	lines, err := all(t, string(b))
	if err != nil || len(lines) != 3 {
		t.Fatal(err, len(lines))
	}
	s := lines[1]
	got := fmt.Sprint(s.Name, " ", s.CPU == nil, " ", s.Time.Sub(s.Begin).Nanoseconds())
	for _, f := range s.Fields {
		got += fmt.Sprintf(" %s=%#v", f.Name, f.V)
	}
	if got != `f true 8 z=-9223372036854775808 a=0xffffffffffffffff s="x�" f="Infinity" k=[]string{"g", "h"}` {
		t.Error(got)
	}
	if b, ok := s.Bytes("/fields/s"); !ok || string(b) != "x\xff" {
		t.Errorf("%q", b)
	}
	m := lines[2]
	if got := fmt.Sprint(m.Kind, m.Labels, *m.Stats, m.Histograms); got !=
		"histogram[3] {2 5 2 3 2 10} [{log 0 0 0 [{2 3 2}]}]" {
		t.Error(got)
	}
}

// TestRefused: what is no stream of lines is told.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "there is no line to read",
		"hello\n":                                "a line is not of gostap --format=json",
		`{"type":"print"}` + "\n":                "the first line is not that of a session's beginning",
		`{"type":"begin","schema":2}` + "\n":     "the lines are of schema 2, and this gostap-export reads 1",
		begin + `{"type":"pri`:                   "the stream ends in the middle of a line",
		begin + `{"type":"span","fields":[]}`:    "the stream ends in the middle of a line",
		begin + `{"type":"x","fields":7}` + "\n": "a line is not of gostap --format=json",
	} {
		if _, err := all(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestLate: a stream that comes faster than it is taken does not wait; what is left out is counted, and what each is
// needed of comes nevertheless.
func TestLate(t *testing.T) {
	const n = 400000
	r, pipe := io.Pipe()
	w := bufio.NewWriterSize(pipe, 1<<16)
	f := New(r)
	go func() {
		io.WriteString(w, begin)
		for i := range n {
			fmt.Fprintf(w, `{"type":"print","text":"%0100d"}`+"\n", i)
			if i%1000 == 0 {
				fmt.Fprintf(w, `{"type":"metric","name":"m","value":%d}`+"\n", i)
			}
		}
		w.Flush()
		pipe.Close()
	}()
	prints, metrics := 0, 0
	err := f.Each(func(l *Line) error {
		if prints == 0 && metrics == 0 {
			for f.Late() == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		switch l.Type {
		case "print":
			prints++
		case "metric":
			metrics++
		}
		return nil
	}, nil)
	if err != nil || metrics != n/1000 || prints+int(f.Late()) != n || prints == 0 {
		t.Errorf("%v: %d prints, %d late of %d; %d metrics of %d", err, prints, f.Late(), n, metrics, n/1000)
	}
}

func FuzzEach(f *testing.F) {
	f.Add(begin + `{"type":"print","fields":{"a":1,"b":["x"]},"cpu":1}` + "\n")
	f.Add(begin + `{"type":"metric","stats":{"count":1},"histograms":[{"buckets":[{"from":1}]}],"labels":{"a":1.5}}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		New(strings.NewReader(text)).Each(func(l *Line) error {
			_ = l.Number()
			_ = l.Value.String()
			return nil
		}, func() {})
	})
}
