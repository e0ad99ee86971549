// Package toolbox is the tools that are run by their names: the collection, and those in the user's own directory.
//
// In: a name, the environment; the arguments of "gostap tools". Out: a tool, what its --help prints, lists, and the
// page docs/tools.md.
package toolbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/environ"
	"github.com/gostap/gostap/compiler/trusted"
	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/tapsets/tools"
)

// Own is the directory with the user's own tools, NAME.stp or SUBJECT/NAME.stp; "" if the environment names none.
func Own(env []string) string {
	if dir := environ.Get(env, "XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir + "/gostap/tools"
	}
	if home := environ.Get(env, "HOME"); home != "" {
		return home + "/.config/gostap/tools"
	}
	return ""
}

// IsName says whether a word can be the name of a tool: letters, digits, - and _.
func IsName(word string) bool {
	return word != "" && word[0] != '-' && strings.Trim(word,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// Find gives the tool of that name, one of the user's own before one of the collection; nil if there is none.
func Find(name string, env []string) (*tools.Tool, error) {
	if !IsName(name) {
		return nil, nil
	}
	for _, path := range own(env) {
		if strings.TrimSuffix(filepath.Base(path), ".stp") == name {
			return read(path, env)
		}
	}
	return tools.Find(name), nil
}

// own are the files with the user's tools.
func own(env []string) []string {
	dir := Own(env)
	if dir == "" {
		return nil
	}
	flat, _ := filepath.Glob(escaped(dir) + "/*.stp")
	deep, _ := filepath.Glob(escaped(dir) + "/*/*.stp")
	return append(flat, deep...)
}

// escaped is a directory's name in a pattern.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// read reads a tool of the user's own. What others could have written is refused, as it runs with the user's rights.
func read(path string, env []string) (*tools.Tool, error) {
	text, err := trusted.ReadFile(path, grammar.MaxBytes)
	var pe *os.PathError
	switch {
	case errors.As(err, &pe):
		return nil, slip.New(fmt.Sprintf("%s: %v", pe.Path, pe.Err), "")
	case err != nil:
		return nil, slip.New(fmt.Sprintf("a tool that others can write is not run: %v", err), "")
	}
	subject := "own"
	if dir := filepath.Dir(path); dir != Own(env) {
		subject = filepath.Base(dir)
	}
	t, err := tools.Parse(strings.TrimSuffix(filepath.Base(path), ".stp"), subject, string(text))
	if err != nil {
		return nil, slip.New(fmt.Sprintf("%s: %v", Own(env), err), "docs/tools.md says what the head of a tool is")
	}
	t.File = path
	return t, nil
}

// Names are those of all tools.
func Names(env []string) []string {
	names := tools.Names()
	for _, path := range own(env) {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".stp"))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

const usage = `gostap tools - scripts that are run by their names: gostap NAME [options]

usage: gostap tools [SUBJECT] [-k WORD]   list them: all, of a subject, with this word in what they say of themselves
       gostap tools --show NAME           print the script
       gostap NAME --help                 what it does, its options, what it prints

One's own tools are scripts of the same form in ~/.config/gostap/tools, or in gostap/tools of $XDG_CONFIG_HOME. They
come before those that gostap has. A script in a file is named by its path: gostap ./NAME.stp, gostap NAME.stp.
`

// Run is "gostap tools".
func Run(args []string, out, errs io.Writer, env []string) int {
	f := pflag.NewFlagSet("tools", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	word, show := f.StringP("word", "k", "", ""), f.String("show", "", "")
	if err := f.Parse(args); errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(out, usage)
		return 0
	} else if err != nil {
		return slip.Failed(errs, slip.New(err.Error(), "gostap tools --help lists the options"))
	}
	var err error
	switch {
	case f.Changed("show") && (f.NArg() > 0 || f.Changed("word")):
		err = slip.New("tools: --show NAME prints one script, and takes nothing else", "")
	case f.Changed("show"):
		err = showSource(out, *show, env)
	case f.NArg() > 1:
		err = slip.New(fmt.Sprintf("tools: %q is one subject too many", f.Arg(1)), "")
	default:
		err = list(out, f.Arg(0), *word, env)
	}
	if err != nil {
		return slip.Failed(errs, err)
	}
	return 0
}

// showSource prints a script.
func showSource(out io.Writer, name string, env []string) error {
	t, err := Find(name, env)
	if err != nil {
		return err
	}
	if t == nil {
		return Missing(name, env)
	}
	_, err = io.WriteString(out, t.Source)
	return err
}

// Missing says that there is no such tool.
func Missing(name string, env []string) error {
	hint := slip.Meant(name, Names(env))
	if hint == "" {
		hint = "gostap tools lists those that there are"
	}
	return slip.New(fmt.Sprintf("there is no tool %q", name), hint)
}

// list lists the tools of a subject, "" for all, that have a word in their heads, "" for any.
func list(out io.Writer, subject, word string, env []string) error {
	all, broken := everything(env)
	var subjects []string
	for _, s := range tools.Subjects {
		subjects = append(subjects, s.Name)
	}
	for _, t := range all {
		if !slices.Contains(subjects, t.Subject) {
			subjects = append(subjects, t.Subject)
		}
	}
	if subject != "" && !slices.Contains(subjects, subject) {
		hint := slip.Meant(subject, subjects)
		if t, _ := Find(subject, env); t != nil {
			hint = "it is a tool: gostap " + subject + " --help"
		} else if hint == "" {
			hint = strings.Join(subjects, ", ")
		}
		return slip.New(fmt.Sprintf("there is no subject %q", subject), hint)
	}
	n := 0
	for _, s := range subjects {
		var lines []string
		for _, t := range all {
			if t.Subject == s && (subject == "" || s == subject) && says(t, word) {
				lines = append(lines, fmt.Sprintf("  %-16s %s", t.Name, diag.Visible(t.Purpose)))
			}
		}
		if len(lines) == 0 {
			continue
		}
		if n > 0 {
			fmt.Fprintln(out)
		}
		n += len(lines)
		fmt.Fprintf(out, "%s\n%s\n", diag.Visible(heading(s)), strings.Join(lines, "\n"))
	}
	if n == 0 {
		return slip.New(fmt.Sprintf("no tool says %q of itself", word), "gostap tools lists all")
	}
	return broken
}

// heading is a subject with what it is about.
func heading(subject string) string {
	for _, s := range tools.Subjects {
		if s.Name == subject {
			return subject + ": " + s.About
		}
	}
	return subject
}

// everything gives all tools, and what is wrong with some of the user's own.
func everything(env []string) (all []*tools.Tool, broken error) {
	all = slices.Clone(tools.All())
	for _, path := range own(env) {
		t, err := read(path, env)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			broken = err
			continue
		}
		all = slices.DeleteFunc(all, func(o *tools.Tool) bool { return o.Name == t.Name })
		all = append(all, t)
	}
	return all, broken
}

// says says whether a word stands in the head of a tool, in any case of letters.
func says(t *tools.Tool, word string) bool {
	return strings.Contains(strings.ToLower(t.Name+"\n"+t.Subject+"\n"+Help(t)), strings.ToLower(word))
}
