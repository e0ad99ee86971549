package oracle

import (
	"fmt"
	"go/constant"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-delve/delve/pkg/proc"
)

// verdict is how a value of gostap's compares with Delve's.
type verdict int

const (
	equal   verdict = iota
	moved           // addresses that differ: memory is not the same from run to run
	refused         // gostap leaves a part of it open
	unread          // Delve does
	wrong
)

// splitVars takes a text such as `a=1 b={x:1, y:"s t"}` apart.
func splitVars(s string) (out [][2]string) {
	for i := 0; i < len(s); {
		j := strings.IndexByte(s[i:], '=')
		if j < 0 {
			break
		}
		name := strings.TrimSpace(s[i : i+j])
		i += j + 1
		from, depth, quoted := i, 0, false
		for ; i < len(s); i++ {
			c := s[i]
			switch {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case strings.IndexByte("{[(", c) >= 0:
				depth++
			case strings.IndexByte("}])", c) >= 0:
				depth--
			}
			if c == ' ' && !quoted && depth <= 0 && !strings.HasPrefix(s[i:], " (") {
				break
			}
		}
		out = append(out, [2]string{name, s[from:min(i, len(s))]})
	}
	return out
}

// comparer reads a value as gostap writes it along Delve's.
type comparer struct {
	s    string
	v    verdict
	stop bool // the text was cut short
}

// compareText compares one variable.
func compareText(text string, v *proc.Variable) verdict {
	if text == "?" {
		if v.Unreadable != nil {
			return unread
		}
		return refused
	}
	c := &comparer{s: text}
	c.value(v)
	if c.s != "" && !c.stop {
		return wrong
	}
	return c.v
}

func (c *comparer) set(v verdict) { c.v = max(c.v, v) }

func (c *comparer) take(prefix string) bool {
	if strings.HasPrefix(c.s, prefix) {
		c.s = c.s[len(prefix):]
		return true
	}
	return false
}

func (c *comparer) want(prefix string) {
	if !c.take(prefix) && !c.stop {
		c.set(wrong)
		c.stop = true
	}
}

// token is what stands before the next space, comma or bracket.
func (c *comparer) token() string {
	n := strings.IndexAny(c.s, " ,]})")
	if n < 0 {
		n = len(c.s)
	}
	t := c.s[:n]
	c.s = c.s[n:]
	return t
}

// numbered is what stands behind the constant that a number is.
var numbered = regexp.MustCompile(`^ \(-?[0-9]+\)`)

// skip passes over a value that Delve could not read.
func (c *comparer) skip() {
	depth, quoted := 0, false
	for i := 0; i < len(c.s); i++ {
		switch b := c.s[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("{[(", b) >= 0:
			depth++
		case depth == 0 && strings.IndexByte(" ,}])", b) >= 0 && !numbered.MatchString(c.s[i:]):
			c.s = c.s[i:]
			return
		case strings.IndexByte("}])", b) >= 0:
			depth--
		}
	}
	c.s = ""
}

// address compares a pointer.
func (c *comparer) address(t string, want uint64) {
	if t == "?" {
		c.set(refused)
		return
	}
	got, err := strconv.ParseUint(strings.TrimPrefix(t, "0x"), 16, 64)
	switch {
	case err != nil || (got == 0) != (want == 0):
		c.set(wrong)
	case got != want:
		c.set(moved)
	}
}

// nameOf takes the constant in front of a number and gives the number: "Green (1)". It is ok if Delve names it so, or
// by a constant of another package, which gostap leaves out.
func nameOf(s string, v *proc.Variable) (rest string, ok bool) {
	want := v.ConstDescr()
	if strings.Contains(want, ".") {
		want = ""
		if i := strings.Index(s, " ("); i >= 0 && strings.IndexAny(s, " ,:]})\"") == i {
			want = s[:i]
		}
	}
	if want == "" {
		return s, true
	}
	rest, ok = strings.CutPrefix(s, want+" (")
	digits := strings.TrimLeft(rest, "-0123456789")
	number := rest[:len(rest)-len(digits)]
	rest, closed := strings.CutPrefix(digits, ")")
	return number + rest, ok && closed
}

func (c *comparer) value(v *proc.Variable) {
	if c.stop {
		return
	}
	if c.take("...") { // left out
		c.token()
		c.stop = c.s == ""
		return
	}
	if v.Unreadable != nil || ownText(v) {
		c.set(unread)
		c.skip()
		return
	}
	if strings.HasPrefix(c.s, "?") {
		c.s = c.s[1:]
		c.set(refused)
		return
	}
	switch v.Kind {
	case reflect.Bool:
		t := c.token()
		if yes := v.Value != nil && constant.BoolVal(v.Value); (t == "1" || t == "true") != yes {
			c.set(wrong)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if v.Value == nil {
			if c.token(); c.take(" (") {
				c.token()
				c.want(")")
			}
			c.set(unread)
			return
		}
		rest, named := nameOf(c.s, v)
		if !named {
			c.set(wrong)
		}
		c.s = rest
		t := c.token()
		if hex, ok := strings.CutPrefix(t, "0x"); ok {
			n, _ := strconv.ParseUint(hex, 16, 64)
			t = strconv.FormatUint(n, 10)
		}
		if want := v.Value.ExactString(); t != want {
			if a, b := number(t), number(want); min(a, b) > 1<<40 && max(a, b) < 1<<47 {
				c.set(moved) // not set yet: what is left there is an address
			} else {
				c.set(wrong)
			}
		}
	case reflect.Float32, reflect.Float64:
		got, err := strconv.ParseFloat(c.token(), 64)
		if v.Value == nil || v.FloatSpecial != 0 {
			c.set(unread)
			return
		}
		if want, _ := constant.Float64Val(v.Value); err != nil || math.Abs(got-want) > 1e-6*math.Abs(want) {
			c.set(wrong)
		}
	case reflect.String:
		c.text(v)
	case reflect.Slice:
		c.slice(v)
	case reflect.Array:
		c.want("[")
		for i := range v.Children {
			if i > 0 {
				c.want(" ")
			}
			c.value(&v.Children[i])
		}
		if int64(len(v.Children)) < v.Len {
			c.stop = true
		}
		c.want("]")
	case reflect.Struct:
		if len(v.Children) == 0 && v.Len > 0 { // as deep as Delve was asked to look
			c.skip()
			return
		}
		c.want("{")
		for i := range v.Children {
			if i > 0 && !c.stop && !c.take(", ") {
				c.stop = strings.HasPrefix(c.s, "...")
			}
			if strings.HasPrefix(c.s, "...") {
				c.stop = true
			}
			if f := &v.Children[i]; !c.stop {
				c.want(f.Name + ":")
				c.value(f)
			}
		}
		c.want("}")
	case reflect.Interface:
		none := len(v.Children) == 0 || v.Children[0].Kind == reflect.Invalid && v.Children[0].Addr == 0
		if isNil := c.take("nil"); isNil != none {
			c.set(wrong)
		} else if !isNil {
			c.skip() // by its dynamic type: TestSignatures of package tests has the truth about those
		}
	case reflect.Ptr, reflect.UnsafePointer:
		c.pointer(v)
	case reflect.Map:
		if c.take("nil") != (v.Base == 0) {
			c.set(wrong)
		}
		c.skip()
	case reflect.Chan:
		if c.take("nil") != (v.Base == 0) {
			c.set(wrong)
		} else if n, most := room(v); v.Base != 0 && !strings.HasPrefix(c.s, fmt.Sprintf("chan(%d/%d", n, most)) &&
			!strings.HasPrefix(c.s, "(chan ") {
			c.set(wrong)
		}
		c.skip()
	case reflect.Func:
		rest := c.s
		c.skip()
		t := strings.TrimSuffix(rest, c.s)
		if (t == "nil") != (v.Base == 0) {
			c.set(wrong)
		} else if v.Value != nil && v.Base != 0 && !strings.HasPrefix(t, "0x") && t != constant.StringVal(v.Value) {
			c.set(wrong)
		}
	default:
		c.set(unread)
		c.skip()
	}
}

// room is how many elements a channel has and may have: of runtime.hchan, as which Delve reads it.
func room(v *proc.Variable) (n, most int64) {
	n, most = v.Len, v.Cap
	for i := range v.Children {
		f := &v.Children[i]
		if f.Value == nil {
			continue
		}
		switch x, _ := constant.Int64Val(constant.ToInt(f.Value)); f.Name {
		case "qcount":
			n = x
		case "dataqsiz":
			most = x
		}
	}
	return n, most
}

// ownText reports whether gostap shows values of a type otherwise than by their members.
func ownText(v *proc.Variable) bool {
	if v.DwarfType == nil {
		return false
	}
	switch name := strings.TrimPrefix(v.DwarfType.String(), "struct "); name {
	case "sync.Mutex", "sync.WaitGroup", "time.Time", "time.Duration", "time.Month", "time.Weekday", "net/netip.Addr",
		"net/netip.AddrPort", "net/netip.Prefix", "net/url.URL", "net.TCPAddr", "net.UDPAddr", "net.IPAddr",
		"net.IPNet", "math/big.Int", "io/fs.FileMode":
		return true
	default:
		return strings.HasPrefix(name, "sync/atomic.")
	}
}

// pointer compares what a pointer leads to, as far as both have followed it.
func (c *comparer) pointer(v *proc.Variable) {
	if len(v.Children) == 0 {
		c.set(unread)
		c.skip()
		return
	}
	to := &v.Children[0]
	switch {
	case c.take("nil"):
		if to.Addr != 0 {
			c.set(wrong)
		}
	case strings.HasPrefix(c.s, "&"):
		if to.Addr == 0 {
			c.set(wrong)
		}
		if strings.HasPrefix(c.s, "&{...") || to.OnlyAddr || to.Unreadable != nil {
			c.skip()
			return
		}
		c.want("&")
		c.value(to)
	case strings.HasPrefix(c.s, "("): // (*T)(0x...)
		if i := strings.Index(c.s, ")(0x"); i > 0 {
			c.s = c.s[i+2:]
		}
		c.address(c.token(), to.Addr)
		c.want(")")
	default:
		c.address(c.token(), to.Addr)
	}
}

// slice compares the elements, or for bytes the text of them.
func (c *comparer) slice(v *proc.Variable) {
	switch {
	case c.take("nil"):
		if v.Base != 0 || v.Len != 0 {
			c.set(wrong)
		}
		return
	case strings.HasPrefix(c.s, "\""):
		c.skip()
		return
	}
	c.want("[")
	for i := int64(0); i < v.Len && !c.stop; i++ {
		if i > 0 {
			c.want(" ")
		}
		if c.take("...") {
			n, err := strconv.ParseInt(c.token(), 10, 64)
			if err != nil || i+n != v.Len {
				c.set(wrong)
			}
			c.take(" more")
			break
		}
		if i < int64(len(v.Children)) {
			c.value(&v.Children[i])
		} else {
			c.skip()
		}
	}
	c.want("]")
}

// text compares a string: quoted as C does, with ... behind it where it was cut.
func (c *comparer) text(v *proc.Variable) {
	if v.Value == nil || !strings.HasPrefix(c.s, "\"") {
		if v.Value != nil {
			c.set(wrong)
		}
		c.skip()
		return
	}
	end := 1
	for end < len(c.s) && c.s[end] != '"' {
		if c.s[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(c.s) {
		c.stop = true
		return
	}
	got, err := strconv.Unquote(c.s[:end+1])
	c.s = c.s[end+1:]
	want := constant.StringVal(v.Value)
	short := c.take("...") || int64(len(want)) < v.Len
	n := min(len(got), len(want))
	if err != nil || got != want && !(short && got[:n] == want[:n]) {
		c.set(wrong)
	}
}

func number(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}
