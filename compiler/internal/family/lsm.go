package family

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// lsmForms is lsm.NAME: the hooks at which the kernel asks its security modules. NAME may hold wildcards.
func lsmForms() *form {
	return &form{name: "lsm", args: bare, kids: []*form{{name: "NAME", any: true, args: bare, resolve: hooks}}}
}

// hookPrefix begins the names of the functions that eBPF programs are attached to, one for each hook
// (kernel/bpf/bpf_lsm.c).
const hookPrefix = "bpf_lsm_"

// closedHooks are those at which the kernel has no program of eBPF (bpf_lsm_disabled_hooks of kernel/bpf/bpf_lsm.c,
// Linux 6.12 and stable kernels before it): what they give is no plain yes or no.
var closedHooks = []string{"vm_enough_memory", "inode_need_killpriv", "inode_getsecurity", "inode_listsecurity",
	"inode_copy_up_xattr", "getselfattr", "getprocattr", "setprocattr", "key_getsecurity", "audit_rule_match",
	"ismaclabel", "file_alloc_security"}

// hooks resolves lsm.NAME.
func hooks(m *match) []*probe.Site {
	c := &m.req.Comps[1]
	s, err := m.env.Kern().Kernel()
	if err != nil {
		m.errorf(c, "the hooks of security modules are not known: %v", err)
		return nil
	}
	all := hookNames(s)
	if len(all) == 0 {
		m.errorf(c, "this kernel shows eBPF programs no hooks of security modules (CONFIG_BPF_LSM)")
		return nil
	}
	var out []*probe.Site
	for _, name := range all {
		if !glob(c.Name, name) {
			continue
		}
		proto, err := s.FuncProto(hookPrefix + name)
		if err != nil {
			m.errorf(c, "%v", err)
			return nil
		}
		out = append(out, hookSite(name, proto))
	}
	if len(out) == 0 {
		if slices.Contains(closedHooks, c.Name) {
			m.errorf(c, "the kernel has no eBPF programs at this hook: what it gives is no plain yes or no").
				Hintf("kernel.function(\"security_%s\") sees its calls with kprobes", c.Name)
			return nil
		}
		d := m.errorf(c, "the kernel has no hook %s for security modules", c.Name)
		if near := diag.Nearest(c.Name, all, 3); len(near) > 0 {
			d.Hintf("did you mean %s?", strings.Join(near, ", "))
		} else {
			d.Hintf("gostap -l 'lsm.*' lists them")
		}
	}
	return out
}

// hookNames lists the hooks: the members of union security_list_options (include/linux/lsm_hooks.h) that have a
// function for eBPF programs, but for closedHooks. Other functions have names that begin alike.
func hookNames(s *kbtf.Scope) []string {
	t, err := s.Type("union security_list_options")
	if err != nil {
		return nil
	}
	var out []string
	has := s.FuncNames(hookPrefix + "*")
	slices.Sort(has)
	for _, f := range t.Fields() {
		if _, ok := slices.BinarySearch(has, hookPrefix+f.Name); ok && !slices.Contains(closedHooks, f.Name) {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return out
}

func hookSite(name string, proto *kbtf.Proto) *probe.Site {
	return &probe.Site{Kind: probe.LSM, Event: name, Func: name, Point: "lsm." + name,
		LSM: probe.LSMPart{Decides: proto.Result.Kind == types.Int && proto.Result.Size == 4},
		Names: &vars{load: func() ([]*debuginfo.Var, error) {
			var out []*debuginfo.Var
			for i, par := range proto.Params {
				if i >= ir.MaxTraceArgs {
					break
				}
				if par.Name == "" {
					par.Name = fmt.Sprintf("arg%d", i+1)
				}
				out = append(out, word(par.Name, par.Type, i, true))
			}
			return out, nil
		}}}
}
