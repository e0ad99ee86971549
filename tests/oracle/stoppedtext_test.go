package oracle

import (
	"encoding/binary"
	"fmt"
	"go/constant"
	"io/fs"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// sameComparer reads a value as gostap writes it along Delve's of the same moment: nothing may differ, addresses,
// what interfaces hold and the elements of maps included.
type sameComparer struct {
	s     string
	scope *proc.EvalScope
	// bad says what is wrong first.
	bad string
	// open: gostap leaves a part open that Delve has. unread: the other way round. both: neither has it. cut: a limit
	// was reached.
	open, unread, both, cut bool
	// bare: the program has no names of constants.
	bare bool
	// deep is how many values lie around this one.
	deep int
}

const (
	delveElems = 64
	delveText  = 2100
	delveDeep  = 40
)

var delveOne = proc.LoadConfig{FollowPointers: true, MaxVariableRecurse: 2, MaxStringLen: delveText,
	MaxArrayValues: delveElems, MaxStructFields: -1}

func (c *sameComparer) wrong(format string, args ...any) {
	if c.bad == "" {
		c.bad = fmt.Sprintf("%s at %.80q", fmt.Sprintf(format, args...), c.s)
	}
}

func (c *sameComparer) take(prefix string) bool {
	rest, ok := strings.CutPrefix(c.s, prefix)
	if ok && c.bad == "" {
		c.s = rest
	}
	return ok
}

func (c *sameComparer) want(prefix string) bool {
	if c.bad == "" && !c.take(prefix) {
		c.wrong("not %q", prefix)
	}
	return c.bad == ""
}

// skip passes over a value.
func (c *sameComparer) skip() {
	p := comparer{s: c.s}
	p.skip()
	if strings.Contains(unquoted(c.s[:len(c.s)-len(p.s)]), "?") {
		c.both = true
	}
	c.s = p.s
}

// unquoted leaves out what stands in quotes.
func unquoted(s string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// token is what stands before the next sign that is none of a number.
func (c *sameComparer) token() (t string) {
	n := strings.IndexAny(c.s, " ,:]})")
	if n < 0 {
		n = len(c.s)
	}
	t, c.s = c.s[:n], c.s[n:]
	return t
}

// loaded has Delve read what it has left out of a value.
func (c *sameComparer) loaded(v *proc.Variable) *proc.Variable {
	some := len(v.Children) > 0
	switch v.Kind {
	case reflect.Struct, reflect.Array:
		if some || v.Len == 0 {
			return v
		}
	case reflect.Slice, reflect.Map:
		if some || v.Len == 0 && v.Base != 0 && v.Kind == reflect.Slice {
			return v
		}
	case reflect.Ptr, reflect.Interface:
		if some && !v.Children[0].OnlyAddr {
			return v
		}
	case reflect.String, reflect.Bool, reflect.Int:
		if v.Value != nil {
			return v
		}
	default:
		return v
	}
	if v.Addr == 0 || v.Flags&proc.VariableFakeAddress != 0 || v.DwarfType == nil {
		return v
	}
	n, err := c.scope.EvalExpression(fmt.Sprintf("*(*%q)(%#x)", v.DwarfType.Common().Name, v.Addr), delveOne)
	if err != nil || n.Kind != v.Kind {
		return v
	}
	return n
}

func (c *sameComparer) value(v *proc.Variable) {
	if c.bad != "" {
		return
	}
	if c.deep++; c.deep > delveDeep {
		c.deep--
		c.skip()
		c.cut = true
		return
	}
	defer func() { c.deep-- }()
	switch {
	case strings.HasPrefix(c.s, "..."):
		c.take("...")
		c.cut = true
		return
	case v.Unreadable != nil:
		c.skip()
		c.unread = true
		return
	case c.take("?"):
		c.open = true
		return
	}
	if c.own(v) || c.context(v) {
		return
	}
	v = c.loaded(v)
	if v.Unreadable != nil {
		c.skip()
		c.unread = true
		return
	}
	if c.left(v) {
		return
	}
	switch v.Kind {
	case reflect.Bool:
		if v.Value == nil {
			c.skip()
			c.unread = true
			return
		}
		yes := constant.BoolVal(v.Value)
		t := c.token()
		if n, err := strconv.Atoi(t); t != strconv.FormatBool(yes) && (err != nil || n < 2 || !yes) {
			c.wrong("%s, not %v", t, yes) // a number is what is left there of something else
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		c.integer(v)
	case reflect.Float32, reflect.Float64:
		c.float(v)
	case reflect.Complex64, reflect.Complex128:
		c.skip()
	case reflect.String:
		c.text(v)
	case reflect.Slice:
		c.slice(v)
	case reflect.Array:
		if v.Len > 0 && len(v.Children) == 0 {
			c.skip()
			c.cut = true
			return
		}
		c.list(v)
	case reflect.Struct:
		c.members(v)
	case reflect.Interface:
		c.iface(v)
	case reflect.Ptr:
		c.pointer(v)
	case reflect.UnsafePointer:
		if len(v.Children) == 0 {
			c.skip()
			c.unread = true
		} else if a := v.Children[0].Addr; a == 0 {
			c.want("nil")
		} else {
			c.want(fmt.Sprintf("%#x", a))
		}
	case reflect.Map:
		c.mapping(v)
	case reflect.Chan:
		c.channel(v)
	case reflect.Func:
		c.function(v)
	default:
		c.skip()
		c.unread = true
	}
}

// left reports whether v is something that Delve has only the place of, and does not read by the name of its type.
func (c *sameComparer) left(v *proc.Variable) bool {
	switch v.Kind {
	case reflect.Map, reflect.Chan:
		if v.Base != 0 || v.Len > 0 {
			return false
		}
	case reflect.Func:
		if v.Base != 0 || v.Value != nil {
			return false
		}
	default:
		return false
	}
	b := make([]byte, 8)
	if n, err := c.scope.Mem.ReadMemory(b, v.Addr); n < 8 || err != nil {
		c.skip()
		c.unread = true
	} else if binary.LittleEndian.Uint64(b) == 0 {
		c.want("nil")
	} else {
		if c.take("nil") {
			c.wrong("not nil")
		}
		c.skip()
		c.cut = true
	}
	return true
}

func (c *sameComparer) integer(v *proc.Variable) {
	if v.Value == nil {
		c.skip()
		c.unread = true
		return
	}
	want := v.Value.ExactString()
	if n, exact := constant.Int64Val(v.Value); exact && v.DwarfType != nil {
		switch v.DwarfType.Common().Name {
		case "time.Duration":
			want = time.Duration(n).String()
		case "time.Month":
			want = time.Month(n).String()
		case "time.Weekday":
			want = time.Weekday(n).String()
		case "io/fs.FileMode":
			want = fs.FileMode(n).String()
		default:
			rest, named := nameOf(c.s, v)
			if !named && c.bare {
				rest, named = c.s, true
			}
			if !named {
				c.wrong("not %s", v.ConstDescr())
			}
			c.s = rest
		}
	}
	if t := c.token(); t != want {
		c.wrong("%s, not %s", t, want)
	}
}

func (c *sameComparer) float(v *proc.Variable) {
	if v.Value == nil || v.FloatSpecial != 0 {
		c.skip()
		return
	}
	t := c.token()
	got, err := strconv.ParseFloat(t, 64)
	if want, _ := constant.Float64Val(v.Value); err != nil || math.Abs(got-want) > 1e-6*math.Abs(want) {
		c.wrong("%s, not %v", t, want)
	}
}

func (c *sameComparer) members(v *proc.Variable) {
	if len(v.Children) == 0 && v.Len > 0 {
		c.skip()
		c.cut = true
		return
	}
	if c.take("{...}") {
		c.cut = true
		return
	}
	c.want("{")
	for i := range v.Children {
		if i > 0 && !c.want(", ") {
			return
		}
		if c.take("...") {
			c.cut = true
			break
		}
		if f := &v.Children[i]; c.want(f.Name + ":") {
			c.value(f)
		}
	}
	c.want("}")
}

// list compares elements in brackets.
func (c *sameComparer) list(v *proc.Variable) {
	if !c.want("[") {
		return
	}
	for i := int64(0); i < v.Len && c.bad == ""; i++ {
		if i > 0 && !c.want(" ") {
			return
		}
		if c.take(fmt.Sprintf("...%d more", v.Len-i)) {
			c.cut = true
			break
		}
		if i < int64(len(v.Children)) {
			c.value(&v.Children[i])
		} else {
			c.skip()
			c.cut = true
		}
	}
	c.want("]")
}

func (c *sameComparer) slice(v *proc.Variable) {
	switch {
	case v.Base == 0 && v.Len == 0:
		c.want("nil")
	case c.take(fmt.Sprintf("[...%d]", v.Len)):
		c.cut = true
	case strings.HasPrefix(c.s, "\""):
		var b []byte
		for i := range v.Children {
			n, ok := constant.Int64Val(constant.ToInt(orZero(v.Children[i].Value)))
			if !ok {
				c.skip()
				return
			}
			b = append(b, byte(n))
		}
		c.quoted(string(b), v.Len)
	case v.Len > 0 && len(v.Children) == 0:
		c.skip()
		c.cut = true
	default:
		c.list(v)
	}
}

func orZero(v constant.Value) constant.Value {
	if v == nil {
		return constant.MakeInt64(0)
	}
	return v
}

func (c *sameComparer) text(v *proc.Variable) {
	if v.Value == nil || v.Value.Kind() != constant.String {
		c.skip()
		c.unread = true
		return
	}
	c.quoted(constant.StringVal(v.Value), v.Len)
}

// quoted compares a text of n bytes, of which Delve has read have.
func (c *sameComparer) quoted(have string, n int64) {
	full := textfmt.Quote(have, 8*len(have)+8, true)
	if int64(len(have)) == n && c.take(full) {
		if c.take("...") {
			c.wrong("cut, and it is all there")
		}
		return
	}
	p := comparer{s: c.s}
	if !strings.HasPrefix(c.s, "\"") {
		c.wrong("not %.60s", full)
		return
	}
	i := 1
	for i < len(p.s) && p.s[i] != '"' {
		if p.s[i] == '\\' {
			i++
		}
		i++
	}
	got := p.s[:min(i, len(p.s))]
	n1 := min(len(got), len(full)-1)
	if got[:n1] != full[:n1] {
		c.wrong("not %.60s", full)
		return
	}
	c.s = strings.TrimPrefix(p.s[min(i, len(p.s)):], "\"")
	cut := c.take("...")
	c.cut = true
	if !cut && int64(len(have)) == n {
		c.wrong("shorter than %.60s", full)
	}
}

func (c *sameComparer) pointer(v *proc.Variable) {
	if len(v.Children) == 0 {
		c.skip()
		c.unread = true
		return
	}
	to := &v.Children[0]
	switch {
	case to.Addr == 0:
		c.want("nil")
	case c.take(fmt.Sprintf("&{...%#x}", to.Addr)):
		c.cut = true
	case strings.HasPrefix(c.s, "("):
		if i := strings.Index(c.s, ")(0x"); i > 0 {
			c.s = c.s[i+1:]
		}
		c.want(fmt.Sprintf("(%#x)", to.Addr))
		c.cut = true
	case strings.HasPrefix(c.s, "0x"):
		c.want(fmt.Sprintf("%#x", to.Addr))
	case c.want("&"):
		c.value(to)
	}
}
