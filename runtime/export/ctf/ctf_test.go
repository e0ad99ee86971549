package ctf

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export/record"
)

// TestHostile: whatever names, texts and times there are, babeltrace2 reads all events and says nothing.
func TestHostile(t *testing.T) {
	if _, err := exec.LookPath("babeltrace2"); err != nil {
		t.Skip("babeltrace2 is not installed")
	}
	texts := []string{"", "struct", "a b", "\"; };", "\\", "ü\xff\x00z", "$x->y", "_", "1", "%s\n\t", "event", "é"}
	r := rand.New(rand.NewPCG(7, 8))
	text := func() string { return texts[r.IntN(len(texts))] }
	value := func() record.Value {
		return record.Value{Type: record.Type(r.IntN(5)), Int: int64(r.Uint64()), Float: r.NormFloat64(), Text: text(),
			Stack: []string{text(), text()}}
	}
	dir := t.TempDir()
	e := &Encoder{Describe: func(b []byte) error { return os.WriteFile(filepath.Join(dir, "metadata"), b, 0o644) }}
	at := time.Unix(1700000000, 0)
	b := e.Begin(nil, &record.Session{Host: text() + `"`, Kernel: text(), Script: "\n", Time: at})
	const n = 5000
	for range n {
		rec := &record.Record{Kind: record.Kind(r.IntN(int(record.MetricPoint) + 1)), Text: text(), Name: text(),
			Time: at.Add(time.Duration(r.IntN(100))), PID: r.IntN(9), CPU: -1, Probe: text(), Cause: text(), Count: 1}
		if at = rec.Time; r.IntN(3) == 0 {
			at = at.Add(-time.Duration(r.IntN(150)))
		}
		rec.Begin = at
		for range r.IntN(4) {
			rec.Fields = append(rec.Fields, record.Field{Name: text(), Value: value()})
			rec.Keys = append(rec.Keys, value())
		}
		if r.IntN(2) == 0 {
			rec.Stats = &record.Stats{Count: int64(r.IntN(2)), Sum: 5}
		}
		rec.Value = value()
		if rec.Kind == record.MetricPoint {
			rec.Metric = &record.Metric{Name: text(), Labels: rec.Fields, Value: value(), Stats: rec.Stats,
				Time: rec.Time}
		}
		if b = e.Append(b, rec); r.IntN(50) == 0 {
			b = e.Flush(b)
		}
	}
	b = e.End(b, &record.End{Time: at, Error: "over"})
	if err := os.WriteFile(filepath.Join(dir, "stream"), b, 0o644); err != nil || e.Err() != nil {
		t.Fatal(err, e.Err())
	}
	var out, said bytes.Buffer
	cmd := exec.Command("babeltrace2", dir)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %.2000s", err, said.String())
	}
	// One that is discarded is told by babeltrace2 in a line on standard error.
	if got := bytes.Count(out.Bytes(), []byte(", probe = ")); got != n+1 {
		t.Errorf("%d events, want %d: %.500s", got, n+1, said.String())
	}
	e = &Encoder{Describe: func([]byte) error { return fmt.Errorf("full") }}
	e.Flush(e.Begin(nil, &record.Session{}))
	if e.Err() == nil {
		t.Error("metadata that was not written is not told")
	}
}
