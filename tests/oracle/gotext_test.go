package oracle

import (
	"go/constant"
	"math"
	"reflect"
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
			if c == ' ' && !quoted && depth <= 0 {
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
		case depth == 0 && strings.IndexByte(" ,}])", b) >= 0:
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

func (c *comparer) value(v *proc.Variable) {
	if c.stop {
		return
	}
	if strings.HasPrefix(c.s, "...") {
		c.stop = true
		return
	}
	if v.Unreadable != nil {
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
		t := c.token()
		if v.Value == nil {
			c.set(unread)
			return
		}
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
		c.want("[")
		n, _, _ := strings.Cut(c.s, "]")
		c.want(n)
		length, room, _ := strings.Cut(n, "/")
		for _, p := range [][2]string{{length, strconv.FormatInt(v.Len, 10)}, {room, strconv.FormatInt(v.Cap, 10)}} {
			if p[0] == "?" {
				c.set(refused)
			} else if p[0] != p[1] {
				c.set(wrong)
			}
		}
		c.want("]")
		c.address(c.token(), v.Base)
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
		c.want("(")
		first := c.token()
		c.want(",")
		c.token()
		c.want(")")
		none := len(v.Children) == 0 || v.Children[0].Kind == reflect.Invalid && v.Children[0].Addr == 0
		if first == "?" {
			c.set(refused)
		} else if (first == "0x0") != none {
			c.set(wrong)
		}
	case reflect.Ptr, reflect.UnsafePointer:
		if len(v.Children) == 0 {
			c.set(unread)
			c.skip()
			return
		}
		c.address(c.token(), v.Children[0].Addr)
	case reflect.Map, reflect.Chan, reflect.Func:
		t := c.token()
		if v.Kind == reflect.Func { // Delve has the code, gostap the closure
			if (t == "0x0") != (v.Base == 0) {
				c.set(wrong)
			}
			return
		}
		c.address(t, v.Base)
	default:
		c.set(unread)
		c.skip()
	}
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
