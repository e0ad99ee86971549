// Package flame draws flame graphs: an SVG or an HTML file that stands alone. It asks nothing of the network, has
// search and zoom, and follows the reader's choice of a dark or light display. Without scripts, as an image, it shows
// the whole.
//
// In: a tree of calls. Out: a rectangle for each function, as wide as its value, above the one that called it; in the
// difference of two profiles red where a function has become more and blue where it has become less.
package flame

import (
	"bufio"
	_ "embed"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/gostap/gostap/runtime/export"
)

//go:embed flame.js
var script string

//go:embed flame.css
var style string

// Options say how it looks.
type Options struct {
	Title string
	// Unit is that of the values: "nanoseconds", "count", "bytes".
	Unit string
	// Diff: the tree has values of two profiles.
	Diff bool
	// Notes stand below the title.
	Notes []string
	// HTML makes a page of it instead of an image.
	HTML bool
}

const (
	width  = 1200
	row    = 18  // pixels
	top    = 54  // where the rows begin
	narrow = 0.2 // pixels: what is narrower is left out, with what it calls
)

type box struct {
	*export.Node
	x     int64 // of the total
	depth int
}

// Write draws a tree. What is too narrow to be seen in the whole is left out, and their number told.
func Write(w io.Writer, root *export.Node, o Options) error {
	var boxes []box
	left, deepest := 0, 0
	whole := max(weight(root, o.Diff), 1)
	// calls of calls are visited without recursion: stacks may be deep
	for open := []box{{root, 0, 0}}; len(open) > 0; {
		b := open[len(open)-1]
		open = open[:len(open)-1]
		if b.depth > 0 && float64(weight(b.Node, o.Diff))*width/float64(whole) < narrow {
			left++
			continue
		}
		boxes = append(boxes, b)
		deepest = max(deepest, b.depth)
		x := b.x
		for _, c := range b.Calls {
			open = append(open, box{c, x, b.depth + 1})
			x += weight(c, o.Diff)
		}
	}
	notes := o.Notes
	if left > 0 {
		notes = append(notes[:len(notes):len(notes)], fmt.Sprintf("%d functions are too narrow to be drawn", left))
	}
	height := top + (deepest+1)*row + 10
	out := bufio.NewWriter(w)
	title := escape(o.Title)
	if o.HTML {
		fmt.Fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>"+
			"<meta name=\"viewport\" content=\"width=device-width\">"+
			"<style>body{margin:0}svg{display:block;width:100%%;height:auto}</style></head><body>\n", title)
	} else {
		fmt.Fprintln(out, `<?xml version="1.0" encoding="UTF-8"?>`)
	}
	fmt.Fprintf(out,
		`<svg xmlns="http://www.w3.org/2000/svg" class="flame" viewBox="0 0 %d %d" width="%d" height="%d">`,
		width, height, width, height)
	fmt.Fprintf(out, "\n<title>%s</title><style>%s</style>\n", title, style)
	fmt.Fprintf(out, `<rect class="bg" width="%d" height="%d"/><text class="title" x="8" y="18">%s</text>`,
		width, height, title)
	fmt.Fprintf(out, `<text class="note" x="8" y="34">%s</text>`, escape(strings.Join(notes, "; ")))
	fmt.Fprintf(out, `<text class="detail" x="8" y="48"></text><text class="find" x="%d" y="18" text-anchor="end">`+
		`search (/)</text><text class="found" x="%d" y="34" text-anchor="end"></text>`, width-8, width-8)
	fmt.Fprintf(out, "\n<g class=\"boxes\">\n")
	for _, b := range boxes {
		v := weight(b.Node, o.Diff)
		x, wd := float64(b.x)*width/float64(whole), float64(v)*width/float64(whole)
		y := top + b.depth*row
		fmt.Fprintf(out,
			`<g data-x="%d" data-w="%d" data-d="%d"><title>%s</title><rect x="%s" y="%d" width="%s" height="%d" fill="%s"/>`,
			b.x, v, b.depth, escape(describe(b.Node, root, o)), num(x), y, num(max(wd-0.3, 0.1)), row-1,
			color(b.Node, root, o))
		fmt.Fprintf(out, `<text x="%s" y="%d" data-n="%s">%s</text></g>`+"\n", num(x+3), y+13,
			escape(b.Name), escape(fit(b.Name, wd)))
	}
	fmt.Fprintf(out, "</g>\n<script>//<![CDATA[\n%s\n//]]></script>\n</svg>\n", script)
	if o.HTML {
		fmt.Fprintln(out, "</body></html>")
	}
	return out.Flush()
}

// escape writes text so that it can stand in XML, which has no place for most control characters.
func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd")))
}

// weight is the width of a function: of a difference, the sum of both sides, so that what is gone can be seen as
// well.
func weight(n *export.Node, diff bool) int64 {
	if diff {
		return n.Total + n.Before
	}
	return n.Total
}

func num(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// fit cuts a name to the width of its box, in pixels.
func fit(name string, wd float64) string {
	n := int((wd - 4) / 7.3)
	r := []rune(name)
	switch {
	case n < 3:
		return ""
	case len(r) <= n:
		return name
	}
	return string(r[:n-2]) + ".."
}

// describe is what is told of a function under the pointer.
func describe(n, root *export.Node, o Options) string {
	s := fmt.Sprintf("%s: %s", n.Name, Amount(n.Total, o.Unit))
	if root.Total > 0 {
		s += fmt.Sprintf(", %.2f%%", 100*float64(n.Total)/float64(root.Total))
	}
	if n.Self > 0 && len(n.Calls) > 0 {
		s += fmt.Sprintf(", itself %s", Amount(n.Self, o.Unit))
	}
	if o.Diff {
		s += fmt.Sprintf("; before %s", Amount(n.Before, o.Unit))
		if root.Before > 0 {
			s += fmt.Sprintf(", %.2f%%", 100*float64(n.Before)/float64(root.Before))
		}
	}
	return s
}

// Amount writes a value with its unit.
func Amount(v int64, unit string) string {
	f, sign := float64(v), ""
	if v < 0 {
		f, sign = -f, "-"
	}
	steps := []struct {
		least float64
		name  string
	}{{1, ""}}
	switch unit {
	case "nanoseconds":
		steps = []struct {
			least float64
			name  string
		}{{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}}
	case "bytes":
		steps = []struct {
			least float64
			name  string
		}{{1 << 30, " GB"}, {1 << 20, " MB"}, {1 << 10, " kB"}, {1, " B"}}
	}
	for _, s := range steps {
		if f >= s.least && s.least > 1 {
			return fmt.Sprintf("%s%.2f%s", sign, f/s.least, s.name)
		}
	}
	return fmt.Sprintf("%d%s", v, steps[len(steps)-1].name)
}

// color is warm and goes by the name, so that a function has the same one everywhere; states and the like, in
// brackets, are blue. Of a difference it is the change of the function's share.
func color(n, root *export.Node, o Options) string {
	if o.Diff {
		d := share(n.Total, root.Total) - share(n.Before, root.Before)
		most := max(share(n.Total, root.Total), share(n.Before, root.Before))
		if most == 0 {
			return "hsl(0,0%,82%)"
		}
		part := d / most
		if max(part, -part) < 0.005 {
			return "hsl(0,0%,88%)"
		}
		light := 92 - 35*max(part, -part)
		if part >= 0 {
			return fmt.Sprintf("hsl(4,85%%,%.0f%%)", light)
		}
		return fmt.Sprintf("hsl(212,85%%,%.0f%%)", light)
	}
	h := fnv.New32a()
	io.WriteString(h, n.Name)
	k := h.Sum32()
	if strings.HasPrefix(n.Name, "[") {
		return fmt.Sprintf("hsl(%d,55%%,%d%%)", 200+k%30, 66+k/64%10)
	}
	return fmt.Sprintf("hsl(%d,80%%,%d%%)", 12+k%40, 62+k/64%12)
}

func share(v, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(v) / float64(whole)
}
