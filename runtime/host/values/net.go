package values

import (
	"net"
	"net/netip"
	"strconv"

	"github.com/gostap/gostap/compiler/types"
)

// located writes addresses.
type located struct{ *texter }

// netText writes an address of packages net and net/netip as its String method does; name is the name of its type.
func (t located) netText(v value, name string) bool {
	text, ok := "", false
	switch name {
	case "net/netip.Addr":
		var a netip.Addr
		a, ok = t.netip(v)
		text = a.String()
	case "net/netip.AddrPort":
		text, ok = t.addrPort(v)
	case "net/netip.Prefix":
		text, ok = t.prefix(v)
	case "net.IP", "net.IPMask", "net.HardwareAddr":
		text, ok = t.bytesOf(v, name)
	case "net.IPNet":
		ip, ok1 := field(v, "IP")
		mask, ok2 := field(v, "Mask")
		if ok1 && ok2 {
			a, ok1 := t.whole(ip, 1)
			b, ok2 := t.whole(mask, 1)
			text, ok = (&net.IPNet{IP: a, Mask: b}).String(), ok1 && ok2 && len(a) > 0
		}
	case "net.TCPAddr", "net.UDPAddr", "net.IPAddr":
		text, ok = t.endpoint(v)
	}
	if ok {
		t.lit(text)
	}
	return ok
}

// bytesOf gives the text of a type of package net that is a slice of bytes.
func (t located) bytesOf(v value, name string) (string, bool) {
	if v.t.Kind != types.GoSlice {
		return "", false
	}
	b, ok := t.whole(v, 1)
	if !ok || len(b) == 0 {
		return "", false
	}
	switch {
	case name == "net.HardwareAddr":
		return net.HardwareAddr(b).String(), true
	case name == "net.IPMask":
		return net.IPMask(b).String(), true
	}
	return net.IP(b).String(), len(b) == net.IPv4len || len(b) == net.IPv6len
}

// endpoint gives the text of a net.TCPAddr, net.UDPAddr or net.IPAddr.
func (t located) endpoint(v value) (string, bool) {
	ip, ok1 := field(v, "IP")
	zone, ok2 := field(v, "Zone")
	if !ok1 || !ok2 || zone.t.Kind != types.GoString {
		return "", false
	}
	b, ok1 := t.whole(ip, 1)
	in, cut, ok2 := t.text(zone)
	if !ok1 || !ok2 || cut || len(b) != 0 && len(b) != net.IPv4len && len(b) != net.IPv6len {
		return "", false
	}
	f, hasPort := field(v, "Port")
	if !hasPort {
		return (&net.IPAddr{IP: b, Zone: in}).String(), true
	}
	n, ok := integer(f)
	return (&net.TCPAddr{IP: b, Port: int(n), Zone: in}).String(), ok
}

// first is the netip.Addr that a structure begins with.
func first(v value) (value, bool) {
	fs := v.t.Fields()
	if v.t.Kind != types.Struct || len(fs) == 0 || fs[0].Type == nil || fullName(fs[0].Type) != "net/netip.Addr" {
		return value{}, false
	}
	return v.part(fs[0].Off, fs[0].Type), true
}

// addrPort gives the text of a netip.AddrPort.
func (t located) addrPort(v value) (string, bool) {
	f, ok1 := first(v)
	port, ok2 := field(v, "port")
	n, ok3 := integer(port)
	if !ok1 || !ok2 || !ok3 {
		return "", false
	}
	a, ok := t.netip(f)
	return netip.AddrPortFrom(a, uint16(n)).String(), ok
}

// prefix gives the text of a netip.Prefix: an address, and one more than its bits that count.
func (t located) prefix(v value) (string, bool) {
	f, ok1 := first(v)
	bits, ok2 := field(v, "bitsPlusOne")
	n, ok3 := integer(bits)
	if !ok1 || !ok2 || !ok3 {
		return "", false
	}
	a, ok := t.netip(f)
	if n == 0 {
		return "invalid Prefix", ok
	}
	return a.WithZone("").String() + "/" + strconv.Itoa(int(n)-1), ok
}

// netip reads an address of net/netip: 128 bits, and a handle that says of which kind it is: the pointer z, to what is
// isV6 and a zone.
func (t located) netip(v value) (addr netip.Addr, ok bool) {
	bits, ok1 := field(v, "addr")
	z, ok2 := field(v, "z")
	if !ok1 || !ok2 {
		return addr, false
	}
	hi, ok1 := bits.word(0)
	lo, ok2 := bits.word(8)
	h, ok3 := z.word(0)
	if !ok1 || !ok2 || !ok3 {
		return addr, false
	}
	if h == 0 {
		return addr, true
	}
	b, read, _ := t.at(h, 24) // addrDetail: isV6, zoneV6
	if !read || len(b) < 24 {
		return addr, false
	}
	if t.p.Go < 23 {
		return addr, false // its handle does not say which kind it is
	}
	if b[0] == 0 {
		if hi == 0 && lo>>32 == 0xffff {
			return netip.AddrFrom4([4]byte{byte(lo >> 24), byte(lo >> 16), byte(lo >> 8), byte(lo)}), true
		}
		return addr, false
	}
	var full [16]byte
	for i := range 8 {
		full[i], full[8+i] = byte(hi>>(56-8*i)), byte(lo>>(56-8*i))
	}
	zone, cut, ok := t.text(value{t: &types.Ctype{Kind: types.GoString, Size: 16}, b: b[8:24]})
	if !ok || cut {
		return addr, false
	}
	return netip.AddrFrom16(full).WithZone(zone), true
}
