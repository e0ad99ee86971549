package attach

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestStaleEvents(t *testing.T) {
	const text = `p:gostap/gostap_12_1 vfs_read+0
r64:gostap/gostap_12_2 vfs_read+0
p:gostap/gostap_13_7 vfs_write+0
p:kprobes/gostap_12_3 vfs_read+0
p:gostap/mine vfs_read+0
p:gostap/gostap_x_3 vfs_read+0
p:gostap/gostap_-1_3 vfs_read+0

p:
`
	got := staleEvents(text, func(pid int) bool { return pid == 13 })
	if want := []string{"gostap_12_1", "gostap_12_2"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestProfileMissed(t *testing.T) {
	const text = `  gostap_12_1                                               5               3
  gostap_12_2                                              50               4
  other                                                    50             100
  gostap_12_3                                               1               x
`
	own := map[string]event{"gostap_12_1": {"gostap_12_1", false}, "gostap_12_2": {"gostap_12_2", true},
		"gostap_12_3": {}}
	if m := profileMissed(text, own); m != (Missed{3, 4}) {
		t.Errorf("missed %v", m)
	}
}

func TestAddresses(t *testing.T) {
	const text = `ffffffff81000000 T _stext
ffffffff81000100 t twice
ffffffff81000200 t twice
ffffffffc0000010 t fn	[alpha]
ffffffffc0000020 t fn	[beta]
0000000000000000 t hidden
ffffffffc0000030 t twice	[beta]
ffff

`
	got := addresses(text, []string{"_stext", "twice", "alpha:fn", "beta:twice", "gamma:fn", "hidden"})
	if len(got) != 4 || got["_stext"] != 0xffffffff81000000 || got["alpha:fn"] != 0xffffffffc0000010 ||
		got["beta:twice"] != 0xffffffffc0000030 || got["hidden"] != 0 {
		t.Errorf("%x", got)
	}
}

func FuzzEventLists(f *testing.F) {
	f.Add("p:gostap/gostap_12_1 vfs_read+0\n  gostap_12_1  5  3\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range staleEvents(text, func(int) bool { return false }) {
			if strings.ContainsAny(n, " \n") {
				t.Errorf("name %q", n)
			}
		}
		addresses(text, []string{"_stext", "m:f"})
		profileMissed(text, map[string]event{"gostap_12_1": {}})
	})
}

func TestKernelErrors(t *testing.T) {
	for _, c := range []struct {
		site KernelSite
		err  error
		want string
	}{
		{KernelSite{Symbol: "nothing"}, unix.ENOENT, "cannot probe nothing: the kernel has no function of that name"},
		{KernelSite{Symbol: "m:f", Offset: 3}, unix.ENOENT,
			"cannot probe m:f+0x3: the kernel has no function of that name, or module m is not loaded"},
		{KernelSite{Symbol: "f"}, unix.EADDRNOTAVAIL, "more than one function"},
		{KernelSite{Symbol: "f", Offset: 1}, unix.EILSEQ, "no instruction begins there"},
		{KernelSite{Symbol: "f"}, unix.EPERM, "no permission"},
		{KernelSite{Symbol: "f"}, ErrNoKprobes, "no kprobes"},
	} {
		e := &KernelError{Site: c.site, Err: c.err}
		if !strings.Contains(e.Error(), c.want) || !errors.Is(e, c.err) {
			t.Errorf("%v", e)
		}
	}
}
