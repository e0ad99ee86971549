package oracle

import (
	"fmt"
	"go/constant"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-delve/delve/pkg/proc"
)

// toDo begins the text of a sync.WaitGroup.
var toDo = regexp.MustCompile(`^\{-?\d+ to do`)

// chains are the types that gostap writes as the chain of contexts that they are.
var chains = regexp.MustCompile(`^(\*(struct )?context\.(valueCtx|cancelCtx|timerCtx|afterFuncCtx)|` +
	`(struct )?context\.(backgroundCtx|todoCtx|stopCtx|withoutCancelCtx))$`)

// context passes over a chain of contexts, which is held against the program's own text elsewhere (g-chains), and
// reports whether there was one.
func (c *sameComparer) context(v *proc.Variable) bool {
	if strings.HasPrefix(c.s, "nil") || strings.HasPrefix(c.s, "(") {
		return false
	}
	if v.Kind == reflect.Interface {
		if v = c.loaded(v); len(v.Children) == 0 {
			return false
		}
		v = &v.Children[0]
	}
	if v.DwarfType == nil || !chains.MatchString(v.DwarfType.String()) || strings.HasPrefix(c.s, "*context.") ||
		strings.HasPrefix(c.s, "context.") && !strings.HasPrefix(c.s, "context.Background") &&
			!strings.HasPrefix(c.s, "context.TODO") {
		return false
	}
	c.skip()
	c.cut = true
	return true
}

// own compares a value that gostap shows otherwise than by its members, and reports whether it was one.
func (c *sameComparer) own(v *proc.Variable) bool {
	lock := v.DwarfType != nil && v.DwarfType.Common().Name == "internal/sync.Mutex" // by its last name
	if !lock && !ownText(v) || v.Kind != reflect.Struct || strings.HasPrefix(c.s, "{") &&
		!strings.HasPrefix(c.s, "{locked") && !strings.HasPrefix(c.s, "{unlocked") && !toDo.MatchString(c.s) {
		return false
	}
	v = c.loaded(v)
	child := func(v *proc.Variable, name string) *proc.Variable {
		for i := range v.Children {
			if v.Children[i].Name == name {
				return c.loaded(&v.Children[i])
			}
		}
		return &proc.Variable{}
	}
	number := func(v *proc.Variable) (int64, bool) {
		if v.Value == nil || v.Value.Kind() != constant.Int {
			return 0, false
		}
		if n, ok := constant.Int64Val(v.Value); ok {
			return n, true
		}
		n, ok := constant.Uint64Val(v.Value)
		return int64(n), ok
	}
	switch name := strings.TrimPrefix(v.DwarfType.Common().Name, "struct "); {
	case name == "time.Time":
		wall, ok1 := number(child(v, "wall"))
		ext, ok2 := number(child(v, "ext"))
		if !ok1 || !ok2 {
			break
		}
		const internal = int64(1969*365+1969/4-1969/100+1969/400) * 86400
		sec := ext - internal
		if wall < 0 { // with a monotonic reading
			sec = int64(1884*365+1884/4-1884/100+1884/400)*86400 + wall<<1>>31 - internal
			if wall<<1>>31 < 0 {
				sec += 1 << 33
			}
		}
		c.want(time.Unix(sec, wall&(1<<30-1)).UTC().Format(time.RFC3339Nano))
		return true
	case name == "sync.Mutex", lock:
		mu := v
		if !lock {
			mu = child(v, "mu")
		}
		state, ok := number(child(mu, "state"))
		if !ok {
			break
		}
		text := "{unlocked"
		if state&1 != 0 {
			text = "{locked"
		}
		if state>>3 > 0 {
			text += fmt.Sprintf(", %d waiting", state>>3)
		}
		c.want(text + "}")
		return true
	case name == "sync.WaitGroup" && toDo.MatchString(c.s):
		state := child(v, "state")
		if f := child(state, "v"); f.Value != nil {
			state = f
		}
		n, ok := number(state)
		if !ok {
			break
		}
		text := fmt.Sprintf("{%d to do", int32(n>>32))
		if waiters := n & (1<<31 - 1); waiters > 0 {
			text += fmt.Sprintf(", %d waiting", waiters)
		}
		c.want(text + "}")
		return true
	case name == "sync/atomic.Value":
		c.value(child(v, "v"))
		return true
	case name == "sync/atomic.Bool":
		if n, ok := number(child(v, "v")); ok {
			c.want(strconv.FormatBool(n == 1))
			return true
		}
	case strings.HasPrefix(name, "sync/atomic.Int"), strings.HasPrefix(name, "sync/atomic.Uint"):
		if f := child(v, "v"); f.Value != nil {
			c.integer(f)
			return true
		}
	}
	c.skip()
	return true
}

var typeless = regexp.MustCompile(`^(?:\{w0:-?\d+(?:, w\d+:-?\d+)*\}|-?\d+)$`)

// words compares a value of which gostap knows no type: a number, or {w0:1, w1:2}. It reports false for all others, and
// for those that are a number in any case.
func (c *sameComparer) words(v *proc.Variable) bool {
	want, ok := c.leaves(v)
	if !ok || !typeless.MatchString(c.s) {
		return false
	}
	for i, w := range strings.Split(strings.Trim(c.s, "{}"), ", ") {
		_, number, named := strings.Cut(w, ":")
		if !named {
			number = w
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || i >= len(want) || want[i].known && n != want[i].word {
			c.wrong("not the words %v", want)
			return true
		}
	}
	c.s = ""
	return true
}

type leaf struct {
	word  int64
	known bool
}

// leaves are the words of a value.
func (c *sameComparer) leaves(v *proc.Variable) (out []leaf, ok bool) {
	known := func(ws ...int64) ([]leaf, bool) {
		for _, w := range ws {
			out = append(out, leaf{w, true})
		}
		return out, true
	}
	if v = c.loaded(v); v.Unreadable != nil {
		return nil, false
	}
	switch v.Kind {
	case reflect.String:
		return known(int64(v.Base), v.Len)
	case reflect.Slice:
		return known(int64(v.Base), v.Len, v.Cap)
	case reflect.Map:
		return known(int64(v.Base))
	case reflect.Interface: // Delve does not tell its words
		return make([]leaf, 2), true
	case reflect.Ptr, reflect.UnsafePointer:
		if len(v.Children) > 0 {
			return known(int64(v.Children[0].Addr))
		}
	case reflect.Bool:
		if v.Value != nil && constant.BoolVal(v.Value) {
			return known(1)
		}
		return known(0)
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Uint, reflect.Uintptr:
		if v.Value != nil {
			if n, exact := constant.Int64Val(v.Value); exact {
				return known(n)
			}
			n, _ := constant.Uint64Val(v.Value)
			return known(int64(n))
		}
	case reflect.Struct:
		for i := range v.Children {
			more, ok := c.leaves(&v.Children[i])
			if !ok {
				return nil, false
			}
			out = append(out, more...)
		}
		return out, len(out) > 0
	}
	return nil, false
}

// shortName is a type's name without the paths of packages.
func shortName(name string) string {
	var b strings.Builder
	from := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && strings.IndexByte("*[]( ,{;", name[i]) < 0 {
			continue
		}
		word := name[from:i]
		b.WriteString(word[strings.LastIndexByte(word, '/')+1:])
		if i < len(name) {
			b.WriteByte(name[i])
		}
		from = i + 1
	}
	return strings.ReplaceAll(b.String(), "interface {}", "any")
}

// iface compares what an interface holds: the name of its type, in brackets the value, which a pointer's target has
// in front of its members, and strings and booleans are without.
func (c *sameComparer) iface(v *proc.Variable) {
	if len(v.Children) == 0 || v.Children[0].Kind == reflect.Invalid && v.Children[0].Addr == 0 &&
		v.Children[0].Unreadable == nil {
		c.want("nil")
		return
	}
	in := &v.Children[0]
	if in.Unreadable != nil || in.DwarfType == nil {
		c.skip()
		c.unread = true
		return
	}
	if in.Kind == reflect.Ptr && strings.HasPrefix(c.s, "&") {
		in = c.loaded(in)
		if len(in.Children) == 0 {
			c.skip()
			c.unread = true
			return
		}
		to := &in.Children[0]
		if c.take(fmt.Sprintf("&{...%#x}", to.Addr)) {
			c.cut = true
			return
		}
		c.want("&")
		if to.DwarfType != nil {
			c.typed(to)
			return
		}
		c.value(to)
		return
	}
	switch {
	case in.Kind == reflect.String && strings.HasPrefix(c.s, "\""),
		in.Kind == reflect.Bool && (strings.HasPrefix(c.s, "true") || strings.HasPrefix(c.s, "false")):
		c.value(in)
		return
	case c.take("?"):
		c.open = true
		return
	}
	c.typed(in)
}

// typed compares a value with its type before it.
func (c *sameComparer) typed(v *proc.Variable) {
	name := shortName(v.DwarfType.Common().Name)
	if name == "" {
		name = shortName(v.DwarfType.String())
	}
	text := strings.ReplaceAll(c.s, "interface {}", "any")
	rest, ok := strings.CutPrefix(text, name)
	if _, own, ok2 := strings.Cut(name, "."); !ok && ok2 && !strings.ContainsAny(name, "*[( ") {
		// The path of a package says less of its name than the program's own types do.
		_, rest, ok = strings.Cut(text, ".")
		rest, ok2 = strings.CutPrefix(rest, own)
		ok = ok && ok2
	}
	if strings.HasPrefix(rest, "...") { // cut behind the name
		c.s, c.cut = rest, true
		return
	}
	if !ok || rest == "" || strings.IndexByte("{(", rest[0]) < 0 {
		known := !strings.HasPrefix(name, "struct {") && !strings.HasPrefix(name, "func(")
		if known && !strings.Contains(name, "[go.shape") {
			if strings.HasPrefix(c.s, "{") || strings.HasPrefix(c.s, "[") || v.Kind == reflect.Ptr && c.s[0] == '(' {
				c.value(v)
				return
			}
			c.wrong("not of type %s", name)
		}
		c.skip()
		return
	}
	c.s = rest
	if rest[0] == '{' {
		c.value(v)
		return
	}
	c.take("(")
	if strings.HasPrefix(c.s, "\"") && v.Kind != reflect.String && v.Kind != reflect.Slice {
		c.skip() // an error by its text, or an address of url.URL
		if c.take(" <- ") {
			c.skip()
		}
	} else if strings.HasPrefix(c.s, "0x") && v.Kind == reflect.Ptr && len(v.Children) > 0 {
		c.want(fmt.Sprintf("%#x", v.Children[0].Addr))
		c.cut = true
	} else {
		c.value(v)
	}
	c.want(")")
}

// mapping compares the elements, in any order.
func (c *sameComparer) mapping(v *proc.Variable) {
	switch {
	case v.Base == 0:
		c.want("nil")
		return
	case c.take("map[...]"), c.take(fmt.Sprintf("map[...%d]", v.Len)):
		c.cut = true
		return
	case v.Len > delveElems || int64(len(v.Children)) < 2*v.Len:
		c.skip()
		c.cut = true
		return
	}
	if !c.want("map[") {
		return
	}
	left := make([]int, v.Len)
	for i := range left {
		left[i] = 2 * i
	}
	for i := range v.Len {
		if i > 0 && !c.want(" ") {
			return
		}
		if c.take(fmt.Sprintf("...%d more", v.Len-i)) {
			c.cut = true
			break
		}
		if c.take("...:") { // which one it is nobody knows
			c.skip()
			c.cut = true
			continue
		}
		found, why, best := false, "", 0
		for k, at := range left {
			try := *c
			try.value(&v.Children[at])
			if try.unread { // where the key ends nobody knows
				c.unread = true
				c.skipTo("]")
				return
			}
			try.want(":")
			try.value(&v.Children[at+1])
			if try.bad != "" || try.s != "" && strings.IndexByte(" ]", try.s[0]) < 0 {
				if try.bad == "" {
					try.wrong("more than there is")
				}
				if why == "" || len(try.s) < best {
					why, best = try.bad, len(try.s)
				}
				continue
			}
			*c, found = try, true
			left = append(left[:k:k], left[k+1:]...)
			break
		}
		if !found {
			c.wrong("no element of the map (%s)", why)
			return
		}
	}
	c.want("]")
}

// skipTo passes over the rest of a list, up to its bracket.
func (c *sameComparer) skipTo(bracket string) {
	for c.s != "" && !strings.HasPrefix(c.s, bracket) {
		before := c.s
		if c.skip(); c.s == before {
			c.s = c.s[1:]
		}
	}
	c.take(bracket)
}

func (c *sameComparer) channel(v *proc.Variable) {
	n, most := room(v)
	switch {
	case v.Base == 0:
		c.want("nil")
		return
	case strings.HasPrefix(c.s, "("):
		if i := strings.Index(c.s, ")(0x"); i > 0 {
			c.s = c.s[i+1:]
		}
		c.want(fmt.Sprintf("(%#x)", v.Base))
		c.cut = true
		return
	}
	if !c.want(fmt.Sprintf("chan(%d/%d", n, most)) {
		return
	}
	_, rest, ok := strings.Cut(c.s, ")")
	if c.s = rest; !ok {
		c.wrong("no channel")
	} else if n > 0 && strings.HasPrefix(c.s, "[") {
		c.skip()
	}
}

func (c *sameComparer) function(v *proc.Variable) {
	switch {
	case v.Base == 0:
		c.want("nil")
	case strings.HasPrefix(c.s, "0x") || v.Value == nil:
		c.skip()
	default:
		name := constant.StringVal(v.Value)
		rest := c.s
		c.skip()
		if got := rest[:len(rest)-len(c.s)]; got != name && !strings.Contains(name, "[") {
			c.s = rest
			c.wrong("not the function %s", name)
		}
	}
}
