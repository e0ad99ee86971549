package values

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/gostap/gostap/compiler/types"
)

// errText is what an error's Error method would give; cut: not all of it is known.
type errText struct {
	text string
	cut  bool
}

// mostWrapped bounds how many errors are looked at, one in the other.
const mostWrapped = 16

// fixed are errors of the standard library whose text hangs on their type alone.
var fixed = map[string]string{
	"context.deadlineExceededError":        "context deadline exceeded",
	"internal/poll.errNetClosing":          "use of closed network connection",
	"*internal/poll.DeadlineExceededError": "i/o timeout",
	"net/http.http2noCachedConnError":      "http2: no cached connection was available",
	"*net.timeoutError":                    "i/o timeout",
	"net.canceledError":                    "operation was canceled",
}

// said is a part of what an Error method gives: literal text, a member that is a string, as it is or as strconv.Quote
// writes it, or one that is an error or a net.Addr. pre stands in front of a member that is there.
type said struct{ lit, text, quoted, err, addr, pre string }

// composed are the errors of the standard library, and of github.com/pkg/errors, whose methods put their members
// together.
var composed = map[string][]said{
	"*errors.errorString":                {{text: "s"}},
	"*fmt.wrapError":                     {{text: "msg"}},
	"*fmt.wrapErrors":                    {{text: "msg"}},
	"*github.com/pkg/errors.fundamental": {{text: "msg"}},
	"*github.com/pkg/errors.withMessage": {{text: "msg"}, {lit: ": "}, {err: "cause"}},
	"*github.com/pkg/errors.withStack":   {{err: "error"}},
	"*io/fs.PathError":                   {{text: "Op"}, {lit: " "}, {text: "Path"}, {lit: ": "}, {err: "Err"}},
	"*os.SyscallError":                   {{text: "Syscall"}, {lit: ": "}, {err: "Err"}},
	"*os.LinkError": {{text: "Op"}, {lit: " "}, {text: "Old"}, {lit: " "}, {text: "New"}, {lit: ": "},
		{err: "Err"}},
	"*net/url.Error": {{text: "Op"}, {lit: " "}, {quoted: "URL"}, {lit: ": "}, {err: "Err"}},
	"*strconv.NumError": {{lit: "strconv."}, {text: "Func"}, {lit: ": parsing "}, {quoted: "Num"}, {lit: ": "},
		{err: "Err"}},
	"*os/exec.Error": {{lit: "exec: "}, {quoted: "Name"}, {lit: ": "}, {err: "Err"}},
	"*net.OpError": {{text: "Op"}, {text: "Net", pre: " "}, {addr: "Source", pre: " "}, {addr: "Addr", pre: " "},
		{lit: ": "}, {err: "Err"}},
	"*net.DNSError": {{lit: "lookup "}, {text: "Name"}, {text: "Server", pre: " on "}, {lit: ": "},
		{text: "Err"}},
	"*regexp/syntax.Error": {{lit: "error parsing regexp: "}, {text: "Code"}, {lit: ": `"}, {text: "Expr"},
		{lit: "`"}},
}

// errorText gives the text of an error whose method is known, without running it: those of the standard library. Their
// fields are held against what the method reads, so that a type of the same name elsewhere is not taken for it.
func (t *texter) errorText(v value, depth int) (errText, bool) {
	if v.t == nil || depth > mostWrapped {
		return errText{}, false
	}
	name := fullName(v.t)
	if s, ok := fixed[name]; ok && v.t.Size <= 8 {
		return errText{s, false}, true
	}
	if name == "syscall.Errno" && v.t.Kind == types.Int {
		n, ok := integer(v)
		return errText{syscall.Errno(n).Error(), false}, ok
	}
	parts := composed[name]
	if parts == nil && name != "*errors.joinError" || v.t.Kind != types.Pointer || v.t.Elem() == nil ||
		v.t.Elem().Kind != types.Struct {
		return errText{}, false
	}
	s, ok := t.target(v)
	switch {
	case !ok:
		return errText{}, false
	case parts == nil:
		return t.joined(s, depth)
	}
	var out errText
	for _, p := range parts {
		x, ok := t.saying(s, p, depth)
		if !ok {
			return errText{}, false
		}
		if !out.cut {
			out = errText{out.text + x.text, x.cut}
		}
	}
	return out, true
}

// saying gives one part of an error's text, from the members of s.
func (t *texter) saying(s value, p said, depth int) (errText, bool) {
	switch {
	case p.lit != "":
		return errText{p.lit, false}, true
	case p.err != "":
		f, ok := field(s, p.err)
		if !ok || f.t == nil || f.t.Kind != types.GoInterface {
			return errText{}, false
		}
		in, isNil, ok := t.dynamic(f)
		if !ok || isNil {
			return errText{}, false
		}
		return t.errorText(in, depth+1)
	case p.addr != "":
		return t.addrText(s, p)
	}
	f, ok := field(s, p.text+p.quoted)
	if !ok || f.t == nil || f.t.Kind != types.GoString {
		return errText{}, false
	}
	text, cut, ok := t.text(f)
	if p.quoted != "" {
		text, ok = strconv.Quote(text), ok && !cut
	}
	if text != "" {
		text = p.pre + text
	}
	return errText{text, cut}, ok
}

// addrText gives the text of a net.Addr in a member of a *net.OpError.
func (t *texter) addrText(s value, p said) (errText, bool) {
	f, ok := field(s, p.addr)
	if !ok || f.t == nil || f.t.Kind != types.GoInterface {
		return errText{}, false
	}
	in, isNil, ok := t.dynamic(f)
	if !ok || isNil {
		return errText{}, ok
	}
	name := fullName(in.t)
	if in.t.Kind != types.Pointer || !strings.HasPrefix(name, "*net.") {
		return errText{}, false
	}
	a, ok := t.target(in)
	if !ok {
		return errText{}, false
	}
	text, cut := "", false
	if name == "*net.UnixAddr" {
		f, ok = field(a, "Name")
		if !ok || f.t.Kind != types.GoString {
			return errText{}, false
		}
		text, cut, ok = t.text(f)
	} else {
		text, ok = located{t}.endpoint(a)
	}
	pre := p.pre
	if src, known := field(s, "Source"); p.addr == "Addr" && known {
		if w, _ := src.word(0); w != 0 {
			pre = "->"
		}
	}
	return errText{pre + text, cut}, ok
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
