package table

import (
	"encoding/csv"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export/record"
)

// TestRows: what a reader of CSV finds is what was put in.
func TestRows(t *testing.T) {
	e := Encoder{Fields: []string{"n", "$s", "3"}}
	b := e.Begin(nil)
	hostile := "a,\"b\"\r\nc\xff"
	b = e.Append(b, &record.Record{Text: "x, y\n", Time: time.Unix(1700000000, 7), PID: 1, TID: 2, CPU: 0,
		Probe: `f("x")`, Fields: []record.Field{{Name: "$s", Value: record.Value{Type: record.String, Text: hostile}},
			{Name: "n", Value: record.Value{Type: record.Uint, Int: -1}},
			{Name: "3", Value: record.Value{Type: record.Stack, Stack: []string{"f", "g"}}}}})
	b = e.Append(b, &record.Record{Text: "begin", CPU: -1, Fields: []record.Field{
		{Name: "n", Value: record.Value{Int: -5}}, {Name: "3", Value: record.Value{Type: record.Float, Float: 0.5}}}})
	b = e.Append(b, &record.Record{Kind: record.Text, Text: "log\n"})
	got, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"time", "pid", "tid", "cpu", "probe", "text", "n", "$s", "3"},
		{"2023-11-14T22:13:20.000000007Z", "1", "2", "0", `f("x")`, "x, y", "18446744073709551615",
			strings.ReplaceAll(hostile, "\r\n", "\n"), "f\ng"}, // Go's reader makes \n of \r\n
		{"", "", "", "", "", "begin", "-5", "", "0.5"},
		{"", "", "", "", "", "log", "", "", ""},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}
