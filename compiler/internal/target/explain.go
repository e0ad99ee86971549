package target

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/habits"
	"github.com/gostap/gostap/compiler/source"
)

// diagnose turns an error into what the user reads.
func (r *resolver) diagnose(e ast.Expr, err error) *diag.Diagnostic {
	var l diag.List
	sp := e.Range()
	what := Text(e)
	where := ""
	if s := r.site; s != nil && s.Func != "" {
		where = " at " + s.Point
	}
	var nf *debuginfo.NotFoundError
	var dead *debuginfo.NotLiveError
	var res *errResult
	var pr *problem
	var d *diag.Diagnostic
	if errors.As(err, &d) {
		return d
	}
	switch {
	case errors.As(err, &nf):
		if op, ok := e.(*ast.AtOp); ok && nf.What == "variable" && (op.Name == "@is" || op.Name == "@typeof") {
			what = Text(op.Args[0])
		}
		d = l.Errorf(diag.Semantic, CodeNoVariable, sp, "there is no variable %s%s", what, where)
		if nf.What != "variable" {
			d.Message = fmt.Sprintf("%s: %v", what, nf)
		}
		if near := nearNames(nf); near != "" {
			d.Hintf("did you mean %s?", near)
		} else if nf.What == "variable" {
			d.Hint = habits.Result(nf.Name, r.site != nil && r.site.IsReturn())
		}
		if nf.What == "variable" {
			r.listVars(d)
		}
	case errors.As(err, &dead):
		d = l.Errorf(diag.Semantic, CodeNotLive, sp, "%s has no value%s: %s", what, where, dead.Reason)
		if hint := r.elsewhere(dead); hint != "" {
			d.Hintf("%s", hint)
		} else if s := r.site; s != nil && s.At.Kind == debuginfo.AtInline {
			d.Hintf("the function is inlined here; @defined tells the copies apart in which it has a value")
		}
	case errors.Is(err, debuginfo.ErrNoTypes):
		var bare *debuginfo.BareError
		if errors.As(err, &bare) && r.site != nil && r.site.Image != nil {
			return r.bare(sp, what, bare)
		}
		d = l.Errorf(diag.Semantic, CodeNoDWARF, sp, "%s: there are no names of variables without debug information",
			what)
		if s := r.site; s != nil && s.Image != nil {
			why := s.Image.NoTypes()
			if why == "" {
				why = err.Error() // the file has some, this function has none
			}
			d.Note(source.Span{}, "%s: %s", s.Program.Path, why)
		}
		if strings.HasPrefix(what, "$return") {
			d.Hintf("returnval() gives the first integer result")
		} else {
			d.Hintf("int_arg(1), int_arg(2), ... give the integer arguments at the function's entry by position")
		}
	case errors.As(err, &res):
		d = l.Errorf(diag.Semantic, CodeNotLive, sp, "%s: %s", what, res.text)
		d.Hint = res.hint
	case errors.As(err, &pr):
		d = l.Errorf(diag.Semantic, CodeTarget, sp, "%s: %v", what, pr)
		d.Hint = pr.hint
	default:
		d = l.Errorf(diag.Semantic, CodeNotLive, sp, "%s: %v", what, err)
	}
	return d
}

// elsewhere says where a variable can be read, and which probe has the value that a call gave it.
func (r *resolver) elsewhere(dead *debuginfo.NotLiveError) string {
	var hints []string
	if len(dead.Lines) > 0 {
		hints = append(hints, "it can be read at "+lines(dead.Lines))
	}
	if g := dead.Given; g != nil && r.site != nil && r.site.Program.Path != "" {
		verb, result := "may have its value from", "$return"
		if g.Only {
			verb = "has its value from"
		}
		if g.Results > 1 {
			result = fmt.Sprintf("$return[%d]", g.Result)
		}
		point := fmt.Sprintf("process(%q).function(%q).callee(%q).return", r.site.Program.Path, g.Caller, g.Callee)
		hints = append(hints, fmt.Sprintf("it %s the call in line %d: %s { %s }", verb, g.Line, point, result))
	}
	return strings.Join(hints, "; ")
}

// bare says what is not known of a Go program without DWARF, and what is there instead.
func (r *resolver) bare(sp source.Span, what string, err *debuginfo.BareError) *diag.Diagnostic {
	var l diag.List
	d := l.Errorf(diag.Semantic, CodeNoDWARF, sp, "%s: there are no names of variables without debug information", what)
	d.Note(source.Span{}, "%s: %s", r.site.Program.Path, r.site.Image.NoTypes())
	if err.Reason != r.site.Image.NoTypes() {
		d.Note(source.Span{}, "%s", err.Reason)
	}
	r.listVars(d)
	if strings.HasPrefix(what, "$return") {
		d.Hintf("returnval() gives the first integer result")
	} else {
		d.Hintf("arguments are $arg1, $arg2, ... and the receiver of a method $recv; int_arg(1) gives a register")
	}
	return d
}

func nearNames(nf *debuginfo.NotFoundError) string {
	near := nf.Near
	if nf.What == "variable" {
		// All that there is stands in a note already; a hint is for slips of the hand.
		near = diag.Nearest(nf.Name, nf.Near, 3)
		for i, n := range near {
			near[i] = "$" + strings.TrimPrefix(n, "$")
		}
	}
	return strings.Join(near, ", ")
}

// listVars adds a note with the variables that could have been meant.
func (r *resolver) listVars(d *diag.Diagnostic) {
	s := r.site
	if s != nil && s.Names != nil {
		listed(d, s.Names.Vars())
		return
	}
	if s == nil || s.Image == nil {
		return
	}
	if s.IsReturn() {
		if es, err := r.entrySite(); err == nil {
			s = es
		}
	}
	vs, err := s.Image.Vars(s.At)
	if err != nil {
		return
	}
	listed(d, vs)
}

func listed(d *diag.Diagnostic, vs []*debuginfo.Var) {
	var have []string
	for _, v := range vs {
		if v.Err == nil && v.Name != "" && !strings.HasPrefix(v.Name, "~") && v.Kind != debuginfo.GlobalVar {
			have = append(have, "$"+v.Name)
		}
	}
	if len(have) > 0 {
		d.Note(source.Span{}, "available here: %s", strings.Join(have, " "))
	}
}

func lines(ls []int) string {
	const show = 8
	var out []string
	for i, n := range ls {
		if i == show {
			out = append(out, "...")
			break
		}
		out = append(out, fmt.Sprint(n))
	}
	if len(out) == 1 {
		return "line " + out[0]
	}
	return "lines " + strings.Join(out, ", ")
}
