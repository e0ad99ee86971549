// Package asked is what a Trace asks for, in a cluster or on a host of its own, as arguments of gostap.
//
// In: a tool or a script with options, names of destinations. Out: arguments, destinations; the reason why what is
// asked for is refused.
package asked

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/tapsets/tools"
)

// Refusal is why a Trace is refused: text for who asked.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

// Refuse makes one. hint is what to write instead, "" for none.
func Refuse(text, hint string) error {
	if hint != "" {
		text += "\n  hint: " + hint
	}
	return &Refusal{text}
}

// Spec is what a Trace has run, wherever that is.
type Spec struct {
	// Tool is one of "gostap tools", Script the text of a script: one of the two.
	Tool, Script string
	// Options are those of the tool, without their dashes. An option without a value has "".
	Options map[string]string
	Args    []string
	Guru    bool
}

// Words are the arguments of gostap for it, without those that say where it runs. What is asked for goes into options
// by name alone, so that no value is one.
func (s *Spec) Words() ([]string, error) {
	var args []string
	if s.Guru {
		args = append(args, "--guru")
	}
	switch {
	case (s.Tool == "") == (s.Script == ""):
		return nil, Refuse("a Trace has either a tool or a script", "spec.tool: syscount")
	case s.Script != "" && len(s.Options) > 0:
		return nil, Refuse("spec.options are those of a tool, and there is a script",
			"spec.args are the arguments of a script")
	case s.Script != "":
		args = append(args, "--execute="+s.Script, "--")
		return append(args, s.Args...), nil
	}
	t := tools.Find(s.Tool)
	if t == nil {
		hint := ""
		if near := diag.Nearest(s.Tool, tools.Names(), 3); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "?"
		}
		return nil, Refuse(fmt.Sprintf("there is no tool %q", s.Tool), hint)
	}
	var names, given []string
	for _, o := range t.Options {
		if o.Name == "" {
			continue
		}
		names = append(names, o.Name)
		v, ok := s.Options[o.Name]
		switch {
		case ok && o.Kind == tools.Flag && v != "" && v != "true":
			return nil, Refuse(fmt.Sprintf("%s: the option %s takes no value, and has %q", s.Tool, o.Name, v), "")
		case ok && o.Kind == tools.Flag:
			given = append(given, "--"+o.Name)
		case ok:
			given = append(given, "--"+o.Name+"="+v)
		}
	}
	for name := range s.Options {
		if !slices.Contains(names, name) {
			hint := s.Tool + " has no options"
			if near := diag.Nearest(name, names, 3); len(near) > 0 {
				hint = "did you mean " + strings.Join(near, " or ") + "?"
			} else if len(names) > 0 {
				hint = s.Tool + " has " + strings.Join(names, ", ")
			}
			return nil, Refuse(fmt.Sprintf("%s has no option %q", s.Tool, name), hint)
		}
	}
	// Its options are known behind its name, and a word behind -- is no option.
	return append(append(append(append(args, s.Tool), given...), "--"), s.Args...), nil
}
