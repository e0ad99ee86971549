// Package metric has what a script says of a global variable that is a metric: its name for monitoring, the names of
// its keys, its unit.
//
// In: the text that a program carries. Out: what it says, and back.
package metric

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Decl is a metric. Its text is that of the script: "requests_total" labels "path, status" unit "ns" help "..." max 10.
type Decl struct {
	Name   string   // [a-zA-Z_:][a-zA-Z0-9_:]*, as Prometheus has names
	Labels []string // of the keys of an array, one for each: [a-zA-Z_][a-zA-Z0-9_]*
	Unit   string   // [a-zA-Z0-9_/%]*, "" if it is not told
	Help   string
	// Max is how many series are told of an array at most.
	Max int
}

// MaxSeries is Decl.Max where the script says nothing.
const MaxSeries = 2000

// Counter reports whether it is a sum that only grows, as the end of its name says.
func (d *Decl) Counter() bool { return strings.HasSuffix(d.Name, "_total") }

var (
	name  = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	label = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	unit  = regexp.MustCompile(`^[a-zA-Z0-9_/%]*$`)
)

// Set gives d what one word of a declaration says: "metric", "labels", "unit", "help" with a text, "max" with a number.
// The error says what is wrong.
func (d *Decl) Set(word, text string) error {
	switch word {
	case "metric":
		if !name.MatchString(text) {
			return fmt.Errorf("%q is no name of a metric: it has letters, digits, _ and :, and begins with no digit",
				text)
		}
		d.Name = text
	case "labels":
		d.Labels = nil
		for _, l := range strings.Split(text, ",") {
			if l = strings.TrimSpace(l); !label.MatchString(l) {
				return fmt.Errorf("%q is no name of a label: it has letters, digits and _, and begins with no digit", l)
			}
			if strings.HasPrefix(l, "__") || l == "le" || l == "quantile" {
				return fmt.Errorf("the label %q belongs to Prometheus itself", l)
			}
			for _, other := range d.Labels {
				if l == other {
					return fmt.Errorf("two labels are named %s", l)
				}
			}
			d.Labels = append(d.Labels, l)
		}
	case "unit":
		if !unit.MatchString(text) {
			return fmt.Errorf("%q is no unit: it has letters, digits, _, / and %%", text)
		}
		d.Unit = text
	case "help":
		d.Help = text
	case "max":
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1e6 {
			return fmt.Errorf("max is a number from 1 to 1000000, not %q", text)
		}
		d.Max = n
	default:
		return fmt.Errorf("%s is no word of a metric: there are metric, labels, unit, help and max", word)
	}
	return nil
}

// String is the text of d, which Parse reads.
func (d *Decl) String() string {
	var b strings.Builder
	b.WriteString(d.Name)
	if len(d.Labels) > 0 {
		b.WriteString(" labels " + strconv.Quote(strings.Join(d.Labels, ",")))
	}
	if d.Unit != "" {
		b.WriteString(" unit " + strconv.Quote(d.Unit))
	}
	if d.Help != "" {
		b.WriteString(" help " + strconv.Quote(d.Help))
	}
	if d.Max != 0 {
		b.WriteString(" max " + strconv.Quote(strconv.Itoa(d.Max)))
	}
	return b.String()
}

// Parse reads the text of a Decl.
func Parse(s string) (*Decl, error) {
	d := &Decl{}
	first, rest, _ := strings.Cut(s, " ")
	if err := d.Set("metric", first); err != nil {
		return nil, err
	}
	for rest != "" {
		word, after, _ := strings.Cut(rest, " ")
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			return nil, fmt.Errorf("metric %s: no text behind %q", first, word)
		}
		text, err := strconv.Unquote(quoted)
		if err == nil {
			err = d.Set(word, text)
		}
		if err != nil {
			return nil, err
		}
		rest = strings.TrimPrefix(after[len(quoted):], " ")
	}
	return d, nil
}
