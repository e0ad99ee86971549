package ftrace

import (
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/types"
)

// value is what an expression of a handler is to the tracer.
type value struct {
	fetched
	name string // for an argument
	// field is the field of the event that has it already: a known one, or common_pid and the like.
	field string
	// isText: the fetched thing is text. address: a number that is one.
	isText, address bool
	// typeName is the type of a text.
	typeName string
	// line: the tracer shows it in each line of its own, so that nothing is to be added.
	line bool
	// isLit: it is the constant num, or str.
	isLit bool
	num   int64
	str   *string
	// pretty are the parts of $$parms and its like.
	pretty []elab.PrettyPart
}

// typ is the type of the argument that shows v.
func (v value) typ(hex bool) string {
	if v.isText {
		return v.typeName
	}
	return v.fetched.typ(hex)
}

// value gives what x is.
func (h *handler) value(x ast.Expr) (value, *diag.Diagnostic) {
	in := &h.probe.Info
	x = ast.Unparen(x)
	if n, ok := in.Const[x]; ok {
		return value{isLit: true, num: n}, nil
	}
	if t := in.Targets[x]; t != nil {
		return h.target(x, t)
	}
	switch x := x.(type) {
	case *ast.Literal:
		if x.IsString {
			return value{isLit: true, str: &x.Str}, nil
		}
		return value{isLit: true, num: x.Num}, nil
	case *ast.Unary:
		v, d := h.value(x.X)
		if x.Op == "-" && d == nil && v.isLit && v.str == nil {
			v.num = -v.num
			return v, nil
		}
	case *ast.Ternary:
		if n, ok := in.Const[x.Cond]; ok {
			if n != 0 {
				return h.value(x.Then)
			}
			return h.value(x.Else)
		}
		return value{}, h.refuse(x, "cannot choose between values")
	case *ast.Name:
		if l := in.Locs[x]; l != nil {
			if h.locals[l] == nil {
				return value{}, h.refuse(x, "cannot follow %s: what it is depends on the way through the handler",
					x.Name)
			}
			return h.value(h.locals[l])
		}
		return value{}, h.refuse(x, "cannot read %s: variables of the script are in no event", x.Name)
	case *ast.Index:
		return value{}, h.refuse(x, "cannot read %s: variables of the script are in no event", x.Array.Name)
	case *ast.Call:
		return h.called(x)
	case *ast.AtOp:
		return value{}, h.refuse(x, "has no %s here", x.Name)
	}
	return value{}, h.refuse(x, "cannot compute this").Hintf("print the values that it is made of")
}

// target is a variable of what is probed.
func (h *handler) target(x ast.Expr, t *elab.Target) (value, *diag.Diagnostic) {
	name := ast.String(x)
	switch {
	case t.Err != nil:
		return value{}, t.Err
	case t.AtEntry:
		return value{}, h.refuse(x, "does not have %s at the return: its values are those of the entry", name).
			Hintf("print it in a probe without .return; lines of the same thread belong together")
	case t.Pretty != nil:
		return value{pretty: t.Pretty}, nil
	case t.Procfs:
		return value{}, h.refuse(x, "has no such value")
	case len(t.Args) > 0:
		return value{}, h.refuse(x, "cannot read %s: it depends on a value of the script", name)
	case len(t.Names) > 0:
		return value{}, h.refuse(x, "does not name the values of enumerations").Hintf("print the number")
	case t.Type == types.Real || t.Narrow:
		return value{}, h.refuse(x, "cannot show %s: it has no numbers with a fraction", name)
	case t.Type == types.String && !t.CString:
		return value{}, h.refuse(x, "cannot read %s: the text has a length and no end, and the kernel reads "+
			"up to a zero", name).Hintf("without --emit, gostap prints it")
	}
	v := value{name: strings.TrimLeft(name, "$&@")}
	if h.proto.kind == 'e' {
		field, why := h.field(t.Value)
		if t.Type == types.String {
			why = "is text that the event does not have"
		}
		if why != "" {
			return value{}, h.refuse(x, "cannot read %s: it %s", name, why).Hintf("%s has %s", h.proto.path(),
				h.fieldNames())
		}
		// A narrow variable lies in a whole word here.
		v.field, v.size, v.signed = field, 64, h.signedField(field)
		return v, nil
	}
	if t.Type == types.String {
		fetch, why := h.text(t.Value, t.Place.Kernel)
		if why != "" {
			return value{}, h.refuse(x, "cannot read %s: it %s", name, why)
		}
		v.fetch, v.isText, v.typeName = fetch, true, h.textType(t.Place.Kernel)
		return v, nil
	}
	f, why := h.number(t.Value)
	if why != "" {
		return value{}, h.refuse(x, "cannot read %s: it %s", name, why)
	}
	if t.BitSize > 0 && f.in == 0 && int64(f.size) != t.BitSize {
		return value{}, h.refuse(x, "cannot read %s: it is a field of bits that lies across words", name)
	}
	v.fetched = f
	v.address = t.Ctype != nil && t.Ctype.Kind == types.Pointer
	return v, nil
}

func (h *handler) fieldNames() string {
	var names []string
	for _, f := range h.proto.fields {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return "no fields"
	}
	return "the fields " + strings.Join(names, ", ")
}

func (h *handler) signedField(name string) bool {
	for _, f := range h.proto.fields {
		if f.Name == name {
			return f.Signed
		}
	}
	return false
}

// texts are functions that read text of C at an address: whether in the kernel, and whether it comes in quotes.
var texts = map[string]struct{ kernel, quoted bool }{
	"user_string": {}, "user_string_quoted": {quoted: true}, "user_string_warn": {}, "kernel_string": {kernel: true},
	"kernel_string_quoted": {kernel: true, quoted: true},
}

// called is a call that gives a value.
func (h *handler) called(c *ast.Call) (value, *diag.Diagnostic) {
	name := c.Fun.Name
	if !h.builtin(c) {
		return value{}, h.refuse(c, "cannot call %s()", name)
	}
	if t, ok := texts[name]; ok && len(c.Args) > 0 {
		return h.textAt(c, t.kernel)
	}
	switch name {
	case "execname":
		return value{name: "comm", field: "comm", isText: true, line: true}, nil
	case "tid":
		return value{name: "tid", field: "common_pid", line: true, fetched: fetched{size: 32, signed: true}}, nil
	case "cpu":
		return value{name: "cpu", field: "cpu", line: true, fetched: fetched{size: 32, signed: true}}, nil
	case "ppfunc", "probefunc", "pp", "pn":
		return value{name: name, line: true}, nil
	case "pid":
		return value{}, h.refuse(c, "tells threads apart, not processes").
			Hintf("tid() is in each line; -x PID limits all events to a process")
	case "gettimeofday_s", "gettimeofday_ms", "gettimeofday_us", "gettimeofday_ns", "local_clock_ns", "local_clock_us",
		"get_cycles", "ktime_get_ns":
		return value{}, h.refuse(c, "has the time in each line, by a clock of its own").
			Hintf("the file trace_clock says which; leave %s() out", name)
	}
	return value{}, h.refuse(c, "has no %s()", name)
}

// textAt is the text at an address of the program or the kernel.
func (h *handler) textAt(c *ast.Call, kernel bool) (value, *diag.Diagnostic) {
	x := ast.Unparen(c.Args[0])
	for {
		n, ok := x.(*ast.Name)
		if !ok {
			break
		}
		next := h.locals[h.probe.Info.Locs[n]]
		if next == nil {
			break
		}
		x = ast.Unparen(next)
	}
	t := h.probe.Info.Targets[x]
	name := ast.String(x)
	switch {
	case t == nil:
		return value{}, h.refuse(c, "reads text at the address of a variable only")
	case t.Err != nil:
		return value{}, t.Err
	case t.AtEntry || len(t.Args) > 0 || t.Pretty != nil || t.Type != types.Long:
		_, d := h.target(x, t)
		if d == nil {
			d = h.refuse(c, "cannot read text at %s", name)
		}
		return value{}, d
	case h.proto.kind == 'e':
		return value{}, h.refuse(c, "cannot read text for %s: the event is the kernel's own", h.proto.path()).
			Hintf("a probe at a function of the kernel can: kernel.function(\"do_sys_openat2\")")
	case h.site.Kind.InUser() && kernel:
		return value{}, h.refuse(c, "reads memory of the program at its probes")
	}
	fetch, why := h.text(t.Value, kernel)
	if why != "" {
		return value{}, h.refuse(c, "cannot read %s: it %s", name, why)
	}
	return value{name: strings.TrimLeft(name, "$&@"), fetched: fetched{fetch: fetch}, isText: true,
		typeName: h.textType(kernel)}, nil
}
