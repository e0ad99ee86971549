package tests

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/tests/pages"
)

// kindCount is what was compared of one kind of value.
type kindCount struct {
	by   [wrong + 1]int
	gone int // optimised away, which the script was told
}

func (k *kindCount) add(o kindCount) {
	for i := range k.by {
		k.by[i] += o.by[i]
	}
	k.gone += o.gone
}

// kindTable counts values by their kinds.
type kindTable map[string]*kindCount

func (k kindTable) of(kind string) *kindCount {
	if k[kind] == nil {
		k[kind] = &kindCount{}
	}
	return k[kind]
}

func (k kindTable) all() (sum kindCount) {
	for _, c := range k {
		sum.add(*c)
	}
	return sum
}

func (c kindCount) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d |\n", name, c.by[equal], c.by[cut], c.by[unknown], c.gone,
		c.by[wrong])
}

const (
	countHead = " | equal | cut | ? | gone | wrong |\n"
	countRule = "|--:|--:|--:|--:|--:|\n"
)

// truthTable is what was compared, by releases of Go and builds.
type truthTable struct {
	releases, builds []string
	counts           map[[2]string]kindTable
}

func (t *truthTable) of(release, build string) kindTable {
	if !slices.Contains(t.releases, release) {
		t.releases = append(t.releases, release)
	}
	if !slices.Contains(t.builds, build) {
		t.builds = append(t.builds, build)
	}
	k := [2]string{release, build}
	if t.counts[k] == nil {
		if t.counts == nil {
			t.counts = map[[2]string]kindTable{}
		}
		t.counts[k] = kindTable{}
	}
	return t.counts[k]
}

// String is two tables: by kinds and releases, and by builds.
func (t *truthTable) String() string {
	var out strings.Builder
	kinds, by := kindTable{}, map[[2]string]*kindCount{}
	for k, table := range t.counts {
		for name, c := range table {
			kinds.of(name).add(*c)
			at := [2]string{name, k[0]}
			if by[at] == nil {
				by[at] = &kindCount{}
			}
			by[at].add(*c)
		}
	}
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	out.WriteString("| kind |")
	for _, r := range t.releases {
		out.WriteString(" " + r + " |")
	}
	out.WriteString(countHead[2:] + "|---|" + strings.Repeat("--:|", len(t.releases)) + countRule[1:])
	for _, name := range names {
		out.WriteString("| " + name + " |")
		for _, r := range t.releases {
			c := by[[2]string{name, r}]
			if c == nil {
				c = &kindCount{}
			}
			fmt.Fprintf(&out, " %d |", c.by[equal])
		}
		out.WriteString(strings.TrimPrefix(kinds[name].row(""), "|  |"))
	}
	out.WriteString("\n| Go | build" + countHead + "|---|---" + countRule)
	var sum kindCount
	for _, r := range t.releases {
		for _, b := range t.builds {
			if k := t.counts[[2]string{r, b}]; k != nil {
				c := k.all()
				sum.add(c)
				out.WriteString(c.row(r + " | " + b))
			}
		}
	}
	out.WriteString(sum.row("all | "))
	return out.String()
}

// write puts the tables into a page, between two marks, where GOSTAP_TABLE names one.
func (t *truthTable) write(tb testing.TB) {
	page := os.Getenv("GOSTAP_TABLE")
	if page == "" || tb.Failed() {
		return
	}
	if err := pages.Write(page, "<!-- values -->\n", "<!-- end of values -->\n", t.String()); err != nil {
		tb.Fatal(err)
	}
}
