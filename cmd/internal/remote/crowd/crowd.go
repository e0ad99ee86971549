// Package crowd bounds how many strangers are met at a time.
//
// In: who comes, with an address. Out: who has to go for it.
package crowd

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Crowd are those who are there, the oldest first. Most has to be set, and any goroutine may call it.
type Crowd[T comparable] struct {
	Most int

	mu  sync.Mutex
	all []member[T]
}

type member[T comparable] struct {
	who  T
	from netip.Addr
}

// Add takes somebody in. Where there are Most already, one has to go, which is told: the oldest of the address that has
// the most, so that who opens many connections takes the place of his own.
func (c *Crowd[T]) Add(who T, from netip.Addr) (goes T, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if full = len(c.all) >= c.Most; full {
		count := map[netip.Addr]int{}
		most := c.all[0].from
		for _, m := range c.all {
			if count[m.from]++; count[m.from] > count[most] {
				most = m.from
			}
		}
		i := slices.IndexFunc(c.all, func(m member[T]) bool { return m.from == most })
		goes = c.all[i].who
		c.all = slices.Delete(c.all, i, i+1)
	}
	c.all = append(c.all, member[T]{who, from})
	return goes, full
}

// Remove has somebody gone. It does nothing for who is not there.
func (c *Crowd[T]) Remove(who T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.all, func(m member[T]) bool { return m.who == who }); i >= 0 {
		c.all = slices.Delete(c.all, i, i+1)
	}
}

// Address is that of the other machine, of IPv6 the part that a network gets; none for what is no connection by IP.
func Address(c net.Conn) netip.Addr {
	port, _ := netip.ParseAddrPort(c.RemoteAddr().String())
	a := port.Addr().WithZone("").Unmap()
	if p, err := a.Prefix(64); err == nil && a.Is6() {
		return p.Addr()
	}
	return a
}
