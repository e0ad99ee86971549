package values

import (
	"fmt"
	"io/fs"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/types"
)

// named writes values of types of the standard library as their users read them. It reports false for all others, and
// where not all that the text needs is known.
func (t *texter) named(v value, l level) bool {
	name := fullName(v.t)
	if strings.IndexByte(name, '.') < 0 {
		return false
	}
	switch {
	case name == "time.Duration":
		n, ok := integer(v)
		if ok && v.t.Kind == types.Int {
			t.lit(time.Duration(n).String())
			return true
		}
	case name == "time.Month" || name == "time.Weekday":
		n, ok := integer(v)
		if ok && name == "time.Month" {
			t.lit(time.Month(n).String())
		} else if ok {
			t.lit(time.Weekday(n).String())
		}
		return ok
	case name == "time.Time":
		if at, ok := moment(v); ok && v.t.Size == 24 {
			t.lit(at.Format(time.RFC3339Nano))
			return true
		}
	case strings.HasPrefix(name, "sync/atomic."):
		return t.atomic(v, l)
	case name == "sync.Mutex":
		return t.mutex(v)
	case name == "sync.WaitGroup":
		return t.waitGroup(v)
	case name == "io/fs.FileMode":
		if n, ok := integer(v); ok && v.t.Kind == types.Int && v.t.Size == 4 {
			t.lit(fs.FileMode(n).String())
			return true
		}
	case name == "math/big.Int" && !t.shallow(l):
		return t.bigInt(v)
	case name == "net/url.URL" && !t.shallow(l):
		return t.url(v)
	case strings.HasPrefix(name, "net"):
		return located{t}.netText(v, name)
	}
	return false
}

// fullName is the name of a type with the path of its package, "*io/fs.PathError". What the program has for itself has
// only the package's name in it, which packages of other paths have as well.
func fullName(c *types.Ctype) string {
	name := c.Name
	rest := name // a star goes with each pointer, so that one that leads to itself has an end
	for c.Kind == types.Pointer && c.Elem() != nil && strings.HasPrefix(rest, "*") {
		rest, c = rest[1:], c.Elem()
	}
	if dot := strings.IndexByte(rest, '.'); c.Pkg != "" && dot >= 0 {
		return name[:len(name)-len(rest)] + c.Pkg + rest[dot:]
	}
	return name
}

// special reports whether named may write values of a type.
func (t *texter) special(c *types.Ctype) bool {
	return c.Kind == types.Struct && shape.OwnText(fullName(c))
}

// atomic writes what is in a variable of sync/atomic: its member v.
func (t *texter) atomic(v value, l level) bool {
	f, ok := field(v, "v")
	if !ok || f.t == nil {
		return false
	}
	if fullName(v.t) == "sync/atomic.Bool" {
		if n, ok := integer(f); ok && n < 2 {
			t.printf("%v", n == 1)
			return true
		}
		return false
	}
	t.value(f, l)
	return true
}

// mutex writes the state of a sync.Mutex: bit 0 says that it is locked, from bit 3 on stands how many wait for it.
func (t *texter) mutex(v value) bool {
	for range 2 {
		if f, ok := field(v, "state"); ok {
			n, ok := integer(f)
			if !ok || f.t.Kind != types.Int {
				return false
			}
			s := "unlocked"
			if n&1 != 0 {
				s = "locked"
			}
			if n>>3 > 0 {
				s += fmt.Sprintf(", %d waiting", n>>3)
			}
			t.lit("{" + s + "}")
			return true
		}
		f, ok := field(v, "mu")
		if !ok {
			return false
		}
		v = f
	}
	return false
}

// waitGroup writes what a sync.WaitGroup counts: from bit 32 on what is added and not done, below that who waits.
func (t *texter) waitGroup(v value) bool {
	f, ok := field(v, "state")
	if ok && f.t.Kind == types.Struct {
		f, ok = field(f, "v")
	}
	n, known := integer(f)
	if !ok || !known || f.t.Size != 8 {
		return false
	}
	s := fmt.Sprintf("{%d to do", int32(n>>32))
	if waiters := n & (1<<31 - 1); waiters > 0 {
		s += fmt.Sprintf(", %d waiting", waiters)
	}
	t.lit(s + "}")
	return true
}

// bigInt writes a big.Int: its words, of which the lowest comes first, and a sign.
func (t *texter) bigInt(v value) bool {
	abs, ok1 := field(v, "abs")
	neg, ok2 := field(v, "neg")
	sign, ok3 := integer(neg)
	if !ok1 || !ok2 || !ok3 || abs.t.Kind != types.GoSlice {
		return false
	}
	b, ok := t.whole(abs, 8)
	if !ok {
		return false
	}
	slices.Reverse(b)
	x := new(big.Int).SetBytes(b)
	if sign != 0 {
		x.Neg(x)
	}
	t.lit(x.String())
	return true
}

// whole gives a copy of all elements of a slice, of size bytes each; false if not all of them are known.
func (t *texter) whole(v value, size int64) ([]byte, bool) {
	p, ok1 := v.word(0)
	n, ok2 := v.word(8)
	if !ok1 || !ok2 || n > 1<<16 {
		return nil, false
	}
	if n == 0 {
		return nil, true
	}
	b, _, _ := t.at(p, int64(n)*size)
	return slices.Clone(b), int64(len(b)) == int64(n)*size
}

// url writes an address of net/url as its String method does.
func (t *texter) url(v value) bool {
	var u url.URL
	for name, to := range map[string]*string{"Scheme": &u.Scheme, "Opaque": &u.Opaque, "Host": &u.Host, "Path": &u.Path,
		"RawPath": &u.RawPath, "RawQuery": &u.RawQuery, "Fragment": &u.Fragment, "RawFragment": &u.RawFragment} {
		f, ok := field(v, name)
		if !ok || f.t.Kind != types.GoString {
			return false
		}
		s, cut, ok := t.text(f)
		if !ok || cut {
			return false
		}
		*to = s
	}
	for name, to := range map[string]*bool{"OmitHost": &u.OmitHost, "ForceQuery": &u.ForceQuery} {
		f, ok := field(v, name)
		n, ok2 := integer(f)
		if !ok || !ok2 {
			return false
		}
		*to = n != 0
	}
	user, ok := field(v, "User")
	p, known := user.word(0)
	if !ok || !known {
		return false // shown by its members
	}
	if p != 0 {
		if u.User, ok = t.userinfo(user); !ok {
			return false
		}
	}
	t.quote(u.String(), false)
	return true
}

// userinfo reads a url.Userinfo that v leads to.
func (t *texter) userinfo(v value) (*url.Userinfo, bool) {
	s, ok := t.target(v)
	if !ok {
		return nil, false
	}
	var texts [2]string
	for i, name := range []string{"username", "password"} {
		f, ok := field(s, name)
		if !ok || f.t.Kind != types.GoString {
			return nil, false
		}
		text, cut, ok := t.text(f)
		if !ok || cut {
			return nil, false
		}
		texts[i] = text
	}
	f, ok := field(s, "passwordSet")
	set, known := integer(f)
	switch {
	case !ok || !known:
		return nil, false
	case set == 0:
		return url.User(texts[0]), true
	}
	return url.UserPassword(texts[0], texts[1]), true
}
