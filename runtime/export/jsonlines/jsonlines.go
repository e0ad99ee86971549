// Package jsonlines writes what a session says as JSON, an object a line, as docs/json.md says and schema.json does for
// programs.
//
// In: records. Out: lines, appended to bytes.
package jsonlines

import (
	_ "embed"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gostap/gostap/runtime/export/record"
)

// Schema is the JSON Schema of a line.
//
//go:embed schema.json
var Schema string

// Version is that of the schema. It grows when what was there means something else; new members do not change it.
const Version = 1

// Encoder appends lines.
type Encoder struct {
	// second is the text of a time up to its seconds, and at the second that it is.
	second []byte
	at     int64
	// probe is the last probe point, quoted is what is written of it.
	probe  string
	quoted []byte
	// raw are places in the line at hand, as JSON pointers, and the bytes that are there and are no UTF-8.
	raw []string
}

// Begin is the first line of a session.
func (e *Encoder) Begin(b []byte, s *record.Session) []byte {
	b = append(b, `{"type":"begin","schema":`...)
	b = strconv.AppendInt(b, Version, 10)
	b = e.text(b, "gostap", s.Version)
	b = e.time(b, "time", s.Time)
	b = e.text(b, "host", s.Host)
	b = e.text(b, "kernel", s.Kernel)
	b = e.text(b, "script", s.Script)
	return e.end(b)
}

// Err is nil: there is nothing beside the lines.
func (e *Encoder) Err() error { return nil }

// Flush appends what waits, which is nothing: each line is whole.
func (e *Encoder) Flush(b []byte) []byte { return b }

// End is its last line.
func (e *Encoder) End(b []byte, s *record.End) []byte {
	b = append(b, `{"type":"end"`...)
	b = e.time(b, "time", s.Time)
	b = number(b, "status", int64(s.Status))
	b = number(b, "errors", int64(s.Errors))
	if s.Error != "" {
		b = e.text(b, "error", s.Error)
	}
	return e.end(b)
}

var kinds = [...]string{record.Print: "print", record.Text: "text", record.Warning: "warning", record.Error: "error",
	record.Lost: "lost", record.Global: "global", record.Histogram: "histogram",
	record.Span: "span", record.MetricPoint: "metric"}

// Append appends the line of a record.
func (e *Encoder) Append(b []byte, r *record.Record) []byte {
	b = append(append(append(b, `{"type":"`...), kinds[r.Kind]...), '"')
	switch r.Kind {
	case record.Print, record.Span:
		if r.Kind == record.Span {
			b = e.text(b, "name", r.Name)
			b = e.time(b, "begin", r.Begin)
		}
		if !r.Time.IsZero() {
			b = e.time(b, "time", r.Time)
			b = number(b, "pid", int64(r.PID))
			b = number(b, "tid", int64(r.TID))
		}
		if r.CPU >= 0 {
			b = number(b, "cpu", int64(r.CPU))
		}
		if r.Probe != "" {
			b = e.point(b, r.Probe)
		}
		b = e.text(b, "text", r.Text)
		b = e.fields(b, "fields", r.Fields)
	case record.Text:
		b = e.text(b, "text", r.Text)
	case record.Warning, record.Error:
		b = e.text(b, "message", r.Text)
		if r.Code != "" {
			b = e.text(b, "code", r.Code)
		}
		if r.File != "" {
			b = e.text(b, "file", r.File)
			b = number(b, "line", int64(r.Line))
			b = number(b, "column", int64(r.Column))
		}
	case record.Lost:
		b = e.text(b, "cause", r.Cause)
		b = append(b, `,"count":`...)
		b = strconv.AppendUint(b, r.Count, 10)
		b = e.text(b, "message", r.Text)
	case record.Global, record.Histogram:
		b = e.text(b, "name", r.Name)
		if r.Metric != nil {
			b = e.text(b, "metric", r.Metric.Name)
		}
		b = e.global(b, r)
		if r.Kind == record.Histogram {
			b = e.text(b, "text", r.Text)
		}
	case record.MetricPoint:
		b = e.metric(b, r.Metric)
	}
	return e.end(b)
}

// point appends a probe point, which often is that of the last line.
func (e *Encoder) point(b []byte, probe string) []byte {
	if probe != e.probe {
		var ok bool
		if e.quoted, ok = quote(append(e.quoted[:0], `,"probe":`...), probe); !ok {
			e.probe = ""
			return e.text(b, "probe", probe)
		}
		e.probe = probe
	}
	return append(b, e.quoted...)
}

// fields appends a member that is an object.
func (e *Encoder) fields(b []byte, member string, fields []record.Field) []byte {
	if len(fields) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), member...), `":{`...)
	for i := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		f := &fields[i]
		b, _ = quote(b, f.Name)
		b = append(b, ':')
		b = e.value(b, &f.Value, member, f.Name)
	}
	return append(b, '}')
}

// pointed escapes a name for a JSON pointer.
var pointed = strings.NewReplacer("~", "~0", "/", "~1")

// value appends a value, which stands at member name of the object that is this member of the line, "" for the line.
func (e *Encoder) value(b []byte, v *record.Value, member, name string) []byte {
	switch v.Type {
	case record.Uint:
		return strconv.AppendUint(b, uint64(v.Int), 10)
	case record.Float:
		return float(b, v.Float)
	case record.String:
		var ok bool
		if b, ok = quote(b, v.Text); !ok {
			e.raw = append(e.raw, place(member, name), v.Text)
		}
		return b
	case record.Stack:
		b = append(b, '[')
		for i, s := range v.Stack {
			if i > 0 {
				b = append(b, ',')
			}
			var ok bool
			if b, ok = quote(b, s); !ok {
				e.raw = append(e.raw, place(member, name)+"/"+strconv.Itoa(i), s)
			}
		}
		return append(b, ']')
	}
	return strconv.AppendInt(b, v.Int, 10)
}

// place is a JSON pointer.
func place(member, name string) string {
	name = "/" + pointed.Replace(name)
	if member == "" {
		return name
	}
	return "/" + member + name
}

// float appends a fraction. What JSON has no number for is a string.
func float(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

// global appends the keys and the value of an element.
func (e *Encoder) global(b []byte, r *record.Record) []byte {
	if len(r.Keys) > 0 {
		b = append(b, `,"keys":[`...)
		for i := range r.Keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.value(b, &r.Keys[i], "keys", strconv.Itoa(i))
		}
		b = append(b, ']')
	}
	return e.measured(b, &r.Value, r.Stats)
}

// metric appends a series of a metric.
func (e *Encoder) metric(b []byte, m *record.Metric) []byte {
	b = e.text(b, "name", m.Name)
	b = e.text(b, "kind", m.Type.String())
	if m.Unit != "" {
		b = e.text(b, "unit", m.Unit)
	}
	if m.Help != "" {
		b = e.text(b, "help", m.Help)
	}
	b = e.fields(b, "labels", m.Labels)
	b = e.time(b, "begin", m.Begin)
	b = e.time(b, "time", m.Time)
	return e.measured(b, &m.Value, m.Stats)
}

// measured appends a value, or an aggregate if there is one.
func (e *Encoder) measured(b []byte, v *record.Value, s *record.Stats) []byte {
	if s == nil {
		b = append(b, `,"value":`...)
		return e.value(b, v, "", "value")
	}
	b = append(b, `,"stats":{"count":`...)
	b = strconv.AppendInt(b, s.Count, 10)
	b = number(b, "sum", s.Sum)
	if s.Count > 0 {
		b = number(b, "min", s.Min)
		b = number(b, "max", s.Max)
		b = number(b, "avg", s.Avg)
	}
	if s.Scale > 1 {
		b = number(b, "scale", s.Scale)
	}
	b = append(b, '}')
	if len(s.Histograms) == 0 {
		return b
	}
	b = append(b, `,"histograms":[`...)
	for i := range s.Histograms {
		if i > 0 {
			b = append(b, ',')
		}
		b = histogram(b, &s.Histograms[i])
	}
	return append(b, ']')
}

func histogram(b []byte, h *record.Buckets) []byte {
	if h.Linear {
		b = append(b, `{"kind":"linear"`...)
		b = number(b, "low", h.Low)
		b = number(b, "high", h.High)
		b = number(b, "width", h.Width)
	} else {
		b = append(b, `{"kind":"log"`...)
	}
	b = append(b, `,"buckets":[`...)
	for i, k := range h.Buckets {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"from":`...)
		b = strconv.AppendInt(b, k.From, 10)
		b = number(b, "to", k.To)
		b = number(b, "count", k.Count)
		b = append(b, '}')
	}
	return append(b, `]}`...)
}

// end ends a line, with the bytes of what is no UTF-8.
func (e *Encoder) end(b []byte) []byte {
	if len(e.raw) > 0 {
		b = append(b, `,"raw":{`...)
		for i := 0; i < len(e.raw); i += 2 {
			if i > 0 {
				b = append(b, ',')
			}
			b, _ = quote(b, e.raw[i])
			b = append(b, `:"`...)
			b = base64.StdEncoding.AppendEncode(b, []byte(e.raw[i+1]))
			b = append(b, '"')
		}
		b = append(b, '}')
		e.raw = e.raw[:0]
	}
	return append(b, "}\n"...)
}

func (e *Encoder) text(b []byte, name, s string) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	b, ok := quote(b, s)
	if !ok {
		e.raw = append(e.raw, "/"+name, s)
	}
	return b
}

func number(b []byte, name string, n int64) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendInt(b, n, 10)
}

// time appends a time: RFC 3339, UTC, with nine digits behind the seconds.
func (e *Encoder) time(b []byte, name string, t time.Time) []byte {
	if sec := t.Unix(); sec != e.at || e.second == nil {
		e.second, e.at = t.UTC().AppendFormat(e.second[:0], `"2006-01-02T15:04:05.`), sec
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	b = append(b, e.second...)
	n, at := t.Nanosecond(), len(b)
	b = append(b, `000000000Z"`...)
	for i := at + 8; n > 0; i-- {
		b[i] = '0' + byte(n%10)
		n /= 10
	}
	return b
}

const hex = "0123456789abcdef"

// quote appends a string of JSON. What is no UTF-8 becomes U+FFFD, one for each byte; ok tells that there was none.
func quote(b []byte, s string) (_ []byte, ok bool) {
	b = append(b, '"')
	ok = true
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < 0x7f {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			ok = false
			b = append(append(b, s[from:i]...), "\ufffd"...)
		} else {
			b = append(b, s[from:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\t':
				b = append(b, '\\', 't')
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"'), ok
}
