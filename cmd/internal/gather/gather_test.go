package gather

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export/jsonlines"
	"github.com/gostap/gostap/runtime/export/record"
	"github.com/gostap/gostap/tests/jsonschema"
)

func named(name string) func() Origin { return func() Origin { return Origin{Machine: name} } }

// hostLines are what a session says, in JSON.
func hostLines(text string, status int) []byte {
	var e jsonlines.Encoder
	b := e.Begin(nil, &record.Session{Version: "1", Host: "h", Kernel: "6", Script: "s", Time: time.Unix(1, 0)})
	b = e.Append(b, &record.Record{Kind: record.Print, Text: text, CPU: -1,
		Fields: []record.Field{{Name: "machine", Value: record.Value{Type: record.String, Text: "\xff"}}}})
	return e.End(b, &record.End{Time: time.Unix(2, 0), Status: status, Errors: 3})
}

// checked reads lines by the schema.
func checked(t *testing.T, b []byte) (lines []map[string]any) {
	t.Helper()
	schema, err := jsonschema.Read(jsonlines.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		v, err := schema.Check(line)
		if err != nil {
			t.Fatalf("%s%v", line, err)
		}
		lines = append(lines, v.(map[string]any))
	}
	return lines
}

// TestLines: lines of several machines that come in any pieces are whole lines of one stream, which the schema has,
// each with its machine; the end has the greatest status and all errors.
func TestLines(t *testing.T) {
	for piece := 1; piece < 90; piece += 11 {
		var out bytes.Buffer
		s := New(&out, false, true, nil)
		s.Begin(&record.Session{Time: time.Unix(1, 0)})
		a := s.Source(func() Origin { return Origin{`a"1`, "n", "shop", "cart-1"} })
		b := s.Source(named("b"))
		x, y := hostLines("one\n", 0), hostLines("two\n", 2)
		for len(x) > 0 || len(y) > 0 {
			n, m := min(piece, len(x)), min(piece, len(y))
			a.Write(x[:n])
			b.Write(y[:m])
			x, y = x[n:], y[m:]
		}
		a.End(0)
		b.End(2)
		if err := s.End(0); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range checked(t, out.Bytes()) {
			text, _ := l["type"].(string)
			for _, k := range []string{"machine", "node", "namespace", "pod", "text"} {
				if v, ok := l[k].(string); ok {
					text += " " + strings.TrimSpace(v)
				}
			}
			got = append(got, text)
		}
		want := []string{"begin", `machine-begin a"1 n shop cart-1`, "machine-begin b",
			`print a"1 n shop cart-1 one`, "print b two", `machine-end a"1 n shop cart-1`, "machine-end b", "end"}
		for _, w := range want {
			if !strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+w+"\n") || len(got) != len(want) {
				t.Fatalf("pieces of %d: no %s:\n%s", piece, w, out.String())
			}
		}
		if !strings.Contains(out.String(), `"status":2,"errors":6,"error":"the session of a machine failed"}`) {
			t.Errorf("%s", out.String())
		}
	}
}

// TestLost: of a machine that is lost, or that says what no session says, the whole lines are there, and the end says
// what went wrong.
func TestLost(t *testing.T) {
	whole := hostLines("one\n", 0)
	begun := string(whole[:bytes.IndexByte(whole, '\n')+1])
	const noLine = "what comes from there is no line of gostap --format=json; what it says is left out from here on"
	for text, want := range map[string]string{
		begun + `{"type":"pri`:                                   "lost",
		begun + "hello\n" + string(whole):                        noLine,
		begun + `{"type":"print","text"}` + "\n" + string(whole): noLine,
		"": "lost",
	} {
		var out bytes.Buffer
		s := New(&out, false, false, nil)
		r := s.Source(named("m"))
		if r.Write([]byte(text)); want == "lost" {
			r.Failed(want)
		}
		r.End(1)
		lines := strings.SplitAfter(out.String(), "\n")
		last := lines[len(lines)-2]
		if !strings.HasPrefix(last, `{"type":"machine-end","machine":"m","time":"`) ||
			!strings.HasSuffix(last, `"status":1,"errors":0,"error":"`+want+"\"}\n") ||
			len(lines) != 2+strings.Count(text[:min(len(text), len(begun))], "\n") {
			t.Errorf("%q: %s", text, out.String())
		}
		var end record.End
		if s.Close(&end); end.Status != 1 {
			t.Errorf("%q: status %d", text, end.Status)
		}
	}
}

// TestRows: rows keep their cells, with newlines in them; those of a session here decide which columns there are, and
// without one a table with others is refused by name.
func TestRows(t *testing.T) {
	const base, more = "time,text\n", "time,text,$n\n"
	for _, c := range []struct{ here, a, b, want, told string }{
		{"", more + "1,\"x,\n\"\"y\",7\n", more + "2,z,8\n",
			"machine,time,text,$n|a,1,x,\n\"y,7|b,2,z,8", ""},
		{base + "0,h\n", more + "1,\"x,\n\",7\n", base + "2,z\n", "machine,time,text|,0,h|a,1,x,\n|b,2,z", ""},
		{more + "0,h,\n", base + "1,x\n", more + "2,z,\"8,\"\n", "machine,time,text,$n|,0,h,|a,1,x,|b,2,z,8,", ""},
		{"", more + "1,x,7\n", "time,text,$m\n2,z,8\n", "machine,time,text,$n|a,1,x,7",
			`error: b: its table has the columns "time,text,$m", and that of another machine has "time,text,$n"`},
		{"", base + "1,x\n", more + "2,z,8\n", "machine,time,text|a,1,x", `error: b: its table has the columns`},
		{"", base + "1,\"x\n", base + "2,z\n", "machine,time,text|b,2,z", "error: a: a line from there was cut off"},
	} {
		var out bytes.Buffer
		told := ""
		s := New(&out, true, false, func(text string) { told += text })
		if c.here != "" {
			s.Here().Write([]byte(c.here))
		}
		a, b := s.Source(named("a")), s.Source(named("b"))
		a.Write([]byte(c.a))
		b.Write([]byte(c.b))
		a.End(0)
		b.End(0)
		rows, err := csv.NewReader(&out).ReadAll()
		var got []string
		for _, r := range rows {
			got = append(got, strings.Join(r, ","))
		}
		table := strings.Join(got, "|")
		if err != nil || table != c.want || !strings.HasPrefix(told, c.told) || (c.told == "") != (told == "") {
			t.Errorf("%v: %q, told %q, not %q, %q", err, table, told, c.want, c.told)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no room") }

// TestBroken: an output that takes nothing is an error at the end.
func TestBroken(t *testing.T) {
	s := New(broken{}, false, false, nil)
	s.Source(named("a")).Write(hostLines("x", 0))
	if err := s.End(0); err == nil || err.Error() != "no room" {
		t.Error(err)
	}
}

func FuzzSource(f *testing.F) {
	f.Add([]byte("{\"type\":\"begin\"}\n{\"type\":\"end\",\"status\":1}\n"), true)
	f.Add([]byte("a,b\n1,\"2\n"), false)
	f.Fuzz(func(t *testing.T, b []byte, table bool) {
		var out bytes.Buffer
		s := New(&out, table, true, func(string) {})
		r := s.Source(named("m"))
		r.Write(b[:len(b)/2])
		r.Write(b[len(b)/2:])
		r.End(0)
	})
}
