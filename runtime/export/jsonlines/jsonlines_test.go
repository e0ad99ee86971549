package jsonlines

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export/record"
	"github.com/gostap/gostap/tests/jsonschema"
)

// TestLines: each kind of record is a line that the schema describes, and has what it was made of.
func TestLines(t *testing.T) {
	schema, err := jsonschema.Read(Schema)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1700000000, 7)
	stats := &record.Stats{Count: 3, Sum: math.MinInt64, Min: -1, Max: math.MaxInt64, Avg: 2, Scale: 1000,
		Histograms: []record.Buckets{
			{Buckets: []record.Bucket{{From: -4, To: -3, Count: 1}, {From: 4, To: 7, Count: 2}}},
			{Linear: true, Low: 0, High: 100, Width: 10}}}
	var e Encoder
	for _, c := range []struct {
		r    record.Record
		want string
	}{
		{record.Record{Text: "x\n", CPU: -1}, `{"type":"print","text":"x\n"}`},
		{record.Record{Text: "a", Time: at, PID: 1, TID: 2, CPU: 0, Probe: `f("x")`, Fields: []record.Field{
			{Name: "n", Value: record.Value{Int: math.MinInt64}},
			{Name: "$o->ID", Value: record.Value{Type: record.Uint, Int: -1}},
			{Name: "2", Value: record.Value{Type: record.Float, Float: 0.5}},
			{Name: "nan", Value: record.Value{Type: record.Float, Float: math.NaN()}},
			{Name: "s", Value: record.Value{Type: record.String, Text: "\x00\x1f\x7f\t\\\"é\u2028"}},
			{Name: "ustack", Value: record.Value{Type: record.Stack, Stack: []string{"0x1", "0x2"}}}}},
			`{"type":"print","time":"2023-11-14T22:13:20.000000007Z","pid":1,"tid":2,"cpu":0,"probe":"f(\"x\")",` +
				`"text":"a","fields":{"n":-9223372036854775808,"$o->ID":18446744073709551615,"2":0.5,"nan":"NaN",` +
				`"s":"\u0000\u001f\u007f\t\\\"é` + "\u2028" + `","ustack":["0x1","0x2"]}}`},
		{record.Record{Kind: record.Text, Text: "t"}, `{"type":"text","text":"t"}`},
		{record.Record{Kind: record.Warning, Text: "w"}, `{"type":"warning","message":"w"}`},
		{record.Record{Kind: record.Error, Text: "w", Code: "user", File: "f", Line: 1, Column: 2},
			`{"type":"error","message":"w","code":"user","file":"f","line":1,"column":2}`},
		{record.Record{Kind: record.Lost, Text: "w", Cause: "ring", Count: math.MaxUint64},
			`{"type":"lost","cause":"ring","count":18446744073709551615,"message":"w"}`},
		{record.Record{Kind: record.Global, Name: "n", Value: record.Value{Int: 5}},
			`{"type":"global","name":"n","value":5}`},
		{record.Record{Kind: record.Global, Name: "n", Keys: []record.Value{{Int: 5},
			{Type: record.String, Text: "k"}}, Stats: stats},
			`{"type":"global","name":"n","keys":[5,"k"],"stats":{"count":3,"sum":-9223372036854775808,"min":-1,` +
				`"max":9223372036854775807,"avg":2,"scale":1000},"histograms":[{"kind":"log","buckets":[{"from":-4,` +
				`"to":-3,"count":1},{"from":4,"to":7,"count":2}]},{"kind":"linear","low":0,"high":100,"width":10,` +
				`"buckets":[]}]}`},
		{record.Record{Kind: record.Histogram, Name: "n", Text: "v\n", Stats: &record.Stats{Count: 1, Sum: 1,
			Min: 1, Max: 1, Avg: 1, Histograms: stats.Histograms[1:]}},
			`{"type":"histogram","name":"n","stats":{"count":1,"sum":1,"min":1,"max":1,"avg":1},"histograms":[{` +
				`"kind":"linear","low":0,"high":100,"width":10,"buckets":[]}],"text":"v\n"}`},
		{record.Record{Kind: record.Global, Name: "n", Stats: &record.Stats{}},
			`{"type":"global","name":"n","stats":{"count":0,"sum":0}}`},
		{record.Record{Kind: record.Span, Name: "main.f", Text: "t", Begin: at.Add(-8), Time: at, PID: 1,
			TID: 2, CPU: -1, Probe: "p", Fields: []record.Field{{Name: "n", Value: record.Value{Int: 3}}}},
			`{"type":"span","name":"main.f","begin":"2023-11-14T22:13:19.999999999Z",` +
				`"time":"2023-11-14T22:13:20.000000007Z","pid":1,"tid":2,"probe":"p","text":"t","fields":{"n":3}}`},
		{record.Record{Kind: record.MetricPoint, Metric: &record.Metric{Name: "reqs_total", Help: "Requests.",
			Labels: []record.Field{{Name: "path", Value: record.Value{Type: record.String, Text: "\xff"}}}, Begin: at,
			Unit: "1", Time: at, Value: record.Value{Type: record.Uint, Int: -1}}},
			`{"type":"metric","name":"reqs_total","kind":"counter","unit":"1","help":"Requests.","labels":{"path":` +
				`"` + "\ufffd" + `"},"begin":"2023-11-14T22:13:20.000000007Z","time":"2023-11-14T22:13:20.000000007Z",` +
				`"value":18446744073709551615,"raw":{"/labels/path":"/w=="}}`},
		{record.Record{Kind: record.MetricPoint, Metric: &record.Metric{Name: "lat", Type: record.Distribution,
			Begin: at, Time: at, Stats: &record.Stats{Count: 1, Sum: 1, Min: 1, Max: 1, Avg: 1}}},
			`{"type":"metric","name":"lat","kind":"histogram","begin":"2023-11-14T22:13:20.000000007Z",` +
				`"time":"2023-11-14T22:13:20.000000007Z","stats":{"count":1,"sum":1,"min":1,"max":1,"avg":1}}`},
	} {
		line := e.Append(nil, &c.r)
		if string(line) != c.want+"\n" {
			t.Errorf("got\n%swant\n%s", line, c.want)
		}
		if _, err := schema.Check(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, line := range [][]byte{e.Begin(nil, &record.Session{Version: "v", Host: "h", Kernel: "6", Script: "s",
		Time: at}), e.End(nil, &record.End{Time: at, Status: 1, Error: "e", Errors: 3})} {
		if _, err := schema.Check(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, bad := range []string{`{"type":"print"}`, `{"type":"other","text":"x"}`, `{"type":"text","text":1}`,
		`{"type":"text","text":"x","more":1}`, `{"type":"print","text":"","fields":{"x":{}}}`, `[]`, `{} {}`,
		`{"type":"end","time":"2023","status":0,"errors":0}`} {
		if _, err := schema.Check([]byte(bad)); err == nil {
			t.Errorf("the schema takes %s", bad)
		}
	}
}

// FuzzStrings: whatever bytes there are come back from a line: by the string, or by what stands in raw.
func FuzzStrings(f *testing.F) {
	for _, s := range []string{"", "plain", "\xff", "a\x00b\xc3", "é\xed\xa0\x80\ufffd", "</script>", "~/\\\""} {
		f.Add(s)
	}
	schema, err := jsonschema.Read(Schema)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name := strings.ToValidUTF8(s, "?")
		var e Encoder
		line := e.Append(nil, &record.Record{Text: s, CPU: -1, Probe: s, Fields: []record.Field{
			{Name: name, Value: record.Value{Type: record.String, Text: s}}}})
		if _, err := schema.Check(line); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var got struct {
			Text   string
			Probe  string
			Fields map[string]string
			Raw    map[string]string
		}
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		text, probe, field := got.Text, got.Probe, got.Fields[name]
		places := map[string]*string{"/text": &text, "/probe": &probe, "/fields/" + pointed.Replace(name): &field}
		for at, to := range places {
			if b, ok := got.Raw[at]; ok {
				raw, err := base64.StdEncoding.DecodeString(b)
				if err != nil {
					t.Fatal(err)
				}
				*to = string(raw)
			}
		}
		if text != s || probe != s || field != s {
			t.Errorf("%q comes back as %q, %q and %q from %s", s, text, probe, field, line)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	r := record.Record{Text: "order 17 of ada\n", Time: time.Unix(1700000000, 123456789), PID: 4711, TID: 4712, CPU: 1,
		Probe: `process("/src/shop").function("main.handle")`, Fields: []record.Field{
			{Name: "$o->ID", Value: record.Value{Int: 17}},
			{Name: "$o->Customer", Value: record.Value{Type: record.String, Text: "ada"}}}}
	var e Encoder
	var buf []byte
	for b.Loop() {
		buf = e.Append(buf[:0], &r)
	}
}
