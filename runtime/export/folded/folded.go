// Package folded writes and reads profiles as lines of text: the names of a stack's functions from the outermost on,
// with semicolons between, and a number. It is the form that flamegraph.pl and its successors read.
package folded

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/runtime/export"
)

// Write writes one value of p, a line for each row of names, in the order of the lines. labels are those that stand
// as frames behind the innermost one, in brackets. Semicolons and line ends in names become commas and spaces. Rows
// whose value is 0 are left out.
func Write(w io.Writer, p *export.Profile, value int, labels ...string) error {
	sum := map[string]int64{}
	for i := range p.Samples {
		s := &p.Samples[i]
		names := s.Names(labels...)
		for k, n := range names {
			names[k] = clean.Replace(n)
		}
		if len(names) == 0 {
			names = []string{"[unknown]"}
		}
		sum[strings.Join(names, ";")] += s.Values[value]
	}
	b := bufio.NewWriter(w)
	for _, k := range slices.Sorted(maps.Keys(sum)) {
		if sum[k] != 0 {
			fmt.Fprintf(b, "%s %d\n", k, sum[k])
		}
	}
	return b.Flush()
}

var clean = strings.NewReplacer(";", ",", "\n", " ", "\r", " ")

// maxLine bounds a line that is read, in bytes.
const maxLine = 1 << 20

// Read reads what Write wrote, or another program. Lines that begin with # and empty lines are left out. The unit is
// not in the text: it is "count".
func Read(r io.Reader) (*export.Profile, error) {
	p := &export.Profile{Types: []export.Type{{Name: "samples", Unit: "count"}}}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	for line := 1; sc.Scan(); line++ {
		text := strings.TrimSpace(sc.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		at := strings.LastIndexByte(text, ' ')
		n, err := strconv.ParseInt(text[at+1:], 10, 64)
		if at < 0 || err != nil {
			return nil, fmt.Errorf("line %d has no number behind its stack: %.60q", line, text)
		}
		var stack []export.Frame
		for _, name := range slices.Backward(strings.Split(text[:at], ";")) {
			stack = append(stack, export.Frame{Func: cmp.Or(name, "[unknown]")})
		}
		p.Samples = append(p.Samples, export.Sample{Stack: stack, Values: []int64{n}})
	}
	return p, sc.Err()
}
