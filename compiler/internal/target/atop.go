package target

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/headers"
	"github.com/gostap/gostap/compiler/internal/travel"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// IsTargetOp reports whether an operator word begins a target expression.
func IsTargetOp(name string) bool {
	switch name {
	case "@cast", "@var", "@entry", "@uderef", "@uregister", "@kderef", "@kregister", "@enum", "@enumname", "@is",
		"@typeof", ast.HasKey, ast.RangeNext, ast.RangeKey, ast.RangeElem:
		return true
	}
	return false
}

func (b *build) atOp(e *ast.AtOp) (*elab.Target, error) {
	switch e.Name {
	case "@cast":
		o, err := b.cast(e)
		if err != nil {
			return nil, err
		}
		return read(o)
	case "@var":
		o, err := b.global(e)
		if err != nil {
			return nil, err
		}
		return read(o)
	case "@entry":
		return b.entryOf(e)
	case "@uderef", "@kderef":
		return b.deref(e)
	case "@is":
		return b.is(e)
	case "@typeof":
		return b.typeOf(e)
	case ast.RangeNext, ast.RangeKey, ast.RangeElem:
		return b.ranged(e)
	case ast.HasKey:
		return b.hasKey(e)
	case "@enum":
		return b.enum(e)
	case "@enumname":
		return b.enumName(e)
	case "@uregister", "@kregister":
		n, ok := int64(0), false
		if len(e.Args) == 1 {
			n, ok = constant(e.Args[0])
		}
		s := b.at()
		if s == nil || s.Image == nil {
			return nil, fail("there are no registers of a program here")
		}
		if m := s.Image.Machine(); !ok || !m.General(n) {
			return nil, fail("%s takes the DWARF number of a register, 0 to %d", e.Name, len(m.Registers)-1)
		}
		if kernel := isKernel(s.Image); kernel != (e.Name == "@kregister") {
			return nil, fail("the registers here are those of %s",
				map[bool]string{true: "the kernel: use @kregister", false: "a program: use @uregister"}[kernel])
		}
		return &elab.Target{Type: types.Long, Value: loc.Register(int(n))}, nil
	}
	return nil, fail("%s is not available in this version", e.Name)
}

// entryOf is "@entry(e)".
func (b *build) entryOf(e *ast.AtOp) (*elab.Target, error) {
	if len(e.Args) != 1 {
		return nil, fail("@entry takes one expression")
	}
	s := b.site
	if s == nil || !s.IsReturn() {
		return nil, fail("@entry is for .return probes").(*problem).advise("append .return to the probe point")
	}
	if b.inEntry {
		return nil, fail("@entry inside of @entry says nothing new")
	}
	if x := ast.Unparen(e.Args[0]); isTarget(x) {
		return b.atEntry(func() (*elab.Target, error) {
			t, err := b.expr(x)
			if err == nil && len(b.args) > 0 {
				// The index is an expression too: evaluate the whole at the entry.
				b.args = nil
				return &elab.Target{Inner: e.Args[0], Type: t.Type, Ctype: t.Ctype}, nil
			}
			return t, err
		}, false)
	}
	if _, err := b.entrySite(); err != nil {
		return nil, err
	}
	return &elab.Target{Inner: e.Args[0], AtEntry: true}, nil
}

// enum is @enum("NAME"): the value of an enumerator of the probed program or the kernel.
func (b *build) enum(e *ast.AtOp) (*elab.Target, error) {
	words, ok := literals(e.Args)
	if !ok || len(words) != 1 {
		return nil, fail(`@enum takes the name of an enumerator: @enum("NAME")`)
	}
	imgs, err := b.modules("")
	if err != nil {
		return nil, err
	}
	var where []string
	var near []string
	for _, img := range imgs {
		where = append(where, img.Path())
		if !img.HasTypes() && img.NoTypes() != "" && len(imgs) == 1 {
			return nil, fail("%s, so it has no names of constants", img.NoTypes())
		}
		en, ok := img.(debuginfo.Enums)
		if !ok || !img.HasTypes() {
			continue
		}
		t, err := en.Enum(words[0])
		if err != nil {
			var none *debuginfo.NotFoundError
			if errors.As(err, &none) {
				near = append(near, none.Near...)
			}
			continue
		}
		for _, c := range t.Enums() {
			if c.Name == words[0] {
				return &elab.Target{Type: types.Long, Value: travel.Constant(img, c.Name, c.Val)}, nil
			}
		}
	}
	p := fail("there is no enumerator %s in %s", words[0], strings.Join(where, " and ")).(*problem)
	if len(near) > 0 {
		return nil, p.advise("did you mean %s?", strings.Join(near, ", "))
	}
	return nil, p
}

// enumName is @enumname(value [, "type" [, "module"]]): the name that a number has in an enumeration. Without a type
// it is that of the variable.
func (b *build) enumName(e *ast.AtOp) (*elab.Target, error) {
	if len(e.Args) == 0 || len(e.Args) > 3 {
		return nil, fail(`@enumname takes a value and perhaps a type and a file: @enumname(value, "enum x", "file")`)
	}
	words, ok := literals(e.Args[1:])
	if !ok {
		return nil, fail("the type and the file of @enumname are written strings")
	}
	if len(words) == 0 {
		x := ast.Unparen(e.Args[0])
		if !isTarget(x) {
			return nil, fail("the type of %s is not known",
				Text(e.Args[0])).(*problem).advise(`name it: @enumname(value, "enum x")`)
		}
		t, err := b.expr(x)
		if err != nil {
			return nil, err
		}
		if names := b.constants(t.Ctype); len(names) > 0 && t.Type == types.Long && !t.AtEntry {
			return &elab.Target{Type: types.String, Value: b.onlyHere(nil, t.Value), Names: names}, nil
		}
		if t.Ctype == nil || t.Ctype.Kind != types.Enum || t.Type != types.Long || t.AtEntry {
			return nil, fail("%s is no enumeration",
				Text(x)).(*problem).advise(`name the type: @enumname(value, "enum x")`)
		}
		return &elab.Target{Type: types.String, Value: b.onlyHere(nil, t.Value), Names: t.Ctype.Enums()}, nil
	}
	module := ""
	if len(words) > 1 {
		module = words[1]
	}
	imgs, err := b.modules(module)
	if err != nil {
		return nil, err
	}
	var first error
	for _, img := range imgs {
		names, err := enumNamed(img, words[0])
		if err == nil {
			v := b.arg(e.Args[0])
			if n, ok := constant(e.Args[0]); ok {
				v = loc.Constant(n)
			}
			return &elab.Target{Type: types.String, Value: b.onlyHere(img, v), Names: names}, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// constants are the named ones of a type of the probed program, nil if it has none.
func (b *build) constants(t *types.Ctype) []types.Enumerator {
	if t == nil || b.at() == nil {
		return nil
	}
	return constantsOf(b.at().Image, t)
}

// constantsOf are the named constants of a type of img's program, nil if there are none.
func constantsOf(img debuginfo.Image, t *types.Ctype) []types.Enumerator {
	if c, ok := img.(debuginfo.Constants); ok {
		if list, err := c.Constants(t); err == nil {
			return list
		}
	}
	return nil
}

// enumNamed gives the names of an enumeration, which is named with or without the keyword, or of a type of Go.
func enumNamed(img debuginfo.Image, name string) ([]types.Enumerator, error) {
	t, err := typeNamed(img, name)
	if err != nil && !strings.HasPrefix(name, "enum ") {
		t, err = typeNamed(img, "enum "+name)
	}
	if err != nil {
		return nil, err
	}
	if list := constantsOf(img, t); len(list) > 0 {
		return list, nil
	}
	if t.Kind != types.Enum {
		return nil, fail("%s is no enumeration", name)
	}
	return t.Enums(), nil
}

// isTarget reports whether e alone is a target expression.
func isTarget(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Target:
		return true
	case *ast.AtOp:
		return IsTargetOp(e.Name)
	case *ast.Unary:
		return e.Op == "&"
	}
	return false
}

// deref is @uderef and @kderef.
func (b *build) deref(e *ast.AtOp) (*elab.Target, error) {
	if len(e.Args) != 2 {
		return nil, fail("%s takes a size and an address", e.Name)
	}
	n, ok := constant(e.Args[0])
	if !ok || n != 1 && n != 2 && n != 4 && n != 8 {
		return nil, fail("%s reads 1, 2, 4 or 8 bytes", e.Name)
	}
	return &elab.Target{Type: types.Long, Value: b.arg(e.Args[1]).Load(int(n), false, e.Name == "@kderef")}, nil
}

// literals gives the words of @cast and @var behind the first.
func literals(args []ast.Expr) ([]string, bool) {
	var out []string
	for _, a := range args {
		l, ok := ast.Unparen(a).(*ast.Literal)
		if !ok || !l.IsString {
			return nil, false
		}
		out = append(out, l.Str)
	}
	return out, true
}

// cast is "@cast(value, "type" [, "module"])": a pointer to type.
func (b *build) cast(e *ast.AtOp) (object, error) {
	if len(e.Args) < 2 || len(e.Args) > 3 {
		return object{}, fail(`@cast takes a value, a type and perhaps a file: @cast(value, "type", "file")`)
	}
	words, ok := literals(e.Args[1:])
	if !ok {
		return object{}, fail("the type and the file of @cast are written strings")
	}
	if x, ok := ast.Unparen(e.Args[0]).(*ast.Target); ok {
		if o, entry, err := b.interfaceOf(x); err == nil && o.Type.Kind == types.GoInterface {
			return b.castInterface(x, o, entry, words)
		}
	}
	module := ""
	if len(words) > 1 {
		module = words[1]
	}
	imgs, err := b.modules(module)
	if err != nil {
		return object{}, err
	}
	var first error
	for _, img := range imgs {
		t, err := typeNamed(img, words[0])
		if err == nil {
			if n, ok := constant(e.Args[0]); ok {
				return value(pointerTo(t), loc.Constant(n), isKernel(img)), nil
			}
			return value(pointerTo(t), b.arg(e.Args[0]), isKernel(img)), nil
		}
		if first == nil {
			first = err
		}
	}
	return object{}, first
}

// typeNamed finds a type; "foo" is also "struct foo" and "union foo", and stars make pointers.
func typeNamed(img debuginfo.Image, name string) (*types.Ctype, error) {
	if !debuginfo.Tells(img) {
		if isKernel(img) {
			return nil, untyped(img)
		}
		return nil, fail("%s has no DWARF debug information, so it has no types", img.Path())
	}
	name = strings.TrimSpace(name)
	if base, ok := strings.CutSuffix(name, "*"); ok && strings.TrimSpace(base) != "" {
		t, err := typeNamed(img, base)
		if err != nil {
			return nil, err
		}
		return pointerTo(t), nil
	}
	t, err := img.Type(name)
	if err == nil {
		return t, nil
	}
	if img.Lang() == debuginfo.C && !strings.Contains(name, " ") {
		for _, kind := range []string{"struct ", "union ", "enum "} {
			if t, err2 := img.Type(kind + name); err2 == nil {
				return t, nil
			}
		}
	}
	return nil, err
}

// modules opens the files that @cast and @var name, or takes the probed one.
func (b *build) modules(list string) ([]debuginfo.Image, error) {
	if list == "" {
		if s := b.at(); s != nil && s.Image != nil {
			return []debuginfo.Image{s.Image}, nil
		}
		// At events of the kernel: the kernel, then the one program of the script. Elsewhere the other way about.
		if s := b.at(); s != nil && s.Program.Path == "" && s.Kind.Words() != probe.NoWords {
			if img, err := b.kernel(""); err == nil {
				out := []debuginfo.Image{img}
				if img := b.env.only(); img != nil {
					out = append(out, img)
				}
				return out, nil
			}
		}
		var out []debuginfo.Image
		if img := b.env.only(); img != nil {
			out = append(out, img)
		} else if b.env.Images != nil && len(b.env.Images()) > 1 {
			return nil, fail("it does not say which program's types are meant").(*problem).advise(
				`name the file, or the kernel: @cast(value, "type", "/path/to/program"), @cast(value, "type", "kernel")`)
		}
		img, err := b.kernel("")
		if err == nil {
			return append(out, img), nil
		}
		if len(out) > 0 {
			return out, nil
		}
		return nil, err
	}
	var out []debuginfo.Image
	for _, m := range strings.Split(list, ":") {
		switch {
		case m == "kernel" || strings.HasPrefix(m, "kernel<"): // BTF has the types of all headers that the kernel uses
			img, err := b.kernel("")
			if err != nil {
				return nil, err
			}
			out = append(out, img)
			continue
		case strings.HasPrefix(m, "<"):
			img, err := b.headers(m)
			if err != nil {
				return nil, err
			}
			out = append(out, img)
			continue
		case !strings.Contains(m, "/"):
			// A word is a module of the kernel, or a program in PATH.
			if img, err := b.kernel(m); err == nil {
				out = append(out, img)
				continue
			}
		}
		img, err := b.env.image(m)
		if err != nil {
			return nil, fail("%s: %v", m, err)
		}
		out = append(out, img)
	}
	return out, nil
}

// headers are the types of C headers.
func (b *build) headers(names string) (debuginfo.Image, error) {
	if b.env.Headers == nil {
		return nil, fail("types of header files are not known here")
	}
	img, err := b.env.Headers(names)
	var why *headers.Error
	if errors.As(err, &why) {
		return nil, fail("%s", why.Text).(*problem).advise("%s", why.Hint)
	}
	if err != nil {
		return nil, fail("%s: %v", names, err)
	}
	return img, nil
}

// untyped is why there are no types. A kernel lacks them for all places of a script.
func untyped(img debuginfo.Image) error {
	if k, ok := img.(interface{ Err() error }); ok && k.Err() != nil { // kbtf.Image
		return fail("%v", k.Err())
	}
	return fail("%s", img.NoTypes())
}

// kernel is the kernel, or a module of it, that types and variables are asked of.
func (b *build) kernel(module string) (debuginfo.Image, error) {
	if b.env.Kernel == nil {
		return nil, fail("there is no kernel to ask for types")
	}
	img, err := b.env.Kernel(module)
	if err != nil {
		return nil, fail("%v", err)
	}
	return img, nil
}

// isKernel reports whether img is the kernel or a module of it, whose memory is read as such.
func isKernel(img debuginfo.Image) bool {
	m, ok := img.(interface{ Module() string })
	return ok && m != nil
}

// global is "@var("name" [, "module"])".
func (b *build) global(e *ast.AtOp) (object, error) {
	words, ok := literals(e.Args)
	if !ok || len(words) < 1 || len(words) > 2 {
		return object{}, fail(`@var takes a name and perhaps a file: @var("name", "file")`)
	}
	module := ""
	if len(words) > 1 {
		module = words[1]
	}
	imgs, err := b.modules(module)
	if err != nil {
		return object{}, err
	}
	var first error
	for _, img := range imgs {
		if !img.HasTypes() {
			if first = fail("%s has no DWARF debug information", img.Path()); isKernel(img) {
				first = untyped(img)
			}
			continue
		}
		v, err := img.Global(words[0])
		if err == nil && v.Err != nil {
			err = v.Err
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		o := object{Place: v.Place}
		if o.Type == nil {
			o.Type = v.Type
		}
		if s := b.at(); biased(o.Place) &&
			(s == nil || s.Image == nil || s.Image != img && s.Image.Path() != img.Path()) {
			return object{}, fail("%s is loaded at an address that changes, and only the probed program's is known",
				img.Path()).(*problem).
				advise("use @var in a probe of that program")
		}
		return o, nil
	}
	return object{}, first
}

// biased reports whether a place depends on where its image is loaded.
func biased(p loc.Place) bool {
	has := func(q loc.Prog) bool {
		for _, s := range q.Steps {
			if s.Op == loc.Image {
				return true
			}
		}
		return false
	}
	if p.InMemory {
		return has(p.Addr)
	}
	for _, q := range p.Pieces {
		if has(q.Val) {
			return true
		}
	}
	return false
}

// Text writes a target expression as in the script.
func Text(e ast.Expr) string {
	switch e := e.(type) {
	case nil:
		return ""
	case *ast.Paren:
		return Text(e.X)
	case *ast.Unary:
		return e.Op + Text(e.X)
	case *ast.Literal:
		return ast.LiteralText(e)
	case *ast.Name:
		return e.Name
	case *ast.AtOp:
		switch e.Name {
		case ast.RangeNext, ast.RangeKey, ast.RangeElem:
			return Text(e.Args[0])
		case ast.HasKey:
			if len(e.Args) > 2 {
				return fmt.Sprintf("[%s, %s] in %s", Text(e.Args[0]), Text(e.Args[2]), Text(e.Args[1]))
			}
			return Text(e.Args[0]) + " in " + Text(e.Args[1])
		case "@typeof":
			if len(e.Args) == 2 {
				return fmt.Sprintf("%s(%s) == %s", e.Name, Text(e.Args[0]), Text(e.Args[1]))
			}
		}
		var args []string
		for _, a := range e.Args {
			args = append(args, Text(a))
		}
		return e.Name + "(" + strings.Join(args, ", ") + ")"
	case *ast.Target:
		s := e.Name
		if e.Base != nil {
			s = Text(e.Base)
		}
		for _, st := range e.Path {
			switch {
			case st.Type != "":
				s += ".(" + st.Type + ")"
			case st.Member != "":
				s += "->" + st.Member
			case st.Range:
				s += fmt.Sprintf("[%s:%s]", Text(st.Index), Text(st.High))
			case st.Second != nil:
				s += fmt.Sprintf("[%s, %s]", Text(st.Index), Text(st.Second))
			default:
				s += fmt.Sprintf("[%s]", Text(st.Index))
			}
		}
		return s + strings.Repeat("$", e.Pretty)
	}
	return "..."
}

// onlyHere is v in a program whose use of it fits one kernel, as the names of an enumeration of it do.
func (b *build) onlyHere(img debuginfo.Image, v loc.Prog) loc.Prog {
	switch s := b.at(); {
	case img != nil:
	case s != nil && s.Image != nil:
		img = s.Image
	case b.env.Kernel != nil:
		img, _ = b.env.Kernel("")
	}
	if img == nil || !travel.Portable(img) {
		return v
	}
	return v.Beyond(0, travel.Only+"names of an enumeration")
}
