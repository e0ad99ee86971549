package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/export/jsonlines"
	"github.com/gostap/gostap/runtime/export/record"
	"github.com/gostap/gostap/runtime/export/table"
)

// The values of --format; "" is text.
const (
	formatJSON   = "json"
	formatCSV    = "csv"
	formatSchema = "json-schema"
)

// notFormat are the options that do not go with --format, with the reason.
var notFormat = map[string]string{
	"interactive":        "its lines are for people",
	"monitor":            "its window is for people",
	"folded":             "what it prints has a form of its own",
	"flight-recorder":    "its messages go to the file of the output",
	"list":               "it lists probe points",
	"list-vars":          "it lists probe points",
	"emit":               "it writes a script for others",
	"dump-functions":     "it lists the library",
	"dump-probe-types":   "it lists the library",
	"dump-probe-aliases": "it lists the library",
	"remote":             "lines of several hosts have their names",
}

// checkFormat looks at --format.
func (o *options) checkFormat(fs *pflag.FlagSet) error {
	if !fs.Changed("format") {
		return nil
	}
	switch o.format {
	case "text":
		o.format = ""
		return nil
	case formatJSON, formatCSV, formatSchema:
	default:
		return slip.New(fmt.Sprintf("--format takes text, json, csv or json-schema, not %q", o.format),
			"--format=json writes an object a line, which --format=json-schema describes")
	}
	return refuses(fs, notFormat, "--format="+o.format)
}

// checkValues refuses programs that were translated without --format: nothing tells their prints apart.
func (c *command) checkValues(p *gostap.Program) error {
	if c.format == "" || p.Values() {
		return nil
	}
	name := c.plan + c.module
	return slip.New(fmt.Sprintf("%s was made for text: what its prints print cannot be told apart", name),
		"give --format="+c.format+" when it is made, too")
}

// aside is where system() of the script prints while the output is for programs.
type aside struct {
	io.Writer
	turn interface{ Next() error }
	pend func() error
}

// Next has the output go on in another file, for switch_file().
func (a *aside) Next() error {
	if err := a.pend(); err != nil || a.turn == nil {
		return err
	}
	return a.turn.Next()
}

// exporter writes what a session says for programs. rows are for prints, if there is one; messages are told on errw
// then.
type exporter struct {
	out    io.Writer
	errw   io.Writer
	enc    jsonlines.Encoder
	rows   *table.Encoder
	buf    []byte
	rec    record.Record
	noWarn bool
}

// mostBuffered is how many bytes wait to be written while a session has more to say.
const mostBuffered = 64 << 10

// export runs a session to its end and writes what it says in the form of --format.
func (c *command) export(ctx context.Context, p *gostap.Program, s *gostap.Session, out io.Writer,
	started func() error) error {
	defer lessCollecting(400)()
	e := &exporter{out: out, errw: c.Err, noWarn: c.noWarn}
	if c.format == formatCSV {
		e.rows = &table.Encoder{Fields: p.Fields()}
		e.buf = e.rows.Begin(e.buf)
	} else {
		e.buf = e.enc.Begin(e.buf, c.begin())
	}
	side := &aside{Writer: c.Err, pend: e.flush}
	side.turn, _ = out.(interface{ Next() error })
	err := s.Each(ctx, side, e.event, e.flush, started)
	var f *gostap.Failure
	if errors.As(err, &f); e.rows == nil && (err == nil || f != nil && !f.Stopped) {
		g, gerr := s.Globals()
		err = cmp.Or(err, gerr, e.globals(g))
	}
	end := record.End{Time: time.Now()}
	if err != nil {
		end.Status, end.Error = 1, words(err)
	}
	if f != nil {
		end.Errors = f.Errors
		fmt.Fprintf(c.Err, "error: %s\n", f) // messages went to the output
	}
	if e.rows == nil {
		e.buf = e.enc.End(e.buf, &end)
	}
	if ferr := e.flush(); err == nil {
		err = ferr
	}
	return err
}

// begin says what runs where.
func (c *command) begin() *record.Session {
	s := &record.Session{Version: Version, Time: time.Now()}
	s.Host, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		s.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	switch {
	case c.plan != "" || c.module != "":
		s.Script = filepath.Base(c.plan + c.module)
	case c.hasText:
		s.Script = "<input>"
	case c.tool != nil:
		s.Script = c.tool.name
	case c.file == "-":
		s.Script = "<stdin>"
	default:
		s.Script = c.file
	}
	return s
}

// flush writes what waits.
func (e *exporter) flush() error {
	if len(e.buf) == 0 {
		return nil
	}
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// event takes what the session says.
func (e *exporter) event(v gostap.Event) error {
	r := &e.rec
	*r = record.Record{Fields: r.Fields[:0], Text: v.Text, CPU: v.CPU}
	switch v.Kind {
	case gostap.Print:
		if e.rows == nil && len(v.Names) == 1 && v.Names[0] == ir.Unread {
			return nil // a line of its own says it as data
		}
		r.Time, r.PID, r.TID, r.Probe = v.Time, v.PID, v.TID, v.Point
		for i := range v.Args {
			if i < len(v.Names) && v.Names[i] != "" && v.Names[i] != ir.Unread {
				r.Fields = append(r.Fields, record.Field{Name: v.Names[i], Value: exported(&v.Args[i])})
			}
		}
	case gostap.Text:
		r.Kind = record.Text
		if h := v.Printed; h != nil {
			r.Kind, r.Name, r.Stats = record.Histogram, h.Global, exportedStats(h.Stats)
			r.Keys = exportedKeys(h.Key)
		}
	case gostap.Warning:
		r.Kind = record.Warning
		if e.noWarn && v.Code != "" {
			return nil
		}
		r.Code, r.File, r.Line, r.Column = v.Code, v.File, v.Line, v.Column
	case gostap.Fault:
		r.Kind = record.Error
		r.Code, r.File, r.Line, r.Column = v.Code, v.File, v.Line, v.Column
	case gostap.Lost:
		r.Kind, r.Cause, r.Count = record.Lost, v.Cause, v.Count
	}
	return e.add()
}

// add adds the line of the record at hand.
func (e *exporter) add() error {
	switch {
	case e.rows == nil:
		e.buf = e.enc.Append(e.buf, &e.rec)
	case e.rec.Kind == record.Warning && e.rec.Code != "": // the compiler's, which was told
	case e.rec.Kind == record.Warning, e.rec.Kind == record.Lost:
		fmt.Fprintf(e.errw, "WARNING: %s\n", diag.Visible(e.rec.Text))
	case e.rec.Kind == record.Error:
		fmt.Fprintf(e.errw, "ERROR: %s\n", diag.Visible(e.rec.Text))
	default:
		e.buf = e.rows.Append(e.buf, &e.rec)
	}
	if len(e.buf) >= mostBuffered {
		return e.flush()
	}
	return nil
}

// globals adds those that are printed at the end.
func (e *exporter) globals(globals gostap.Globals) error {
	for _, name := range slices.Sorted(maps.Keys(globals)) {
		g := globals[name]
		if !g.Unread {
			continue
		}
		for i := range g.Elements {
			el := &g.Elements[i]
			e.rec = record.Record{Kind: record.Global, Name: name, Keys: exportedKeys(el.Key)}
			if el.Stats != nil {
				e.rec.Stats = exportedStats(el.Stats)
			} else {
				e.rec.Value = exported(&el.Value)
			}
			if err := e.add(); err != nil {
				return err
			}
		}
	}
	return nil
}

func exportedKeys(keys []gostap.Value) (out []record.Value) {
	for i := range keys {
		out = append(out, exported(&keys[i]))
	}
	return out
}

func exportedStats(s *gostap.Stats) *record.Stats {
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

// exported gives a value as it is exported: of stacks the frames as they are printed.
func exported(v *gostap.Value) record.Value {
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
