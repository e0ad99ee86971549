package toolbox

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/tapsets/tools"
)

// Help is what a tool's --help prints, made from its head.
func Help(t *tools.Tool) string {
	var b strings.Builder
	title := fold(fmt.Sprintf("gostap %s - %s", t.Name, t.Purpose), widest)
	fmt.Fprintf(&b, "%s\n\nusage: gostap %s", strings.Join(title, "\n  "), t.Name)
	for _, o := range t.Options {
		if o.Name == "" {
			fmt.Fprintf(&b, " %s", o.String())
		}
	}
	b.WriteString(" [options] [-x PID | -c COMMAND]\n")
	paragraph(&b, t.About)
	var words, options [][2]string
	for i := range t.Options {
		o := &t.Options[i]
		text := strings.Join(o.Text, "\n")
		if v := o.Shown(); v != "" {
			text += " (" + v + " if not given)"
		}
		if o.Name == "" {
			words = append(words, [2]string{o.Place, text})
		} else {
			options = append(options, [2]string{o.String(), text})
		}
	}
	rows(&b, "arguments", words)
	rows(&b, "options", options)
	if len(options) == 0 {
		b.WriteString("\n")
	}
	b.WriteString("  and those of gostap: -x PID, -c COMMAND, -T SECONDS, -o FILE and others (gostap --help)\n")
	var columns [][2]string
	for _, c := range t.Output {
		columns = append(columns, [2]string{c.Name, c.Text})
	}
	rows(&b, "output", columns)
	if len(t.Examples) > 0 {
		b.WriteString("\nexamples:\n")
	}
	for _, e := range t.Examples {
		fmt.Fprintf(&b, "  %s\n", e.Command)
		for _, l := range e.Text {
			fmt.Fprintf(&b, "      %s\n", l)
		}
	}
	return visible(b.String())
}

// visible is a text without what a terminal would obey, line by line.
func visible(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = diag.Visible(l)
	}
	return strings.Join(lines, "\n")
}

// widest is how many columns a help has.
const widest = 96

// paragraph writes paragraphs, parted by empty lines, as wide as a help is. Lines that begin with a blank stay as they
// are.
func paragraph(b *strings.Builder, lines []string) {
	var words []string
	flush := func() {
		if len(words) > 0 {
			fmt.Fprintf(b, "%s\n", strings.Join(fold(strings.Join(words, " "), widest), "\n"))
		}
		words = nil
	}
	for i, l := range lines {
		if i == 0 {
			b.WriteString("\n")
		}
		switch {
		case l == "" || l[0] == ' ':
			flush()
			b.WriteString(l + "\n")
		default:
			words = append(words, l)
		}
	}
	flush()
}

// fold parts a text into lines of a width.
func fold(text string, width int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	return append(lines, line)
}

// rows writes words with their texts beside them.
func rows(b *strings.Builder, title string, list [][2]string) {
	if len(list) == 0 {
		return
	}
	width := 0
	for _, r := range list {
		if n := len(r[0]); n > width && n <= 20 {
			width = n
		}
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, r := range list {
		for i, l := range fold(r[1], widest-width-4) {
			name := r[0]
			if i > 0 {
				name = ""
			}
			if len(name) > width {
				fmt.Fprintf(b, "  %s\n", name)
				name = ""
			}
			fmt.Fprintf(b, "  %-*s  %s\n", width, name, l)
		}
	}
}
