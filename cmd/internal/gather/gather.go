// Package gather makes one stream of what the sessions of several machines say for programs (--format, --export).
//
// In: the JSON lines or the rows of CSV that each session writes, as they come. Out: one stream on a writer, of which
// each line or row has the name of the machine that it came from.
package gather

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/runtime/export/jsonlines"
	"github.com/gostap/gostap/runtime/export/record"
)

// Stream is what all machines say.
type Stream struct {
	to    io.Writer
	table bool
	fleet bool // rows have columns for nodes and pods
	tell  func(string)

	mu     sync.Mutex
	header []byte // of the table, when it was written
	fitted bool   // rows of others are cut or filled up to it
	err    error  // the first of to
	status int
	errors int
	order  *order
	clocks map[*Source]*clock // of machines that have begun, nil while nothing is known
}

// New makes a stream of JSON lines, or of rows with a table. fleet says that the machines are nodes of a cluster. tell
// prints what is about a table, which has no rows for that.
func New(to io.Writer, table, fleet bool, tell func(string)) *Stream {
	return &Stream{to: to, table: table, fleet: fleet, tell: tell, clocks: map[*Source]*clock{}}
}

// Origin is where something came from; what is not known is "".
type Origin struct{ Machine, Node, Namespace, Pod string }

// members are the names of an Origin's parts, in lines and as columns.
var members = [...]string{"machine", "node", "namespace", "pod"}

func (o Origin) parts() [4]string { return [4]string{o.Machine, o.Node, o.Namespace, o.Pod} }

// Begin writes the first line where no session here does.
func (s *Stream) Begin(r *record.Session) error {
	if s.table {
		return nil // the columns are those of the machines
	}
	return s.write(new(jsonlines.Encoder).Begin(nil, r))
}

// End writes the last line where no session here does. status is that of the command.
func (s *Stream) End(status int) error {
	end := record.End{Time: time.Now(), Status: status}
	s.Close(&end)
	s.Settle()
	if s.table {
		return s.failed()
	}
	return s.write(new(jsonlines.Encoder).End(nil, &end))
}

// Close adds the ends of the machines to that of a session here.
func (s *Stream) Close(end *record.End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if end.Errors += s.errors; s.status > end.Status {
		end.Status = s.status
	}
	if end.Status != 0 && end.Error == "" {
		end.Error = "the session of a machine failed"
	}
}

func (s *Stream) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Stream) write(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		_, s.err = s.to.Write(b)
	}
	return s.err
}

// Here is a writer for what a session here says, which is of no machine. What is written has whole lines or rows.
func (s *Stream) Here() io.Writer {
	return &here{s: s, rows: s.Source(func() Origin { return Origin{} })}
}

type here struct {
	s    *Stream
	rows *Source
}

func (h *here) Write(b []byte) (int, error) {
	if !h.s.table && h.s.order == nil {
		return len(b), h.s.write(b)
	}
	if !h.s.table {
		for line := range bytes.Lines(b) {
			at, own := h.rows.at(line)
			h.s.put(at, own, h.rows, bytes.Clone(line))
		}
		return len(b), h.s.failed()
	}
	h.s.mu.Lock()
	h.s.fitted = true
	h.s.mu.Unlock()
	h.rows.Write(b)
	return len(b), h.s.failed()
}

// Next has the output go on in another file.
func (h *here) Next() error {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if n, ok := h.s.to.(interface{ Next() error }); ok {
		return n.Next()
	}
	return nil
}

// Source is what one machine says. It is for one goroutine.
type Source struct {
	s      *Stream
	of     func() Origin
	rest   []byte
	looked int  // at so much of rest
	quoted bool // rest is within a quoted cell there
	named  bool // the row with the names of columns has come
	ended  bool // the line of the end has come
	bad    bool // what comes is left out
	cells  int  // how many rows have more than the table, or less if it is negative
	failed string
	last   time.Time // of the last line that has one
}

// Source begins a machine. of says what it is; it is asked for each line.
func (s *Stream) Source(of func() Origin) *Source { return &Source{s: s, of: of} }

// longest is how many bytes a line can have.
const longest = 64 << 20

// Write takes what the session there printed.
func (r *Source) Write(b []byte) {
	if r.bad {
		return
	}
	r.rest = append(r.rest, b...)
	var out []byte
	for {
		n := r.whole()
		if n == 0 {
			break
		}
		if r.s.order != nil && !r.s.table {
			at, own := r.at(r.rest[:n])
			if line := r.add(nil, r.rest[:n]); len(line) > 0 {
				r.s.put(at, own, r, line)
			}
		} else {
			out = r.add(out, r.rest[:n])
		}
		if r.bad {
			break
		}
		r.rest, r.looked, r.quoted = r.rest[n:], 0, false
	}
	if len(r.rest) > longest && !r.bad {
		r.refuse("a line from there has no end")
	}
	if len(out) > 0 {
		r.s.write(out)
	}
}

// whole is the length of the first line or row of rest, 0 if it has not come to its end.
func (r *Source) whole() int {
	for ; r.looked < len(r.rest); r.looked++ {
		switch c := r.rest[r.looked]; {
		case c == '"' && r.s.table:
			r.quoted = !r.quoted
		case c == '\n' && !r.quoted:
			return r.looked + 1
		}
	}
	return 0
}

// refuse leaves out what comes from now on, and says why.
func (r *Source) refuse(why string) {
	r.bad, r.rest = true, nil
	r.Failed(why + "; what it says is left out from here on")
}

// Failed says why the session there has failed.
func (r *Source) Failed(why string) {
	if r.failed == "" {
		r.failed = why
	}
}

func (r *Source) add(out, line []byte) []byte {
	if r.s.table {
		return r.row(out, line)
	}
	typ, after, ok := bytes.Cut(bytes.TrimPrefix(line, []byte(`{"type":"`)), []byte(`"`))
	if !ok || !bytes.HasPrefix(line, []byte(`{"type":"`)) || !json.Valid(line) {
		r.refuse("what comes from there is no line of gostap --format=json")
		return out
	}
	var known []byte
	switch string(typ) {
	case "begin":
		typ, known = []byte("machine-begin"), r.known()
		r.begun()
	case "end":
		typ, known, r.ended = []byte("machine-end"), r.known(), true
		var end struct{ Status, Errors int }
		if json.Unmarshal(line, &end) == nil {
			r.count(end.Status, end.Errors)
		}
	}
	out = append(append(append(out, `{"type":"`...), typ...), '"')
	for i, text := range r.of().parts() {
		if text != "" {
			quoted, _ := json.Marshal(text) // of a string there is no error
			out = append(append(append(append(out, `,"`...), members[i]...), `":`...), quoted...)
		}
	}
	return append(append(out, known...), after...)
}

func (r *Source) count(status, errors int) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.status, r.s.errors = max(r.s.status, status), r.s.errors+errors
}

// columns are those in front of a table's own.
func (s *Stream) columns() int {
	if s.fleet {
		return len(members)
	}
	return 1
}

// row appends a row. All machines have the same columns.
func (r *Source) row(out, row []byte) []byte {
	n := r.s.columns()
	if !r.named {
		r.named = true
		r.s.mu.Lock()
		first := r.s.header == nil
		if first {
			r.s.header = bytes.Clone(row)
		}
		header, fitted := r.s.header, r.s.fitted
		r.s.mu.Unlock()
		if !bytes.Equal(header, row) && !(fitted && r.fit(header, row)) {
			r.refuse(fmt.Sprintf("its table has the columns %q, and that of another machine has %q",
				bytes.TrimSpace(row), bytes.TrimSpace(header)))
			return out
		}
		if !first {
			return out
		}
		return append(append(append(out, strings.Join(members[:n], ",")...), ','), row...)
	}
	parts := r.of().parts()
	for _, text := range parts[:n] {
		if strings.ContainsAny(text, ",\"\r\n") {
			text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
		out = append(append(out, text...), ',')
	}
	switch {
	case r.cells > 0:
		at := cells(row)
		return append(append(out, row[:at[len(at)-1-r.cells]]...), '\n')
	case r.cells < 0:
		row = row[:len(row)-1]
		return append(append(append(out, row...), strings.Repeat(",", -r.cells)...), '\n')
	}
	return append(out, row...)
}

// fit finds how rows are made to have the columns of the table, of which they have the first or which they begin with:
// the parts of a divided script print other fields, whose values are in the text as well.
func (r *Source) fit(header, row []byte) bool {
	long, short := cells(row), cells(header)
	r.cells = len(long) - len(short)
	a, b := row, header
	if len(a) > len(b) {
		a, b = b, a
	}
	return bytes.HasPrefix(b, append(bytes.Clone(a[:len(a)-1]), ','))
}

// cells are the places where the cells of a row end.
func cells(row []byte) (ends []int) {
	quoted := false
	for i, c := range row {
		switch {
		case c == '"':
			quoted = !quoted
		case (c == ',' || c == '\n') && !quoted:
			ends = append(ends, i)
		}
	}
	return ends
}

// End says that no more comes from there. status is that of the session.
func (r *Source) End(status int) {
	if len(r.rest) > 0 {
		r.refuse("a line from there was cut off")
	}
	if r.failed != "" {
		status = max(status, 1)
	}
	r.count(status, 0)
	switch {
	case r.s.table && r.bad:
		r.s.tell(fmt.Sprintf("error: %s: %s", diag.Visible(r.of().Machine), diag.Visible(r.failed)))
	case !r.s.table && (!r.ended || r.bad):
		if r.failed == "" {
			r.failed = "its session ended before it had begun"
		}
		end := record.End{Time: time.Now(), Status: max(status, 1), Error: r.failed}
		line := new(jsonlines.Encoder).End(nil, &end)
		if r.bad = false; r.ended {
			return // its own line has come
		}
		switch out := r.add(nil, line); {
		case r.bad:
		case r.s.order != nil:
			r.s.put(end.Time.Add(r.clock().ahead), true, r, out) // as the clock there has it
		default:
			r.s.write(out)
		}
	}
}
