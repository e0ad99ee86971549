package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/cmd/internal/toolbox"
	"github.com/gostap/gostap/tapsets/tools"
)

// toolRun is a tool that is to run.
type toolRun struct {
	name, text string   // of its script
	args       []string // the command line as one of gostap: the tool's options are -G or in the script
	help       string   // to print instead
}

// nowhere refuses a tool of whose probe points none is here: it would print a head, and wait for nothing.
func (c *command) nowhere(p *gostap.Program) error {
	if c.tool == nil || c.pass != 5 || !p.OnHost() || !optional.MatchString(c.tool.text) {
		return nil
	}
	name := strings.TrimSuffix(c.tool.name, ".stp")
	return slip.New(name+": there is nothing to trace: none of its probe points is in this kernel, or in the program "+
		"that is named", "gostap "+name+" --help tells what it takes, gostap --info what this kernel has")
}

// optional finds a probe point that may lead nowhere.
var optional = regexp.MustCompile(`[)\w"] ?\?\s*[{,]`)

// toolFlag is an option of a tool.
type toolFlag struct{ index int }

func (toolFlag) Set(string) error { return nil }
func (toolFlag) Type() string     { return "" }
func (toolFlag) String() string   { return "" }

// findTool gives the tool that a command line names by its first word, nil if that is another word: a file that is
// there, something that is no name of a tool, or an argument of a script in the command line.
func findTool(args, env []string) (*tools.Tool, error) {
	fs := flagSet(new(options), new(values))
	fs.SetInterspersed(false)
	noOptions := func(*pflag.Flag, string) error { return nil }
	if fs.ParseAll(colours(args), noOptions) != nil || fs.NArg() == 0 || !toolbox.IsName(fs.Arg(0)) {
		return nil, nil
	}
	for _, a := range args[:len(args)-fs.NArg()] {
		if a == "--" {
			return nil, nil // a file, whatever it is called
		}
	}
	if st, err := os.Stat(fs.Arg(0)); err == nil && st.Mode().IsRegular() {
		return nil, nil
	}
	return toolbox.Find(fs.Arg(0), env)
}

// useTool makes a command line of gostap, and a script, of one that names a tool. Nil if it names none.
func useTool(args, env []string) (*toolRun, error) {
	t, err := findTool(args, env)
	if t == nil || err != nil {
		return nil, err
	}
	fs := flagSet(new(options), new(values))
	var options, words []int
	for i, o := range t.Options {
		if o.Name == "" {
			words = append(words, i)
			continue
		}
		if fs.Lookup(o.Name) != nil {
			return nil, slip.New(fmt.Sprintf("%s: --%s is an option of gostap", t.File, o.Name), "")
		}
		fs.Var(toolFlag{i}, o.Name, "")
		if o.Kind == tools.Flag {
			fs.Lookup(o.Name).NoOptDefVal = "true"
		}
		options = append(options, i)
	}
	given := map[int]string{}
	var r toolRun
	targeted, help := false, false
	other := ""
	var wrong error
	err = fs.ParseAll(colours(args), func(f *pflag.Flag, value string) error {
		if v, ok := f.Value.(toolFlag); ok {
			if t.Options[v.index].Kind == tools.Flag && value != "true" && wrong == nil {
				wrong = slip.New(fmt.Sprintf("--%s takes no value", f.Name), "")
			}
			given[v.index] = value
			return nil
		}
		switch f.Name {
		case "execute", "list", "list-vars":
			other = flagName(f)
		case "help":
			help = true
		case "command", "pid":
			targeted = true
		}
		r.args = append(r.args, "--"+f.Name)
		if value != noValue {
			r.args[len(r.args)-1] += "=" + value
		}
		return nil
	})
	if help {
		return &toolRun{help: toolbox.Help(t)}, nil
	}
	if err == nil && other != "" {
		return nil, nil // a script of the command line, whose argument the word is
	}
	asked := "gostap " + t.Name + " --help tells how to use it"
	if err != nil {
		err = flagError(fs, err)
		if s, ok := err.(*slip.Error); ok && strings.HasPrefix(s.Hint, "gostap --help") {
			s.Hint = asked
		}
		return nil, err
	}
	rest := fs.Args()[1:]
	for i, w := range words {
		switch {
		case i < len(rest):
			given[w] = rest[i]
		case t.Options[w].Required:
			return nil, slip.New(fmt.Sprintf("%s: %s is missing: %s", t.Name, t.Options[w].Place,
				strings.Join(t.Options[w].Text, " ")), asked)
		}
	}
	if len(rest) > len(words) {
		return nil, slip.New(fmt.Sprintf("%s: %q is one argument too many", t.Name, rest[len(words)]), asked)
	}
	if wrong != nil {
		return nil, wrong
	}
	set := map[int]string{}
	for _, i := range append(options, words...) {
		v, ok := given[i]
		if !ok {
			continue
		}
		if set[i], err = t.Options[i].Set(v, targeted); err != nil {
			return nil, slip.New(err.Error(), asked)
		}
	}
	text, globals := t.With(set)
	r.name, r.text = t.File, text
	for name, v := range globals {
		r.args = append(r.args, "--global="+name+"="+v)
	}
	r.args = append(r.args, "--", t.Name)
	return &r, nil
}
