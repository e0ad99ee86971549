package tests

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// kindOf is the kind that a value of a basic type of the generated programs is counted as.
func kindOf(name string) string {
	switch name {
	case "int8", "int16", "int32", "int64", "int", "uint8", "uint16", "uint32", "uint64", "uint", "uintptr":
		return "integer"
	case "float32", "float64":
		return "float"
	case "complex64", "complex128":
		return "complex"
	case "any":
		return "interface"
	case "unsafe.Pointer":
		return "pointer"
	case "[]byte":
		return name
	}
	switch {
	case strings.HasPrefix(name, "[]"):
		return "slice"
	case strings.HasPrefix(name, "map["):
		return "map"
	case strings.HasPrefix(name, "chan "):
		return "channel"
	case strings.HasPrefix(name, "func("):
		return "function"
	case strings.HasPrefix(name, "*"):
		return "pointer"
	case strings.HasPrefix(name, "atomic."):
		return "sync/atomic"
	}
	return name
}

// kindCount is what was compared of one kind of value.
type kindCount struct {
	equal   int
	unknown int // "?": in a vector register
	gone    int // optimised away, which the script was told
	wrong   int
}

// kindTable counts values by their kinds.
type kindTable map[string]*kindCount

func (k kindTable) of(kind string) *kindCount {
	if k[kind] == nil {
		k[kind] = &kindCount{}
	}
	return k[kind]
}

// column counts what one variable is made of, which is of kinds. shown says of each fraction in it whether there was
// one.
func (k kindTable) column(kinds []string, shown []bool) {
	for _, kind := range kinds {
		if fraction := kind == "float" || kind == "complex"; fraction && len(shown) > 0 {
			yes := shown[0]
			if shown = shown[1:]; !yes {
				k.of(kind).unknown++
				continue
			}
		}
		k.of(kind).equal++
	}
}

// String is the table, and below it the sums.
func (k kindTable) String() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 1, ' ', 0)
	var names []string
	sum := kindCount{}
	for name, c := range k {
		names = append(names, name)
		sum.equal, sum.unknown, sum.gone, sum.wrong = sum.equal+c.equal, sum.unknown+c.unknown, sum.gone+c.gone,
			sum.wrong+c.wrong
	}
	slices.Sort(names)
	row := func(name string, c kindCount) {
		fmt.Fprintf(w, "| %s\t| %d\t| %d\t| %d\t| %d\t|\n", name, c.equal, c.unknown, c.gone, c.wrong)
	}
	fmt.Fprint(w, "| kind\t| equal\t| ?\t| gone\t| wrong\t|\n|---\t|--:\t|--:\t|--:\t|--:\t|\n")
	for _, name := range names {
		row(name, *k[name])
	}
	row("all", sum)
	w.Flush()
	return out.String()
}
