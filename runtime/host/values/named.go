package values

import (
	"fmt"
	"net/netip"
	"net/url"
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
	case name == "net/netip.Addr":
		return t.netip(v)
	case name == "net/url.URL" && !t.shallow(l):
		return t.url(v)
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

// netip writes an address of net/netip: 128 bits, and a handle that says of which kind it is: the pointer z, to what is
// isV6 and a zone.
func (t *texter) netip(v value) bool {
	addr, ok1 := field(v, "addr")
	z, ok2 := field(v, "z")
	if !ok1 || !ok2 {
		return false
	}
	hi, ok1 := addr.word(0)
	lo, ok2 := addr.word(8)
	h, ok3 := z.word(0)
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	if h == 0 {
		t.lit("invalid IP")
		return true
	}
	b, read, _ := t.at(h, 24) // addrDetail: isV6, zoneV6
	if !read || len(b) < 24 {
		return false
	}
	if t.p.Go < 23 {
		return false // its handle does not say which kind it is
	}
	if b[0] == 0 {
		if hi == 0 && lo>>32 == 0xffff {
			t.lit(netip.AddrFrom4([4]byte{byte(lo >> 24), byte(lo >> 16), byte(lo >> 8), byte(lo)}).String())
			return true
		}
		return false
	}
	var full [16]byte
	for i := range 8 {
		full[i], full[8+i] = byte(hi>>(56-8*i)), byte(lo>>(56-8*i))
	}
	zone, cut, ok := t.text(value{t: &types.Ctype{Kind: types.GoString, Size: 16}, b: b[8:24]})
	if !ok || cut {
		return false
	}
	t.lit(netip.AddrFrom16(full).WithZone(zone).String())
	return true
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
	if !ok || !known || p != 0 {
		return false // shown by its members
	}
	t.quote(u.String(), false)
	return true
}
