package records

import (
	"strings"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/runtime/export/record"
)

func keysOf(keys []gostap.Value) (out []record.Value) {
	for i := range keys {
		out = append(out, valueOf(&keys[i]))
	}
	return out
}

func statsOf(s *gostap.Stats) *record.Stats {
	out := &record.Stats{Count: s.Count, Sum: s.Sum, Min: s.Min, Max: s.Max, Avg: s.Avg(), Scale: s.Scale}
	for _, h := range s.Histograms {
		b := record.Buckets{Linear: h.Linear, Low: h.Low, High: h.High, Width: h.Width}
		for _, k := range h.Buckets {
			b.Buckets = append(b.Buckets, record.Bucket{From: k.From, To: k.To, Count: k.Count})
		}
		out.Histograms = append(out.Histograms, b)
	}
	return out
}

// valueOf gives a value as it is exported: of stacks the frames as they are printed.
func valueOf(v *gostap.Value) record.Value {
	switch {
	case v.Stack != nil:
		return record.Value{Type: record.Stack, Stack: frames(v.Text)}
	case v.IsText:
		return record.Value{Type: record.String, Text: v.Text}
	case v.IsFloat:
		return record.Value{Type: record.Float, Float: v.Float}
	case v.Unsigned:
		return record.Value{Type: record.Uint, Int: v.Int}
	}
	return record.Value{Int: v.Int}
}

// frames takes the text of a stack apart: a line a frame, or addresses with spaces between.
func frames(text string) []string {
	if !strings.Contains(text, "\n") {
		return strings.Fields(text)
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}
