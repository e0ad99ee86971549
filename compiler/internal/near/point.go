// Package near says what may be meant by what is not there: by parts of probe points, by functions, programs and
// variables.
//
// In: what was written, and what there is. Out: a hint, "" for none.
package near

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/habits"
	"github.com/gostap/gostap/compiler/probe"
)

// names is what is written in a point from component i on, if that is names alone, as of a function of Go; else "".
func names(req probe.Request, i int) string {
	rest := probe.Request{Comps: req.Comps[i:]}
	for _, c := range rest.Comps {
		if c.Arg != nil || strings.Contains(c.Name, "*") {
			return ""
		}
	}
	return rest.String()
}

// Component is the hint for component i of a point, which is none of those that are legal there, if it is what people
// write who know another tool.
func Component(req probe.Request, i int, legal []string) string {
	name := req.Comps[i].Name
	if i > 0 {
		if meant := habits.Component(name, legal); meant != "" {
			return "it is called ." + meant + " here"
		}
		if all := names(req, i); len(req.Comps) > i+1 && all != "" && slices.Contains(legal, "function") {
			return fmt.Sprintf("a function is named by .function(%q)", all)
		}
		return ""
	}
	if name == "syscall" || name == "nd_syscall" {
		return "the system calls are " + name + ".NAME, all of them " + name + ".*"
	}
	var words []string
	for _, c := range req.Comps {
		words = append(words, c.Name)
		switch {
		case c.Arg == nil:
		case c.Arg.IsString:
			words = append(words, c.Arg.Str)
		default:
			words = append(words, ast.LiteralText(c.Arg))
		}
	}
	if point := habits.Point(strings.Join(words, ":")); point != "" {
		return "this looks like a point of bpftrace or DTrace; here it is " + point
	}
	return ""
}

// Function is the hint for a point that is the name of a function alone.
func Function(req probe.Request) string {
	switch all := names(req, 0); {
	case all == "":
		return ""
	case len(req.Comps) == 1:
		return fmt.Sprintf("a function of a program is process(\"FILE\").function(%q), one of the kernel "+
			"kernel.function(%q)", all, all)
	default:
		return fmt.Sprintf("a function of a program is process(\"FILE\").function(%q)", all)
	}
}

// fileLine is a place as debuggers write it.
var fileLine = regexp.MustCompile(`^[^@:]+\.\w+:[0-9]+$`)

// Line is the hint for a place that stands where a function's name does.
func Line(c *probe.Comp) string {
	switch {
	case !fileLine.MatchString(c.Arg.Str):
		return ""
	case c.Name == "statement":
		return fmt.Sprintf("a line of a file is %q", "*@"+c.Arg.Str)
	}
	return fmt.Sprintf("a line of a file is .statement(%q)", "*@"+c.Arg.Str)
}

// Functions gives the functions of a program that are like name. In C, C++ and Rust names may have dots between scopes:
// of Cart.add it is those called add in a scope Cart, or, if there is none, all called add.
func Functions(img debuginfo.Image, name string) []string {
	near := img.NearNames(name)
	i := strings.LastIndexAny(name, ".:")
	if len(near) > 0 || i < 0 || strings.ContainsAny(name, "*?[") || img.Lang() == debuginfo.Go {
		return near
	}
	for _, name := range []string{strings.ReplaceAll(name, ".", "::"), name[i+1:]} {
		fs, _ := img.Funcs(name)
		for _, f := range fs {
			if !slices.Contains(near, f.Name) && len(near) < 5 {
				near = append(near, f.Name)
			}
		}
		if len(near) > 0 {
			break
		}
	}
	return near
}

// Program is the hint for a file that is no program.
func Program(path string) string {
	if interp := interpreter(path); interp != "" {
		return "it is a script; what runs is its interpreter " + interp
	}
	if habits.Source(path) != "" {
		return "it is source text of " + habits.Source(path) + ": build it, and name the program"
	}
	return ""
}

// interpreter reads the "#!" line of a script, "" if it has none.
func interpreter(path string) string {
	f, err := foreign.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, 256)
	n, _ := f.Read(buf)
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	if !strings.HasPrefix(line, "#!") {
		return ""
	}
	fields := strings.Fields(line[2:])
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}
