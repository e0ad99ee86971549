package family

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
)

// TestWatch: variables of the kernel by name alone, where only its symbols are known.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"kallsyms": "ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81000100 T " +
			"do_work\nffffffff81001000 T _etext\n" + "ffffffff82000040 T jiffies\nffffffff82000040 D " +
			"jiffies_64\nffffffff82000048 b twice\nffffffff82000050 b twice\n" +
			"ffffffff82000061 d odd\nffffffff83000000 D __per_cpu_start\nffffffff83000010 d mine\nffffffff83001000 D " +
			"__per_cpu_end\n" +
			"0000000000000010 A old\n",
		"kernel/btf/vmlinux": string(kbtftest.Kernel().Bytes()),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := &Env{Kernel: kbtf.New(kbtf.Config{Proc: dir, Sys: dir})}
	defer env.Close()
	for _, tt := range []struct {
		point   string
		addr, n uint64
		error   string
	}{
		{`kernel.data("jiffies_64").write`, 0xffffffff82000040, 1, ""},
		{`kernel.data("jiffies_64").length(8).rw`, 0xffffffff82000040, 8, ""},
		// named as code is, and data all the same
		{`kernel.data("jiffies").length(4).write`, 0xffffffff82000040, 4, ""},
		{`kernel.data("odd").write`, 0xffffffff82000061, 1, ""},
		{`kernel.data("odd").length(2).write`, 0, 0, "not a multiple of 2"},
		{`kernel.data("jiffies_64").length(3).write`, 0, 0, "1, 2, 4 or 8 bytes"},
		{`kernel.data("do_work").rw`, 0, 0, "do_work is a function"},
		{`kernel.data("do_work").length(8).rw`, 0, 0, "do_work is a function"},
		{`kernel.data("twice").length(8).rw`, 0, 0, "2 symbols"},
		{`kernel.data("mine").length(8).rw`, 0, 0, "mine exists once for each CPU"},
		{`kernel.data("old").length(8).rw`, 0, 0, "old exists once for each CPU"},
		{`kernel.data("none").length(8).rw`, 0, 0, `no symbol "none"`},
	} {
		sites, ds := Resolve(env, request(t, tt.point))
		if tt.error != "" {
			if len(ds) != 1 || !strings.Contains(ds[0].Message, tt.error) {
				t.Errorf("%s: %v, want %q", tt.point, ds, tt.error)
			}
			continue
		}
		if len(ds) != 0 || len(sites) != 1 || sites[0].Perf.Addr != tt.addr || sites[0].Perf.Len != tt.n {
			t.Errorf("%s: %d sites, %v", tt.point, len(sites), ds)
		}
	}
}
