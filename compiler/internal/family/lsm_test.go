package family

import (
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/probe"
)

// TestHooks finds hooks of security modules with the running kernel's types.
func TestHooks(t *testing.T) {
	env := &Env{}
	s, err := env.Kern().Kernel()
	if err != nil {
		t.Skip(err)
	}
	all := hookNames(s)
	if len(all) == 0 {
		t.Skip("this kernel has no hooks for eBPF (CONFIG_BPF_LSM)")
	}
	// Functions that begin alike and are no hooks.
	for _, other := range []string{"verify_prog", "func_proto", "is_sleepable_hook"} {
		if slices.Contains(all, other) {
			t.Errorf("%s is no hook", other)
		}
	}
	for _, c := range []struct {
		point, args, problem string
		decides              bool
		most                 int // sites
	}{
		{point: "lsm.file_open", args: "file", decides: true, most: 1},
		{point: "lsm.inode_free_security", args: "inode", most: 1},
		{point: "lsm.file_ioctl", args: "file cmd arg", decides: true, most: 1},
		{point: "lsm.*", most: 1000},
		{point: "lsm.file_*", most: 100},
		{point: "lsm.file_opem", problem: "no hook file_opem"},
		{point: "lsm.setprocattr", problem: "no eBPF programs at this hook"},
		{point: "lsm.none_*", problem: "no hook none_*"},
		{point: "lsm", problem: "not complete"},
		{point: `lsm.file_open("x")`, problem: "takes no argument"},
		{point: "lsm.file_open.return", problem: "nothing can follow"},
	} {
		sites, ds := Resolve(env, request(t, c.point))
		if c.problem != "" {
			if len(sites) > 0 || len(ds) == 0 || !strings.Contains(ds[0].Message, c.problem) {
				t.Errorf("%s: %d sites, %v", c.point, len(sites), ds)
			}
			continue
		}
		if len(sites) == 0 || len(sites) > c.most || c.most > 1 && len(sites) < 5 {
			t.Errorf("%s: %d sites, %v", c.point, len(sites), ds)
			continue
		}
		for _, s := range sites {
			if s.Kind != probe.LSM || s.Event != s.Func || s.Point != "lsm."+s.Event {
				t.Errorf("%s: %+v", c.point, s)
			}
		}
		var args []string
		for _, v := range sites[0].Names.Vars() {
			args = append(args, v.Name)
		}
		if c.most == 1 && (strings.Join(args, " ") != c.args || sites[0].LSM.Decides != c.decides) {
			t.Errorf("%s: %v, decides: %v", c.point, args, sites[0].LSM.Decides)
		}
	}
}
