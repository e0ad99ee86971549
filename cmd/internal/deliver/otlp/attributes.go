package otlp

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gostap/gostap/runtime/export/feed"
)

// pairs calls fn for what a line says beside its text: the values by their names, then where it was, by the names that
// OpenTelemetry has for that.
func pairs(l *feed.Line, fn func(name string, v any)) {
	for _, f := range l.Fields {
		fn(f.Name, f.V)
	}
	if l.PID != 0 {
		fn("process.pid", int64(l.PID))
		fn("thread.id", int64(l.TID))
	}
	if l.CPU != nil {
		fn("cpu.logical_number", int64(*l.CPU))
	}
	texts := [][2]string{{"gostap.probe", l.Probe}, {"gostap.code", l.Code}, {"gostap.cause", l.Cause},
		{"code.file.path", l.File}}
	if l.Type != "span" {
		texts = append(texts, [2]string{"gostap.global", l.Name})
	}
	for _, t := range texts {
		if t[1] != "" {
			fn(t[0], t[1])
		}
	}
	if l.Line != 0 {
		fn("code.line.number", int64(l.Line))
	}
	if l.Cause != "" {
		fn("gostap.count", l.Count)
	}
	if l.Value.V != nil {
		fn("gostap.value", l.Value.V)
	}
	if s := l.Stats; s != nil {
		fn("gostap.stats.count", s.Count)
		fn("gostap.stats.sum", s.Sum)
		if s.Count > 0 {
			fn("gostap.stats.min", s.Min)
			fn("gostap.stats.max", s.Max)
			fn("gostap.stats.avg", s.Avg)
		}
	}
}

// number gives a number the type that OTLP has for it: beyond its range it is a text, with all digits.
func number(n uint64) (int64, bool) { return int64(n), n < 1<<63 }

func attributes(l *feed.Line) (out []attribute.KeyValue) {
	pairs(l, func(name string, v any) { out = append(out, pair(name, v)) })
	return out
}

func pair(name string, v any) attribute.KeyValue {
	switch v := v.(type) {
	case int64:
		return attribute.Int64(name, v)
	case uint64:
		if n, ok := number(v); ok {
			return attribute.Int64(name, n)
		}
	case float64:
		return attribute.Float64(name, v)
	case []string:
		return attribute.StringSlice(name, v)
	}
	return attribute.String(name, strings.ToValidUTF8(feed.Value{V: v}.String(), "�"))
}
