// Package records writes what a session says for programs: JSON lines, or a table of what is printed.
//
// In: a program and its session, which is run to its end. Out: records on a writer, in the order in which things
// happened; the metrics that the script declares, again and again. Messages of a table go to another writer.
package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/export/record"
	"github.com/gostap/gostap/runtime/export/table"
)

// Config says what is written, and where.
type Config struct {
	// Out gets the records, Err the messages of a table and what the script's system() prints.
	Out, Err io.Writer
	// Encoder makes bytes of records, nil: they are a table.
	Encoder Encoder
	// Whole says that what is written is one file, which does not go on in another.
	Whole bool
	// NoWarnings leaves out those of the compiler.
	NoWarnings bool
	Session    *record.Session
	// Every is how often metrics are written.
	Every time.Duration
	// Ended, if not nil, has the last word about the end.
	Ended func(*record.End)
	// Words says in words what an error is.
	Words func(error) string
}

// Encoder makes bytes of what a session says, appended to others.
type Encoder interface {
	Begin(b []byte, s *record.Session) []byte
	Append(b []byte, r *record.Record) []byte
	// Flush appends what was kept, before there is nothing to say for a while.
	Flush(b []byte) []byte
	End(b []byte, e *record.End) []byte
	// Err says what could not be written beside.
	Err() error
}

// aside is where system() of the script prints while the output is for programs.
type aside struct {
	io.Writer
	turn  interface{ Next() error }
	pend  func() error
	whole bool
}

// Next has the output go on in another file, for switch_file().
func (a *aside) Next() error {
	if a.whole {
		return errors.New("switch_file(): this format is one file, which does not go on in another")
	}
	if err := a.pend(); err != nil || a.turn == nil {
		return err
	}
	return a.turn.Next()
}

// writer writes the records. rows are for prints, if there is one; messages are told on errw then.
type writer struct {
	// mu is held while the rest is used: metrics are written beside the session.
	mu     sync.Mutex
	out    io.Writer
	errw   io.Writer
	enc    Encoder
	rows   *table.Encoder
	buf    []byte
	rec    record.Record
	noWarn bool
}

// mostBuffered is how many bytes wait to be written while a session has more to say.
const mostBuffered = 64 << 10

// Run runs a session to its end and writes what it says. started is called when the probes are in place.
func Run(ctx context.Context, p *gostap.Program, s *gostap.Session, started func() error, cfg Config) error {
	w := &writer{out: cfg.Out, errw: cfg.Err, noWarn: cfg.NoWarnings, enc: cfg.Encoder}
	if w.enc == nil {
		w.rows = &table.Encoder{Fields: p.Fields()}
		w.buf = w.rows.Begin(w.buf)
	} else {
		w.buf = w.enc.Begin(w.buf, cfg.Session)
	}
	if err := w.flush(); err != nil { // others may write behind it
		return err
	}
	side := &aside{Writer: cfg.Err, pend: w.pause, whole: cfg.Whole}
	side.turn, _ = cfg.Out.(interface{ Next() error })
	points := newPoints(w, cfg.Session.Time)
	wait := func() {}
	if w.rows == nil && p.Metrics() {
		wait = points.every(s, cfg.Every)
	}
	err := s.Each(ctx, side, w.event, w.pause, started)
	wait()
	var f *gostap.Failure
	errors.As(err, &f)
	g, gerr := s.Globals()
	if w.rows == nil && gerr == nil && p.Metrics() { // what was counted is right also where an error ended the script
		gerr = cmp.Or(points.add(g, time.Now()), points.end())
	}
	if w.rows == nil && (err == nil || f != nil && !f.Stopped) {
		err = cmp.Or(err, gerr, w.globals(g))
	}
	end := record.End{Time: time.Now()}
	if err != nil {
		end.Status, end.Error = 1, cfg.Words(err)
	}
	if f != nil {
		end.Errors = f.Errors
		fmt.Fprintf(cfg.Err, "error: %s\n", f) // messages went to the output
	}
	if cfg.Ended != nil {
		cfg.Ended(&end)
	}
	if w.rows == nil {
		w.buf = w.enc.End(w.buf, &end)
	}
	if ferr := w.flush(); err == nil {
		err = ferr
	}
	return err
}

// pause writes what waits when the session has nothing more to say for now.
func (w *writer) pause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.enc != nil {
		w.buf = w.enc.Flush(w.buf)
	}
	return w.flush()
}

// flush writes what waits.
func (w *writer) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	if err == nil && w.enc != nil {
		err = w.enc.Err()
	}
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// event takes what the session says.
func (w *writer) event(v gostap.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &w.rec
	*r = record.Record{Fields: r.Fields[:0], Text: v.Text, CPU: v.CPU}
	switch v.Kind {
	case gostap.Print:
		if w.rows == nil && len(v.Names) == 1 && v.Names[0] == ir.Unread {
			return nil // a line of its own says it as data
		}
		r.Time, r.PID, r.TID, r.Probe = v.Time, v.PID, v.TID, v.Point
		w.named(&v)
	case gostap.Text:
		r.Kind = record.Text
		if h := v.Printed; h != nil {
			r.Kind, r.Name, r.Stats = record.Histogram, h.Global, statsOf(h.Stats)
			r.Keys = keysOf(h.Key)
		}
	case gostap.Warning:
		r.Kind = record.Warning
		if w.noWarn && v.Code != "" {
			return nil
		}
		r.Code, r.File, r.Line, r.Column = v.Code, v.File, v.Line, v.Column
	case gostap.Fault:
		r.Kind = record.Error
		r.Code, r.File, r.Line, r.Column = v.Code, v.File, v.Line, v.Column
	case gostap.Lost:
		r.Kind, r.Cause, r.Count = record.Lost, v.Cause, v.Count
	}
	return w.add()
}

// named gives the record at hand the values of a print that have names.
func (w *writer) named(v *gostap.Event) {
	r := &w.rec
	for i := range min(len(v.Args), len(v.Names)) {
		switch n := v.Names[i]; n {
		case "", ir.Unread:
		case ir.SpanName:
			r.Kind, r.Name = record.Span, v.Args[i].Text
			if !v.Args[i].IsText {
				r.Name = fmt.Sprint(v.Args[i].Int)
			}
		case ir.SpanTime:
			r.Begin = r.Time.Add(-time.Duration(v.Args[i].Int))
		default:
			r.Fields = append(r.Fields, record.Field{Name: n, Value: valueOf(&v.Args[i])})
		}
	}
}

// add adds the line of the record at hand.
func (w *writer) add() error {
	switch {
	case w.rows == nil:
		w.buf = w.enc.Append(w.buf, &w.rec)
	case w.rec.Kind == record.Warning && w.rec.Code != "": // the compiler's, which was told
	case w.rec.Kind == record.Warning, w.rec.Kind == record.Lost:
		fmt.Fprintf(w.errw, "WARNING: %s\n", diag.Visible(w.rec.Text))
	case w.rec.Kind == record.Error:
		fmt.Fprintf(w.errw, "ERROR: %s\n", diag.Visible(w.rec.Text))
	default:
		w.buf = w.rows.Append(w.buf, &w.rec)
	}
	if len(w.buf) >= mostBuffered {
		return w.flush()
	}
	return nil
}

// globals adds those that are printed at the end, in that order.
func (w *writer) globals(globals gostap.Globals) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.SortedFunc(maps.Keys(globals), func(a, b string) int {
		return cmp.Compare(globals[a].Place, globals[b].Place)
	})
	for _, name := range names {
		g := globals[name]
		if !g.Unread {
			continue
		}
		for i := range g.Elements {
			el := &g.Elements[i]
			w.rec = record.Record{Kind: record.Global, Name: name, Keys: keysOf(el.Key)}
			if g.Metric != nil {
				w.rec.Metric = &record.Metric{Name: g.Metric.Name}
			}
			if el.Stats != nil {
				w.rec.Stats = statsOf(el.Stats)
			} else {
				w.rec.Value = valueOf(&el.Value)
			}
			if err := w.add(); err != nil {
				return err
			}
		}
	}
	return nil
}
