package values

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/types"
)

// errText is what an error's Error method would give; cut: not all of it is known.
type errText struct {
	text string
	cut  bool
}

func quoted(s string) string { return textfmt.Quote(s, 8*len(s)+8, true) }

// mostWrapped bounds how many errors are looked at, one in the other.
const mostWrapped = 16

// fixed are errors of the standard library whose text hangs on their type alone.
var fixed = map[string]string{
	"context.deadlineExceededError":        "context deadline exceeded",
	"internal/poll.errNetClosing":          "use of closed network connection",
	"*internal/poll.DeadlineExceededError": "i/o timeout",
	"net/http.http2noCachedConnError":      "http2: no cached connection was available",
}

// errorText gives the text of an error whose method is known, without running it: those of the standard library. Their
// fields are held against what the method reads, so that a type of the same name elsewhere is not taken for it.
func (t *texter) errorText(v value, depth int) (errText, bool) {
	none := errText{}
	if v.t == nil || depth > mostWrapped {
		return none, false
	}
	if s, ok := fixed[fullName(v.t)]; ok && v.t.Size <= 8 {
		return errText{s, false}, true
	}
	if fullName(v.t) == "syscall.Errno" && v.t.Kind == types.Int {
		n, ok := integer(v)
		if !ok {
			return none, false
		}
		return errText{syscall.Errno(n).Error(), false}, true
	}
	if v.t.Kind != types.Pointer || v.t.Elem() == nil || v.t.Elem().Kind != types.Struct {
		return none, false
	}
	s, ok := t.target(v)
	if !ok {
		return none, false
	}
	text := func(name string) (errText, bool) {
		f, ok := field(s, name)
		if !ok || f.t == nil || f.t.Kind != types.GoString {
			return none, false
		}
		txt, cut, ok := t.text(f)
		return errText{txt, cut}, ok
	}
	inner := func(name string) (errText, bool, bool) {
		f, ok := field(s, name)
		if !ok || f.t == nil || f.t.Kind != types.GoInterface {
			return none, false, false
		}
		in, isNil, ok := t.dynamic(f)
		if !ok || isNil {
			return none, isNil, ok
		}
		e, ok := t.errorText(in, depth+1)
		return e, false, ok
	}
	join := func(parts ...any) (errText, bool) {
		var out errText
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				if !out.cut {
					out.text += p
				}
			case errText:
				if !out.cut {
					out.text += p.text
				}
				out.cut = out.cut || p.cut
			}
		}
		return out, true
	}
	switch fullName(v.t) {
	case "*errors.errorString":
		return text("s")
	case "*fmt.wrapError", "*fmt.wrapErrors":
		return text("msg")
	case "*github.com/pkg/errors.fundamental":
		return text("msg")
	case "*github.com/pkg/errors.withMessage":
		msg, ok1 := text("msg")
		c, _, ok2 := inner("cause")
		if ok1 && ok2 {
			return join(msg, ": ", c)
		}
	case "*github.com/pkg/errors.withStack":
		f, ok := field(s, "error")
		if in, isNil, known := t.dynamic(f); ok && known && !isNil {
			return t.errorText(in, depth+1)
		}
	case "*io/fs.PathError":
		op, ok1 := text("Op")
		path, ok2 := text("Path")
		err, _, ok3 := inner("Err")
		if ok1 && ok2 && ok3 {
			return join(op, " ", path, ": ", err)
		}
	case "*os.SyscallError":
		call, ok1 := text("Syscall")
		err, _, ok2 := inner("Err")
		if ok1 && ok2 {
			return join(call, ": ", err)
		}
	case "*os.LinkError":
		op, ok1 := text("Op")
		from, ok2 := text("Old")
		to, ok3 := text("New")
		err, _, ok4 := inner("Err")
		if ok1 && ok2 && ok3 && ok4 {
			return join(op, " ", from, " ", to, ": ", err)
		}
	case "*net/url.Error":
		op, ok1 := text("Op")
		u, ok2 := text("URL")
		err, _, ok3 := inner("Err")
		if ok1 && ok2 && ok3 && !u.cut {
			return join(op, " ", strconv.Quote(u.text), ": ", err)
		}
	case "*strconv.NumError":
		fn, ok1 := text("Func")
		num, ok2 := text("Num")
		err, _, ok3 := inner("Err")
		if ok1 && ok2 && ok3 && !num.cut {
			return join("strconv.", fn, ": parsing ", strconv.Quote(num.text), ": ", err)
		}
	case "*os/exec.Error":
		name, ok1 := text("Name")
		err, _, ok2 := inner("Err")
		if ok1 && ok2 && !name.cut {
			return join("exec: ", strconv.Quote(name.text), ": ", err)
		}
	case "*errors.joinError":
		return t.joined(s, depth)
	}
	return none, false
}

// joined is the text of an error of errors.Join.
func (t *texter) joined(s value, depth int) (errText, bool) {
	f, ok := field(s, "errs")
	if !ok || f.t.Kind != types.GoSlice || f.t.Elem() == nil || f.t.Elem().Kind != types.GoInterface {
		return errText{}, false
	}
	ptr, ok1 := f.word(0)
	n, ok2 := f.word(8)
	e := f.t.Elem()
	if !ok1 || !ok2 || n > 1<<10 {
		return errText{}, false
	}
	b, _, _ := t.at(ptr, int64(n)*e.Size)
	if int64(len(b)) < int64(n)*e.Size {
		return errText{}, false
	}
	var out []string
	for i := int64(0); i < int64(n); i++ {
		in, isNil, ok := t.dynamic(value{b: b}.part(i*e.Size, e))
		if !ok || isNil {
			return errText{}, false
		}
		x, ok := t.errorText(in, depth+1)
		if !ok || x.cut {
			return errText{}, false
		}
		out = append(out, x.text)
	}
	return errText{strings.Join(out, "\n"), false}, true
}

// target is what a pointer leads to.
func (t *texter) target(v value) (value, bool) {
	p, ok := v.word(0)
	e := v.t.Elem()
	if !ok || p == 0 || e == nil {
		return value{}, false
	}
	if e.Size == 0 {
		return value{t: e}, true
	}
	b, read, _ := t.at(p, e.Size)
	return value{t: e, b: b}, read
}

// wrapped writes the errors that an error of fmt.Errorf has in it, where they say more than its text does.
func (t *texter) wrapped(v value, l level) {
	if fullName(v.t) != "*fmt.wrapError" {
		return
	}
	s, ok := t.target(v)
	if !ok {
		return
	}
	f, ok := field(s, "err")
	if !ok || f.t.Kind != types.GoInterface {
		return
	}
	in, isNil, ok := t.dynamic(f)
	if !ok || isNil {
		return
	}
	t.lit(" <- ")
	if in.t.Kind == types.Pointer && len(in.b) == 0 {
		t.lit(in.t.Name)
		return
	}
	t.iface(f, l.below())
}
