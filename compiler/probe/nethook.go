package probe

import (
	"fmt"
	"strconv"
	"strings"
)

// NetHook is the place at which packets come by at a Netfilter site. Numbers are the kernel's
// (include/uapi/linux/netfilter.h and those of the families).
type NetHook struct {
	// Family is NFPROTO_...: 2 IPv4, 3 ARP, 7 bridges, 10 IPv6.
	Family uint8
	// Hook is the family's own number of the place.
	Hook uint8
	// Priority orders those that look at a packet there: smaller ones first.
	Priority int32
}

// String is what Site.Event holds at Netfilter sites.
func (h NetHook) String() string { return fmt.Sprintf("%d:%d:%d", h.Family, h.Hook, h.Priority) }

// ParseNetHook reads what NetHook.String wrote.
func ParseNetHook(event string) (NetHook, error) {
	part := strings.Split(event, ":")
	if len(part) == 3 {
		family, err1 := strconv.ParseUint(part[0], 10, 8)
		hook, err2 := strconv.ParseUint(part[1], 10, 8)
		prio, err3 := strconv.ParseInt(part[2], 10, 32)
		if err1 == nil && err2 == nil && err3 == nil {
			return NetHook{uint8(family), uint8(hook), int32(prio)}, nil
		}
	}
	return NetHook{}, fmt.Errorf("%q is no place of netfilter", event)
}

// What ir.OpTraceArg's N means at Netfilter sites: the packet's struct sk_buff, the struct net_device that it came by
// and the one that it goes to (0 for none), the hook's number, the family, the struct sock (0 for none), the struct
// net, and, in modules alone, the address of an int with what becomes of the packet.
const (
	NetSkb = iota
	NetIn
	NetOut
	NetHooknum
	NetFamily
	NetSock
	NetNamespace
	NetVerdict
	NumNetWords // how many there are
)
