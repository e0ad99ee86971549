// Package manual is "gostap help": the documents, asked for by a name or by words in them.
//
// In: the arguments, the documents (package docs), what tools and commands say of themselves. Out: text.
package manual

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/cmd/internal/toolbox"
	"github.com/gostap/gostap/cmd/internal/tty"
	"github.com/gostap/gostap/compiler/environ"
)

// Config is what help is about beside the documents.
type Config struct {
	// Usage is what gostap --help prints.
	Usage string
	// Commands are the words that gostap has for its own commands; Help gives what one prints with --help.
	Commands []string
	Help     func(command string) string
	Out, Err io.Writer
	Env      []string
}

type run struct {
	Config
	colour bool
}

const usage = `gostap help - what the documents, tools and messages say

usage: gostap help                what there is to read
       gostap help NAME           of a document, a heading in one, a function, probe point, alias, macro, tool, command,
                                  option (gostap help --monitor) or a kind of message (in brackets with -v)
       gostap help -k WORD ...    where all of these words stand

At a terminal long texts go through $PAGER, or less where that is installed.
`

// Run is "gostap help", and gives the exit status.
func Run(args []string, c Config) int {
	r := &run{Config: c}
	if err := r.all(args); err != nil {
		return slip.Failed(c.Err, err)
	}
	return 0
}

func (r *run) all(args []string) error {
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		_, err := io.WriteString(r.Out, usage)
		return err
	}
	done := r.page()
	defer done()
	switch {
	case len(args) == 0:
		return r.topics()
	case args[0] == "-k" || args[0] == "--word":
		asked := words(strings.Join(args[1:], " "))
		if len(asked) == 0 {
			return slip.New("help: -k needs a word to look for", "gostap help -k latency")
		}
		return r.list(args[1:], search(r.everything(), asked))
	}
	return r.about(strings.Join(args, " "))
}

// topics lists the documents, and what else has a text.
func (r *run) topics() error {
	fmt.Fprintf(r.Out, "%s\n%s\n\n%s\n",
		"gostap help NAME prints one of these, or what they say of a function, probe point, tool, option, message.",
		"gostap help -k WORD looks for words. gostap --help lists the options of the command.", r.bold("documents"))
	for _, e := range entries() {
		if e.kind == "page" {
			fmt.Fprintf(r.Out, "  %-14s %s\n", e.name, title(e.text))
		}
	}
	fmt.Fprintf(r.Out, "\n%s (gostap COMMAND --help)\n  %s\n", r.bold("commands"), strings.Join(r.Commands, " "))
	fmt.Fprintf(r.Out, "\n%s (gostap tools lists them with what they are for)\n%s", r.bold("tools"),
		folded(toolbox.Names(r.Env)))
	return nil
}

// title is the heading of a document.
func title(text string) string {
	for _, l := range strings.Split(text, "\n") {
		if t, ok := strings.CutPrefix(l, "# "); ok {
			return t
		}
	}
	return ""
}

// folded are words in lines of up to 100 columns.
func folded(words []string) string {
	var b strings.Builder
	column := 0
	for _, w := range words {
		switch {
		case column == 0:
			b.WriteString("  ")
		case column+1+len(w) > 98:
			b.WriteString("\n  ")
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += len(w)
	}
	return b.String() + "\n"
}

// everything are the entries of the documents, and tools, commands and functions beside those.
func (r *run) everything() []entry {
	all := slices.Clone(entries())
	for _, c := range r.Commands {
		all = append(all, entry{"command", c, "", r.Help(c)})
	}
	for _, n := range toolbox.Names(r.Env) {
		if t, err := toolbox.Find(n, r.Env); err == nil && t != nil {
			all = append(all, entry{"tool", n, "", toolbox.Help(t)})
		}
	}
	return all
}

// about prints what a name stands for.
func (r *run) about(name string) error {
	if strings.HasPrefix(name, "-") {
		return r.option(name)
	}
	if slices.Contains(r.Commands, name) {
		_, err := io.WriteString(r.Out, r.Help(name))
		return err
	}
	if t, err := toolbox.Find(name, r.Env); err != nil {
		return err
	} else if t != nil {
		_, err := io.WriteString(r.Out, toolbox.Help(t))
		return err
	}
	word := strings.TrimSuffix(strings.TrimSuffix(name, "()"), ".md")
	found := named(word)
	if family := below(word); len(found) == 0 && len(family) > 0 {
		_, err := fmt.Fprintf(r.Out, "%s (aliases, docs/tapsets.md)\n%s", r.bold(word+".*"), folded(family))
		return err
	}
	if len(found) == 0 {
		found = spoken(word)
	}
	if len(found) == 0 {
		return r.missing(name)
	}
	for i, e := range found {
		if i > 0 {
			fmt.Fprintln(r.Out)
		}
		if e.kind != "page" {
			fmt.Fprintf(r.Out, "%s\n", r.bold(fmt.Sprintf("%s (%s, docs/%s.md)", e.name, e.kind, e.page)))
		}
		r.write(e.text)
	}
	return nil
}

// option prints what the command's own help says of an option.
func (r *run) option(name string) error {
	name, _, _ = strings.Cut(name, "=")
	lines := strings.Split(r.Usage, "\n")
	var names []string
	for i, l := range lines {
		own := optionNames(l)
		names = append(names, own...)
		if !slices.Contains(own, name) {
			continue
		}
		fmt.Fprintln(r.Out, strings.TrimSpace(l))
		for _, more := range lines[i+1:] {
			if !strings.HasPrefix(more, "          ") {
				break
			}
			fmt.Fprintln(r.Out, more)
		}
		var finds []find
		for _, f := range search(entries(), []string{strings.ToLower(name)}) {
			if f.e.kind == "section" && len(finds) < 6 {
				finds = append(finds, f)
			}
		}
		if len(finds) == 0 {
			return nil
		}
		fmt.Fprintln(r.Out)
		return r.list([]string{name}, finds)
	}
	hint := slip.Meant(name, names)
	if hint == "" {
		hint = "gostap --help lists the options"
	}
	return slip.New(fmt.Sprintf("gostap has no option %s", name), hint)
}

// Options are the names of the options that a command's help tells of.
func Options(usage string) (names []string) {
	for _, l := range strings.Split(usage, "\n") {
		names = append(names, optionNames(l)...)
	}
	return names
}

// Names are those of all that the documents tell of.
func Names() (names []string) {
	for _, e := range entries() {
		if !strings.ContainsAny(e.name, " \"(") {
			names = append(names, e.name)
		}
	}
	return names
}

// optionNames are the options that a line of the command's help is about; none in lines that go on.
func optionNames(line string) (names []string) {
	if !strings.HasPrefix(strings.TrimSpace(line), "-") || !strings.HasPrefix(line, " ") {
		return nil
	}
	for _, w := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" ,[]|=;:()", c) }) {
		if strings.HasPrefix(w, "-") && w != "-" {
			names = append(names, w)
		}
	}
	return names
}

// missing says that nothing has this name, and what is near.
func (r *run) missing(name string) error {
	all := r.everything()
	var names []string
	for _, e := range all {
		names = append(names, e.name)
	}
	hint := slip.Meant(name, names)
	if asked := words(name); hint == "" && len(asked) > 0 {
		if finds := search(all, asked); len(finds) > 0 {
			fmt.Fprintf(r.Out, "nothing is called %q, but these speak of it:\n\n", name)
			return r.list([]string{name}, finds)
		}
	}
	return slip.New(fmt.Sprintf("there is no help on %q", name), cmp.Or(hint, "gostap help lists what there is"))
}

// write prints a text of the documents: as it stands, with headings and code in bold at a terminal.
func (r *run) write(text string) {
	fenced := false
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(l, "<!--"):
			continue
		case strings.HasPrefix(l, "```"):
			if fenced = !fenced; fenced && strings.HasPrefix(l, "```output") {
				fmt.Fprintln(r.Out, "  prints")
			}
			continue
		case fenced:
			l = "    " + l
		case heading().MatchString(l):
			l = r.bold(heading().FindStringSubmatch(l)[2])
		case r.colour:
			l = code().ReplaceAllString(l, "\x1b[1m$1\x1b[m")
		}
		fmt.Fprintln(r.Out, l)
	}
}

func (r *run) bold(s string) string {
	if r.colour {
		return "\x1b[1m" + s + "\x1b[m"
	}
	return s
}

// page has what is printed go through a pager, where standard output is a terminal. done waits for it.
func (r *run) page() (done func()) {
	f, ok := r.Out.(*os.File)
	if !ok || !tty.Is(f) {
		return func() {}
	}
	r.colour = true
	pager := environ.Get(r.Env, "PAGER")
	if pager == "" {
		if _, err := exec.LookPath("less"); err != nil {
			return func() {}
		}
		pager = "less"
	}
	cmd := exec.Command("/bin/sh", "-c", pager)
	// Short texts stay on the terminal, colours are passed on.
	cmd.Env = append([]string{"LESS=FRX"}, r.Env...)
	cmd.Stdout, cmd.Stderr = f, r.Err
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return func() {}
	}
	r.Out = in
	return func() {
		in.Close()
		cmd.Wait()
	}
}
