// Package completion says how a command line of gostap could go on, and has the scripts that make shells ask it.
//
// In: a line up to the cursor, what there is of options, tools, probe points. Out: words, as a shell has to write them.
package completion

import (
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/cmd/internal/manual"
	"github.com/gostap/gostap/cmd/internal/prompt"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/cmd/internal/toolbox"
	"github.com/gostap/gostap/tapsets/tools"
)

// Config is what a line can be about.
type Config struct {
	// Usage is what gostap --help prints; Help what one of the Commands does.
	Usage    string
	Commands []string
	Help     func(command string) string
	// Script and Point say how a script, or a probe point, could go on: what may stand in place of the end of it.
	Script, Point func(text string) (end string, words []string)
	Env           []string
}

//go:embed gostap.bash gostap.zsh gostap.fish
var scripts embed.FS

// Shells are those that have a script.
var Shells = []string{"bash", "fish", "zsh"}

const usage = `gostap completion - what makes a shell complete command lines of gostap

usage: gostap completion bash|fish|zsh

  bash   source <(gostap completion bash)
  zsh    source <(gostap completion zsh)
  fish   gostap completion fish | source

Options, tools, commands and files are completed; within -e 'SCRIPT', -l and -L 'POINT' kinds of probe points, functions of
the program that the point names, aliases, functions of the library, and variables.
`

// Run is "gostap completion", and gives the exit status.
func Run(args []string, out, errs io.Writer) int {
	switch {
	case len(args) == 1 && (args[0] == "--help" || args[0] == "-h"):
		fmt.Fprint(out, usage)
		return 0
	case len(args) != 1:
		return slip.Failed(errs, slip.New("completion: for which shell?", strings.Join(Shells, ", ")))
	case !slices.Contains(Shells, args[0]):
		return slip.Failed(errs, slip.New(fmt.Sprintf("completion: there is no script for the shell %q", args[0]),
			"there is one for "+strings.Join(Shells, ", ")))
	}
	text, _ := scripts.ReadFile("gostap." + args[0])
	out.Write(text)
	return 0
}

// Complete writes the words that may stand at the end of a line, one in each line, for a shell. bash is given what it
// replaces only, the others whole words.
func Complete(line, shell string, out io.Writer, c Config) {
	c.write(split(line), shell == "bash", out)
}

// CompleteWords does that for a line that the shell has taken apart.
func CompleteWords(words []string, out io.Writer, c Config) {
	var line []token
	for _, w := range words {
		line = append(line, token{text: w})
	}
	c.write(line, false, out)
}

func (c *Config) write(line []token, cut bool, out io.Writer) {
	// sudo gostap, env A=b gostap
	at := slices.IndexFunc(line, func(t token) bool { return filepath.Base(t.text) == "gostap" })
	if at < 0 || at == len(line)-1 {
		return
	}
	last := line[len(line)-1]
	for _, w := range c.words(line[at+1:]) {
		if strings.ContainsAny(w, "\n\x00") {
			continue
		}
		if cut {
			w = w[min(last.from, len(w)):]
		}
		fmt.Fprintln(out, w)
	}
}

// words are what may stand for the last of the words of a command line.
func (c *Config) words(line []token) []string {
	last := line[len(line)-1].text
	before := line[:len(line)-1]
	usage := c.Usage
	var tool *tools.Tool
	first := ""
	if len(before) > 0 {
		first = before[0].text
	}
	switch {
	case first == "help":
		return prompt.Fitting(slices.Concat(c.Commands, toolbox.Names(c.Env), manual.Names()), last)
	case first == "completion":
		return prompt.Fitting(Shells, last)
	case first == "tools" && !strings.HasPrefix(last, "-"):
		var subjects []string
		for _, s := range tools.Subjects {
			subjects = append(subjects, s.Name)
		}
		return prompt.Fitting(slices.Concat(subjects, toolbox.Names(c.Env)), last)
	case first == "run":
		return append(prompt.Files(last, ".ko"), prompt.Files(last, ".plan")...)
	case slices.Contains(c.Commands, first):
		usage = c.Help(first)
	case first != "":
		tool, _ = toolbox.Find(first, c.Env)
	}
	// --name=value in one word
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(name, "--") {
		return prefixed(name+"=", c.values(usage, tool, name, value))
	}
	if strings.HasPrefix(last, "-") {
		names := manual.Options(usage)
		if tool != nil {
			names = append(names, "--help")
			for _, o := range tool.Options {
				if o.Name != "" {
					names = append(names, "--"+o.Name)
				}
			}
		}
		return prompt.Fitting(names, last)
	}
	if len(before) > 0 {
		if name := before[len(before)-1].text; strings.HasPrefix(name, "-") && takesValue(usage, tool, name) {
			return c.values(usage, tool, name, last)
		}
	}
	if len(before) == 0 {
		return slices.Concat(prompt.Fitting(slices.Concat(c.Commands, []string{"run"}, toolbox.Names(c.Env)), last),
			prompt.Files(last, ".stp"))
	}
	return prompt.Files(last, "")
}

// valued is an option with the word for its value, as in "-x, --pid PID" and "--emit=ftrace|perf".
var valued = regexp.MustCompile(`(?m)^ *((?:-\w, )?-[-\w]+)(=| )([A-Z][A-Z|,=]*|[a-z]+(?:\|[a-z]+)+)`)

// place gives the word that stands for the value of an option, "" if it takes none.
func place(usage string, tool *tools.Tool, name string) string {
	if tool != nil {
		for _, o := range tool.Options {
			if "--"+o.Name == name {
				if o.Kind == tools.Flag {
					return ""
				}
				return o.Place
			}
		}
	}
	for _, m := range valued.FindAllStringSubmatch(usage, -1) {
		if slices.Contains(strings.Split(m[1], ", "), name) {
			return m[3]
		}
	}
	return ""
}

func takesValue(usage string, tool *tools.Tool, name string) bool {
	return place(usage, tool, name) != ""
}

// values are what may stand behind an option.
func (c *Config) values(usage string, tool *tools.Tool, name, begin string) []string {
	switch name {
	case "-e", "--execute", "-E", "--add":
		return whole(begin, c.Script)
	case "-l", "--list", "-L", "--list-vars":
		return whole(begin, c.Point)
	case "--runtime":
		return prompt.Fitting([]string{"bpf", "host", "kernel"}, begin)
	case "--color":
		return prompt.Fitting([]string{"always", "auto", "never"}, begin)
	case "--privilege":
		return prompt.Fitting([]string{"stapdev", "stapsys", "stapusr"}, begin)
	case "-p":
		return prompt.Fitting([]string{"1", "2", "3", "4", "5"}, begin)
	}
	switch what := place(usage, tool, name); {
	case what == "PID":
		return prompt.Fitting(processes(), begin)
	case strings.Contains(what, "|"):
		return prompt.Fitting(strings.Split(what, "|"), begin)
	}
	return prompt.Files(begin, "")
}

// whole gives a text with each of the ends that it may have.
func whole(text string, how func(string) (string, []string)) (out []string) {
	end, words := how(text)
	before := strings.TrimSuffix(text, end)
	for i, w := range words {
		if strings.HasSuffix(before, `("`) && !strings.HasSuffix(w, "/") {
			words[i] = w + `")` // an argument of a probe point is closed, but for folders, which go on
		}
	}
	// No shell is to take a single word for the end of the script.
	if len(words) == 1 {
		words = append(words, words[0]+" ")
	}
	return prefixed(before, words)
}

func prefixed(before string, words []string) (out []string) {
	for _, w := range words {
		out = append(out, before+w)
	}
	return out
}

// processes are the numbers of those that there are.
func processes() (out []string) {
	list, _ := os.ReadDir("/proc")
	for _, e := range list {
		if _, err := strconv.Atoi(e.Name()); err == nil {
			out = append(out, e.Name())
		}
	}
	return out
}
