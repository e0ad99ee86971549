package interactive

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/environ"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/grammar"
)

// command is a word that a line can begin with.
type command struct {
	name, args string
	help       string
	do         func(s *session, arg string) error
}

// commands are all of them. (A function, since help goes through them.)
func commands() []command {
	return []command{
		{"help", "[COMMAND]", "what the commands are", (*session).help},
		{"list", "[N[-M]]", "the script, or some of its lines", (*session).list},
		{"add", "TEXT", "add a declaration (lines with one need no add)", (*session).addLine},
		{"delete", "N[-M]|all", "delete the declarations that these lines belong to", (*session).remove},
		{"undo", "", "take back the last change of the script", (*session).undo},
		{"edit", "", "change the script with $VISUAL or $EDITOR", (*session).edit},
		{"load", "FILE", "a file becomes the script", (*session).load},
		{"save", "FILE", "write the script to a file", (*session).save},
		{"run", "", "run the script; Ctrl-C ends it", (*session).run},
		{"set", "OPTION [VALUE]", "set an option of gostap for the runs: set timeout 5, set -c ./app", (*session).set},
		{"unset", "OPTION|all", "forget an option", (*session).unset},
		{"show", "[OPTION]", "the options that are set", (*session).show},
		{"points", "POINT", "probe points that match, with variables: points syscall.op*", (*session).points},
		{"apropos", "WORD", "functions and probe points of the library with this word", (*session).apropos},
		{"sample", "[NAME]", "small scripts to begin with; with a name, it becomes the script", (*session).sample},
		{"complete", "LINE", "how a line could go on, as Tab shows it", (*session).completions},
		{"quit", "", "end", func(*session, string) error { return errQuit }},
	}
}

// called are other names of commands.
var called = map[string]string{"exit": "quit", "?": "help", "l": "list", "q": "quit", "r": "run", "probes": "points"}

// declarations are the words that lines of a script begin with.
var declarations = []string{"probe", "global", "function", "private"}

// find finds a command by its name.
func find(name string) *command {
	if to := called[name]; to != "" {
		name = to
	}
	all := commands()
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

// do does what a line says. An error ends the session.
func (s *session) do(line string) error {
	line = strings.TrimSpace(line)
	word, arg, _ := strings.Cut(line, " ")
	if c := find(word); c != nil {
		err := c.do(s, strings.TrimSpace(arg))
		if err == errQuit {
			return err
		}
		s.try(err)
		return nil
	}
	if plain := strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""; plain && line != "" &&
		!slices.Contains(declarations, word) {
		names := slices.Clone(declarations)
		for _, c := range commands() {
			names = append(names, c.name)
		}
		hint := slip.Meant(word, names)
		if hint == "" {
			hint = "help lists the commands; a script has probes, functions and globals"
		}
		s.try(slip.New(fmt.Sprintf("%s is no command, and no declaration begins with it", word), hint))
		return nil
	}
	s.add(line)
	return nil
}

func (s *session) addLine(arg string) error {
	s.add(arg)
	return nil
}

func (s *session) help(arg string) error {
	if arg == "" {
		for _, c := range commands() {
			fmt.Fprintf(s.Out, "  %-22s %s\n", strings.TrimSpace(c.name+" "+c.args), c.help)
		}
		fmt.Fprintln(s.Out, `Other lines are the script: probe begin { println("hello") }`)
		return nil
	}
	c := find(arg)
	if c == nil {
		return slip.New(fmt.Sprintf("there is no command %s", arg), "help lists them")
	}
	fmt.Fprintf(s.Out, "%s: %s\n", strings.TrimSpace(c.name+" "+c.args), c.help)
	switch c.name {
	case "set", "unset", "show":
		fmt.Fprintln(s.Out, "options:", strings.Join(s.Config.Command.Options(), " "))
	}
	return nil
}

// lineRange reads N or N-M, lines from 1 to n.
func lineRange(arg string, n int) (from, to int, err error) {
	a, b, two := strings.Cut(arg, "-")
	if !two {
		b = a
	}
	from, err1 := strconv.Atoi(strings.TrimSpace(a))
	to, err2 := strconv.Atoi(strings.TrimSpace(b))
	if err1 != nil || err2 != nil || from < 1 || to < from || to > n {
		hint := "list shows them"
		if n == 0 {
			hint = "the script is empty"
		}
		return 0, 0, slip.New(fmt.Sprintf("there are no lines %s", arg), hint)
	}
	return from, to, nil
}

func (s *session) list(arg string) error {
	n := strings.Count(s.text(), "\n")
	from, to := 1, n
	if arg != "" {
		var err error
		if from, to, err = lineRange(arg, n); err != nil {
			return err
		}
	}
	i := 0
	for line := range strings.Lines(s.text()) {
		if i++; i >= from && i <= to {
			fmt.Fprintf(s.Out, "%4d  %s\n", i, diag.Visible(strings.TrimSuffix(line, "\n")))
		}
	}
	return nil
}

func (s *session) remove(arg string) error {
	if arg == "all" {
		s.take(nil)
		return nil
	}
	from, to, err := lineRange(arg, strings.Count(s.text(), "\n"))
	if err != nil {
		return err
	}
	var left []string
	line := 1
	for _, d := range s.decls {
		next := line + strings.Count(d, "\n") + 1
		if next <= from || line > to {
			left = append(left, d)
		}
		line = next
	}
	if !s.take(left) {
		return slip.New("nothing was deleted: what is left would not be right",
			"delete what uses it too, or edit the script as a whole")
	}
	return nil
}

func (s *session) undo(string) error {
	if len(s.before) == 0 {
		return slip.New("there is nothing to take back", "")
	}
	last := len(s.before) - 1
	s.decls, s.before = s.before[last], s.before[:last]
	return nil
}

func (s *session) load(path string) error {
	if path == "" {
		return slip.New("load needs the name of a file", "")
	}
	text, err := foreign.ReadFile(path, grammar.MaxBytes)
	if err != nil {
		return err
	}
	return s.replace(string(text))
}

func (s *session) save(path string) error {
	if path == "" {
		return slip.New("save needs the name of a file", "")
	}
	return os.WriteFile(path, []byte(s.text()), 0o644)
}

func (s *session) edit(string) error {
	if !s.typed {
		return slip.New("edit needs a terminal", "load FILE takes a script that was changed elsewhere")
	}
	f, err := os.CreateTemp("", "gostap-*.stp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	text := s.text()
	if s.draft != "" {
		text = s.draft
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if v := environ.Get(s.Env, name); strings.TrimSpace(v) != "" {
			editor = v
		}
	}
	cmd := exec.Command("/bin/sh", "-c", editor+` "$1"`, "sh", f.Name()) // as others take $EDITOR: it may have arguments
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = s.In, s.Out, s.Err, s.Env
	if err := cmd.Run(); err != nil {
		return slip.New(fmt.Sprintf("%s: %v", editor, err), "EDITOR names another one")
	}
	b, err := foreign.ReadFile(f.Name(), grammar.MaxBytes)
	if err != nil {
		return err
	}
	s.draft = string(b)
	if err := s.replace(s.draft); err != nil {
		return slip.New("the script stays as it was", "edit goes on where you left")
	}
	s.draft = ""
	return nil
}

func (s *session) run(arg string) error {
	if arg != "" {
		return slip.New("run takes no words", "set OPTION VALUE sets what a run is to be like")
	}
	if len(s.decls) == 0 {
		return slip.New("there is no script yet", `probe begin { println("hello") }`)
	}
	if !s.Run(s.Options, s.text()) {
		s.failed = true
	}
	return nil
}

// with gives the options without those of a name.
func (s *session) without(long string) (left []string) {
	for _, o := range s.Options {
		if name, _, _ := strings.Cut(o, "="); name != "--"+long {
			left = append(left, o)
		}
	}
	return left
}

func (s *session) set(arg string) error {
	if arg == "" {
		return s.show("")
	}
	name, value, given := strings.Cut(arg, " ")
	if n, v, ok := strings.Cut(name, "="); ok {
		name, value, given = n, v+strings.TrimPrefix(" "+value, " "), true
	}
	long, many, err := s.Option(name)
	if err != nil {
		return err
	}
	all := s.without(long)
	if many {
		all = slices.Clone(s.Options)
	}
	option := "--" + long
	if given {
		option += "=" + strings.TrimSpace(value)
	}
	all = append(all, option)
	if err := s.Try(all); err != nil {
		return err
	}
	s.Options, s.known = all, known{}
	return nil
}

func (s *session) unset(arg string) error {
	if arg == "all" {
		s.Options, s.known = nil, known{}
		return nil
	}
	long, _, err := s.Option(arg)
	if err != nil {
		return err
	}
	left := s.without(long)
	if len(left) == len(s.Options) {
		return slip.New(fmt.Sprintf("%s is not set", arg), "show tells what is")
	}
	if err := s.Try(left); err != nil {
		return err
	}
	s.Options, s.known = left, known{}
	return nil
}

func (s *session) show(arg string) error {
	long := ""
	if arg != "" && arg != "all" {
		var err error
		if long, _, err = s.Option(arg); err != nil {
			return err
		}
	}
	for _, o := range s.Options {
		name, _, _ := strings.Cut(o, "=")
		if long == "" || name == "--"+long {
			fmt.Fprintln(s.Out, diag.Visible(o))
		}
	}
	return nil
}

func (s *session) points(arg string) error {
	if arg == "" {
		return slip.New("points needs a probe point", "points syscall.op*")
	}
	lines, err := s.Points(s.Options, s.text(), arg, true)
	for _, l := range lines {
		fmt.Fprintln(s.Out, diag.Visible(l))
	}
	return err
}

func (s *session) apropos(arg string) error {
	if arg == "" {
		return slip.New("apropos needs a word", "")
	}
	n := 0
	for _, what := range []compiler.Listing{compiler.Functions, compiler.ProbeTypes, compiler.ProbeAliases} {
		lines, err := s.known.listing(s, what)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if strings.Contains(strings.ToLower(l), strings.ToLower(arg)) && !strings.HasPrefix(l, "__") {
				fmt.Fprintln(s.Out, diag.Visible(l))
				n++
			}
		}
	}
	if n == 0 {
		return slip.New(fmt.Sprintf("nothing in the library has %q in its name", arg), "")
	}
	return nil
}

func (s *session) completions(arg string) error {
	start, words := s.complete(arg)
	for _, w := range words {
		fmt.Fprintln(s.Out, diag.Visible(arg[:start]+w))
	}
	return nil
}
