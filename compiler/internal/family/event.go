package family

import (
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/tracefs"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// vars are the variables of an event, made when they are first asked for. It implements probe.Names.
type vars struct {
	load func() ([]*debuginfo.Var, error)
	done bool
	all  []*debuginfo.Var
	err  error
}

func (n *vars) list() ([]*debuginfo.Var, error) {
	if !n.done {
		n.done = true
		n.all, n.err = n.load()
	}
	return n.all, n.err
}

// Vars implements probe.Names.
func (n *vars) Vars() []*debuginfo.Var {
	vs, _ := n.list()
	return vs
}

// Var implements probe.Names.
func (n *vars) Var(name string) (*debuginfo.Var, error) {
	vs, err := n.list()
	if err != nil {
		return nil, err
	}
	var near []string
	for _, v := range vs {
		if v.Name == name {
			return v, nil
		}
		near = append(near, v.Name)
	}
	return nil, &debuginfo.NotFoundError{What: "variable", Name: name, Near: near}
}

// word makes the variable that is the event's n-th argument word. kernel says that pointers lead into the kernel.
func word(name string, t *types.Ctype, n int, kernel bool) *debuginfo.Var {
	v := &debuginfo.Var{Name: name, Kind: debuginfo.Param, Type: t}
	if t.Size < 0 || t.Size > 8 {
		v.Err = &debuginfo.NotLiveError{Name: name, Reason: "it is a " + t.Name + ", which is passed as no single word"}
		return v
	}
	v.Place = loc.Place{Type: t, Pieces: []loc.Piece{{Size: t.Size, Val: loc.Event(n)}}, Kernel: kernel && !t.User}
	return v
}

// events is the running kernel's tracefs, nil if it cannot be read or another kernel is meant.
func (e *Env) events() *tracefs.FS {
	if !e.traced && !e.Kern().Foreign() {
		e.traced = true
		e.tracefs, _ = tracefs.Open()
	}
	return e.tracefs
}

// basic are C's types as system calls use them; the values are size and sign.
var basic = map[string]struct {
	size   int64
	signed bool
}{
	"int": {4, true}, "unsigned int": {4, false}, "unsigned": {4, false}, "long": {8, true},
	"unsigned long": {8, false}, "size_t": {8, false},
	"pid_t": {4, true}, "uid_t": {4, false}, "gid_t": {4, false}, "qid_t": {4, false}, "umode_t": {2, false},
	"loff_t": {8, true}, "off_t": {8, true},
	"u32": {4, false}, "__u32": {4, false}, "u64": {8, false}, "__u64": {8, false}, "__s32": {4, true},
	"aio_context_t": {8, false},
	"clockid_t":     {4, true}, "timer_t": {4, true}, "mqd_t": {4, true}, "key_t": {4, true}, "key_serial_t": {4, true},
	"rwf_t":                   {4, true},
	"enum landlock_rule_type": {4, false}, "unsigned char": {1, false},
}

// ctype gives the type of a system call's argument. What a pointer leads to is looked up in the kernel's types when it
// is asked for.
func (e *Env) ctype(name string) *types.Ctype {
	name = strings.TrimSpace(name)
	bare := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(name, "const "), "const"))
	switch elem, ptr := strings.CutSuffix(bare, "*"); {
	case ptr:
		t := &types.Ctype{Kind: types.Pointer, Name: name, Size: 8, User: true}
		t.SetLoader(func(t *types.Ctype) { t.SetElem(e.ctype(elem)) })
		return t
	case bare == "void":
		return &types.Ctype{Kind: types.Void, Name: "void", Size: -1}
	case bare == "char":
		return &types.Ctype{Kind: types.Char, Name: name, Size: 1, Signed: true}
	}
	if b, ok := basic[bare]; ok {
		return &types.Ctype{Kind: types.Int, Name: name, Size: b.size, Signed: b.signed}
	}
	kernels := func() *types.Ctype {
		if s, err := e.Kern().Kernel(); err == nil {
			if t, err := s.Type(bare); err == nil {
				return t
			}
		}
		return &types.Ctype{Kind: types.Void, Name: bare, Size: -1}
	}
	if strings.HasPrefix(bare, "cap_user_") { // pointers that do not look so
		t := &types.Ctype{Kind: types.Pointer, Name: bare, Size: 8, User: true}
		t.SetLoader(func(t *types.Ctype) { t.SetElem(kernels().Elem()) })
		return t
	}
	return kernels()
}
