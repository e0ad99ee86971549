// Package table writes what scripts print as CSV (RFC 4180), a row a print, as docs/json.md says.
//
// In: records of prints and texts. Out: rows, appended to bytes.
package table

import (
	"strconv"
	"strings"

	"github.com/gostap/gostap/runtime/export/record"
)

// Encoder appends rows. Fields are the names of the columns behind those that all tables have.
type Encoder struct{ Fields []string }

// Begin appends the row with the names of the columns.
func (e *Encoder) Begin(b []byte) []byte {
	b = append(b, "time,pid,tid,cpu,probe,text"...)
	for _, f := range e.Fields {
		b = cell(append(b, ','), f)
	}
	return append(b, '\n')
}

// Append appends a print or a text. The newline at its end is left out; what is not known is empty.
func (e *Encoder) Append(b []byte, r *record.Record) []byte {
	print := r.Kind == record.Print
	if known := print && !r.Time.IsZero(); known {
		b = r.Time.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000000Z")
		b = strconv.AppendInt(append(b, ','), int64(r.PID), 10)
		b = strconv.AppendInt(append(b, ','), int64(r.TID), 10)
	} else {
		b = append(b, ",,"...)
	}
	if b = append(b, ','); print && r.CPU >= 0 {
		b = strconv.AppendInt(b, int64(r.CPU), 10)
	}
	b = cell(append(b, ','), r.Probe)
	b = cell(append(b, ','), strings.TrimSuffix(r.Text, "\n"))
	for _, name := range e.Fields {
		b = append(b, ',')
		for i := range r.Fields {
			if r.Fields[i].Name == name {
				b = value(b, &r.Fields[i].Value)
			}
		}
	}
	return append(b, '\n')
}

func value(b []byte, v *record.Value) []byte {
	switch v.Type {
	case record.Uint:
		return strconv.AppendUint(b, uint64(v.Int), 10)
	case record.Float:
		return strconv.AppendFloat(b, v.Float, 'g', -1, 64)
	case record.String:
		return cell(b, v.Text)
	case record.Stack:
		return cell(b, strings.Join(v.Stack, "\n"))
	}
	return strconv.AppendInt(b, v.Int, 10)
}

// cell appends a text, in quotes where it has what ends a cell.
func cell(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(s, `"`, `""`)...), '"')
}
