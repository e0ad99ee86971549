package state

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// large is a state with lines, elements and stacks that do not become smaller by gzip.
func large(lines, rows, stacks int) *State {
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('!' + rnd.IntN(90))
		}
		return string(b)
	}
	s := &State{Name: "x", State: Running, Now: 2, Began: 1, Sources: []Source{{"x.stp", "probe end {}"}},
		Probes: []Probe{{Point: "end"}}, Lines: []Line{}, Last: uint64(lines)}
	for i := range lines {
		s.Lines = append(s.Lines, Line{Number: uint64(i + 1), Time: 1, Text: word(200)})
	}
	g := Global{Name: "a", Keys: 1, Rows: []Row{}, Of: rows}
	for range rows {
		g.Rows = append(g.Rows, Row{Key: []string{word(500)}, Value: "7", Number: 7})
	}
	for range stacks {
		g.Stacks = append(g.Stacks, Stack{word(500), 1})
	}
	s.Globals = []Global{{Name: "n", Rows: []Row{{Key: []string{}, Value: "42", Number: 42}}, Of: 1}, g}
	return s
}

func TestPack(t *testing.T) {
	const most = 192 << 10
	for _, c := range []struct {
		name                string
		s                   *State
		lines, rows, stacks int // at least
		all                 bool
	}{
		{"small", large(3, 3, 3), 3, 3, 3, true},
		{"lines", large(5000, 100, 0), 100, 100, 0, false},
		{"elements", large(500, 200, 3000), 0, 10, 150, false},
		{"text", func() *State {
			s := large(10, 10, 0)
			for _, l := range large(500, 0, 0).Lines {
				s.Sources[0].Text += l.Text
			}
			s.Lines = large(1000, 0, 0).Lines
			s.Last = 1000
			return s
		}(), 100, 10, 0, false},
	} {
		text, err := Pack(c.s, most)
		if err != nil || len(text) > most {
			t.Errorf("%s: %d bytes, %v", c.name, len(text), err)
			continue
		}
		got, err := Unpack(text)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		a, n := got.Globals[1], got.Globals[0]
		if len(got.Lines) < c.lines || len(a.Rows) < c.rows || len(a.Stacks) < c.stacks || got.Cut == c.all ||
			n.Rows[0].Value != "42" || a.Of != len(c.s.Globals[1].Rows) {
			t.Errorf("%s: %d lines, %d rows, %d stacks, cut %v of %d bytes", c.name, len(got.Lines), len(a.Rows),
				len(a.Stacks), got.Cut, len(text))
		}
		if n := len(got.Lines); n > 0 && got.Lines[n-1].Number != got.Last {
			t.Errorf("%s: not the last lines", c.name)
		}
		if !c.all && len(text) < most*3/4 && len(a.Stacks) < len(c.s.Globals[1].Stacks) {
			t.Errorf("%s: only %d bytes", c.name, len(text))
		}
	}
	// Where nothing helps there is what is left.
	text, err := Pack(large(10, 200, 3000), 240)
	if got, uerr := Unpack(text); err != nil || uerr != nil || !got.Cut || got.Name != "x" || len(got.Globals) > 0 {
		t.Errorf("%v %v", err, uerr)
	}
	if text, err := Pack(large(1, 1, 1), 20); text != "" || err == nil {
		t.Errorf("%q", text)
	}
}

// packed is any bytes as Pack would pack them.
func packed(b []byte) string {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	z.Write(b)
	z.Close()
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// TestUnpack: what is no state is refused, and what is much larger than it looks is not read to its end.
func TestUnpack(t *testing.T) {
	good := `{"name":"x","state":"running","now":5,"last":3,"lines":[{"n":1},{"n":3}]`
	for _, c := range [][2]string{
		{"", "EOF"},
		{"!", "illegal base64"},
		{"AAAA", "unexpected EOF"},
		{base64.StdEncoding.EncodeToString([]byte("no gzip at all")), "invalid header"},
		{packed(make([]byte, 1<<26)), "more than 4194304 bytes"},
		{strings.Repeat("A", MostWhole+4), "more than 4194304 bytes"},
		{packed([]byte(good)), "unexpected end of JSON"},
		{packed([]byte(good + `,"probes":[{}` + strings.Repeat(",{}", 200000) + `]}`)), "than 150000 elements"},
		{packed([]byte(good + `}x`)), "invalid character 'x'"},
		{packed([]byte(`{"state":"<b>"}`)), `no state "<b>"`},
		{packed([]byte(`{"state":"running","now":1e3}`)), "number 1e3"},
		{packed([]byte(`{"state":"running","now":9223372036854775807}`)), "its time is none"},
		{packed([]byte(`{"state":"running","lines":[{"n":1},{"n":1}],"last":1}`)), "follows line 1"},
		{packed([]byte(`{"state":"running","lines":[{"n":2}],"last":1}`)), "line 2"},
		{packed([]byte(`{"state":"running","last":18446744073709551615}`)), "can be counted"},
		{packed([]byte(`{"state":"running","globals":[{"name":"a","keys":2,"rows":[{"key":["x"]}]}]}`)),
			"1 keys of 2"},
		{packed([]byte(`{"state":"running","globals":[{"name":"a","stat":true,"rows":[{}]}]}`)), "aggregates"},
		{packed([]byte(`{"state":"running","globals":[{"name":"a"},{"name":"a"}]}`)), "two globals"},
		{packed([]byte(`{"state":"running","globals":[{"keys":1000000000}]}`)), "keys"},
		{packed([]byte(good + `,"globals":[{"name":"a","rows":[{"value":"1"}]}],"later":7}`)), ""},
	} {
		text, want := c[0], c[1]

		s, err := Unpack(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, not %q", text, err, want)
		}
		if err == nil && (s.Probes == nil || s.Sources == nil || s.Lines == nil || s.Globals == nil ||
			len(s.Globals) > 0 &&
				s.Globals[0].Rows[0].Key == nil) {
			t.Errorf("a list is not there: %+v", s)
		}
	}
	if s, err := Unpack(packed([]byte(good + `,"far":{"note":"<b>","stops":true}}`))); err != nil || s.Far != nil {
		t.Errorf("what only this side says was believed: %+v %v", s, err)
	}
}

// FuzzUnpack: whatever bytes come, there is an error or a state that can be packed again.
func FuzzUnpack(f *testing.F) {
	b, _ := json.Marshal(large(3, 3, 3))
	f.Add(b, false)
	f.Add([]byte(`{"state":"running","globals":[{"keys":-1,"rows":null}]}`), false)
	f.Add([]byte("H4sIAAAAAAAA/w=="), true)
	f.Fuzz(func(t *testing.T, b []byte, raw bool) {
		text := string(b)
		if !raw {
			text = packed(b)
		}
		s, err := Unpack(text)
		if err != nil {
			return
		}
		again, err := Pack(s, MostWhole)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Unpack(again); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
	})
}
