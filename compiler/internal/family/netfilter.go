package family

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// netfilterForms is netfilter.hook("NAME").pf("NAME")[.priority("NAME")], the first two in any order.
func netfilterForms() *form {
	priority := []*form{{name: "priority", args: str | num, resolve: netfilter}}
	return &form{name: "netfilter", args: bare, kids: []*form{
		{name: "hook", args: str, kids: []*form{{name: "pf", args: str, resolve: netfilter, kids: priority}}},
		{name: "pf", args: str, kids: []*form{{name: "hook", args: str, resolve: netfilter, kids: priority}}},
	}}
}

// named is a number of the kernel's with its name there.
type named struct {
	name string
	num  int64
}

// netFamily is a family of protocols with the places at which its packets can be seen and the names of priorities there
// (include/uapi/linux/netfilter*.h).
type netFamily struct {
	named
	hooks      []string // by number
	aliases    string   // an older beginning of their names
	priorities []named
}

var inetHooks = []string{"NF_INET_PRE_ROUTING", "NF_INET_LOCAL_IN", "NF_INET_FORWARD", "NF_INET_LOCAL_OUT",
	"NF_INET_POST_ROUTING"}

var netFamilies = [...]netFamily{
	{named{"NFPROTO_IPV4", 2}, inetHooks, "NF_IP_", []named{
		{"NF_IP_PRI_FIRST", math.MinInt32}, {"NF_IP_PRI_RAW_BEFORE_DEFRAG", -450}, {"NF_IP_PRI_CONNTRACK_DEFRAG", -400},
		{"NF_IP_PRI_RAW", -300},
		{"NF_IP_PRI_SELINUX_FIRST", -225}, {"NF_IP_PRI_CONNTRACK", -200}, {"NF_IP_PRI_MANGLE", -150},
		{"NF_IP_PRI_NAT_DST", -100}, {"NF_IP_PRI_FILTER", 0},
		{"NF_IP_PRI_SECURITY", 50}, {"NF_IP_PRI_NAT_SRC", 100}, {"NF_IP_PRI_SELINUX_LAST", 225},
		{"NF_IP_PRI_CONNTRACK_HELPER", 300},
		{"NF_IP_PRI_CONNTRACK_CONFIRM", math.MaxInt32}, {"NF_IP_PRI_LAST", math.MaxInt32}}},
	{named{"NFPROTO_IPV6", 10}, inetHooks, "NF_IP6_", []named{
		{"NF_IP6_PRI_FIRST", math.MinInt32}, {"NF_IP6_PRI_RAW_BEFORE_DEFRAG", -450},
		{"NF_IP6_PRI_CONNTRACK_DEFRAG", -400}, {"NF_IP6_PRI_RAW", -300},
		{"NF_IP6_PRI_SELINUX_FIRST", -225}, {"NF_IP6_PRI_CONNTRACK", -200}, {"NF_IP6_PRI_MANGLE", -150},
		{"NF_IP6_PRI_NAT_DST", -100}, {"NF_IP6_PRI_FILTER", 0},
		{"NF_IP6_PRI_SECURITY", 50}, {"NF_IP6_PRI_NAT_SRC", 100}, {"NF_IP6_PRI_SELINUX_LAST", 225},
		{"NF_IP6_PRI_CONNTRACK_HELPER", 300},
		{"NF_IP6_PRI_LAST", math.MaxInt32}}},
	{named{"NFPROTO_ARP", 3}, []string{"NF_ARP_IN", "NF_ARP_OUT", "NF_ARP_FORWARD"}, "", nil},
	{named{"NFPROTO_BRIDGE", 7}, []string{"NF_BR_PRE_ROUTING", "NF_BR_LOCAL_IN", "NF_BR_FORWARD", "NF_BR_LOCAL_OUT",
		"NF_BR_POST_ROUTING"}, "", []named{
		{"NF_BR_PRI_FIRST", math.MinInt32}, {"NF_BR_PRI_NAT_DST_BRIDGED", -300}, {"NF_BR_PRI_FILTER_BRIDGED", -200},
		{"NF_BR_PRI_BRNF", 0},
		{"NF_BR_PRI_NAT_DST_OTHER", 100}, {"NF_BR_PRI_FILTER_OTHER", 200}, {"NF_BR_PRI_NAT_SRC", 300},
		{"NF_BR_PRI_LAST", math.MaxInt32}}},
}

// netfilter resolves a place at which packets come by.
func netfilter(m *match) []*probe.Site {
	pf, hook := m.at("pf"), m.at("hook")
	i := slices.IndexFunc(netFamilies[:], func(f netFamily) bool { return f.name == pf.Arg.Str })
	if i < 0 {
		var all []string
		for _, f := range netFamilies {
			all = append(all, f.name)
		}
		m.errorf(pf, "there is no family of protocols %q", pf.Arg.Str).Hintf("it is one of %s", strings.Join(all, ", "))
		return nil
	}
	f := &netFamilies[i]
	at := slices.IndexFunc(f.hooks, func(h string) bool {
		rest, old := strings.CutPrefix(hook.Arg.Str, f.aliases)
		return h == hook.Arg.Str || old && f.aliases != "" && h == "NF_INET_"+rest
	})
	if at < 0 {
		m.errorf(hook, "packets of %s do not come by at %q", f.name, hook.Arg.Str).Hintf("they do at %s",
			strings.Join(f.hooks, ", "))
		return nil
	}
	h := probe.NetHook{Family: uint8(f.num), Hook: uint8(at)}
	if c := m.at("priority"); c != nil {
		n, ok := f.priority(c.Arg.Str)
		if !c.Arg.IsString {
			n, ok = c.Arg.Num, c.Arg.Num >= math.MinInt32 && c.Arg.Num <= math.MaxInt32
		}
		if !ok {
			d := m.errorf(c, "the priority is a number of 32 bits, or one that has a name")
			var all []string
			for _, p := range f.priorities {
				all = append(all, p.name)
			}
			if near := diag.Nearest(c.Arg.Str, all, 3); len(near) > 0 {
				d.Hintf("did you mean %s?", strings.Join(near, ", "))
			}
			return nil
		}
		h.Priority = int32(n)
	}
	env := m.env
	return []*probe.Site{{Kind: probe.Netfilter, Event: h.String(),
		Names: &packetNames{vars{load: func() ([]*debuginfo.Var, error) { return env.packetVars(), nil }}}}}
}

// priority gives the number of a priority that is written as a name or in digits.
func (f *netFamily) priority(s string) (int64, bool) {
	for _, p := range f.priorities {
		if p.name == s {
			return p.num, true
		}
	}
	n, err := strconv.ParseInt(s, 0, 32)
	return n, err == nil
}

// packetVars are the variables of a place of netfilter, by probe.NetSkb and the others.
func (e *Env) packetVars() []*debuginfo.Var {
	pointer := func(to string) *types.Ctype {
		t := &types.Ctype{Kind: types.Pointer, Name: to + " *", Size: 8}
		t.SetLoader(func(t *types.Ctype) { t.SetElem(e.ctype(to)) })
		return t
	}
	number := &types.Ctype{Kind: types.Int, Name: "unsigned int", Size: 4}
	return []*debuginfo.Var{
		word("skb", pointer("struct sk_buff"), probe.NetSkb, true),
		word("in", pointer("struct net_device"), probe.NetIn, true),
		word("out", pointer("struct net_device"), probe.NetOut, true),
		word("hooknum", number, probe.NetHooknum, true),
		word("pf", number, probe.NetFamily, true),
		word("sk", pointer("struct sock"), probe.NetSock, true),
		word("net", pointer("struct net"), probe.NetNamespace, true),
	}
}

// packetNames are the variables of a packet, and $verdict, which is no part of $$vars: it is there for modules alone.
type packetNames struct{ vars }

// Var implements probe.Names.
func (n *packetNames) Var(name string) (*debuginfo.Var, error) {
	if name != "verdict" {
		return n.vars.Var(name)
	}
	t := &types.Ctype{Kind: types.Int, Name: "int", Size: 4, Signed: true}
	return &debuginfo.Var{Name: name, Kind: debuginfo.Param, Type: t,
		Place: loc.Place{Type: t, InMemory: true, Addr: loc.Event(probe.NetVerdict), Kernel: true, Writable: true}}, nil
}
