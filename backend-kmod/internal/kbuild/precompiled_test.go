package kbuild

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrecompiled: the third module by recipe has the kernel's headers precompiled, later ones are built with that
// (which shows when the header changes behind gcc's back), those with C of the user's own and those whose gcc cannot do
// it read the headers themselves.
func TestPrecompiled(t *testing.T) {
	kdir, cache, user := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", user)
	write(t, kdir+"/include/config/auto.conf", "\nCONFIG_MODULES=y\n")
	write(t, kdir+"/include/linux/module.h", "#ifndef M\n#define M\nstatic const char *which = \"first\";\n#endif\n")
	write(t, kdir+"/include/linux/compiler-version.h", "#ifdef V\n#error twice\n#endif\n#define V\n")
	write(t, kdir+"/include/linux/kconfig.h", "#define KCONFIG\n")
	write(t, kdir+"/Module.symvers", "")
	gcc := fmt.Sprintf("gcc -Wp,-MMD,$(M)/.%%[1]s.d -I./include -include %[1]s/include/linux/compiler-version.h "+
		"-include %[1]s/include/linux/kconfig.h -D__KERNEL__ %%[2]s -DMODULE -DKBUILD_BASENAME=\\\"%%[1]s\\\" "+
		"-c -o $(M)/%%[1]s.o $(M)/%%[1]s.c", kdir)
	mk := "KDIR := " + kdir + "\nmodules:\n"
	for _, s := range [][2]string{
		{fmt.Sprintf(gcc, generic, "-DGS_HRTIMER_SETUP"), generic + ".o"}, {"true", generic + ".mod"},
		{"true", "modules.order"}, {"echo \"#include <linux/module.h>\" >$(M)/" + generic + ".mod.c", "Module.symvers"},
		{fmt.Sprintf(gcc, generic+".mod", ""), generic + ".mod.o"},
		{"cp $(M)/" + generic + ".o $(M)/" + generic + ".ko", generic + ".ko"}} {
		mk += fmt.Sprintf("\t@c='%s'; echo \"savedcmd_$(M)/%s := $$c\" >$(M)/.%s.cmd; cd $(KDIR) && sh -c \"$$c\"\n",
			s[0], s[1], s[1])
	}
	write(t, kdir+"/Makefile", mk)
	n := 0
	get := func(text, want string) {
		t.Helper()
		n++
		var log strings.Builder
		ko, err := Module(context.Background(), Source{fmt.Sprintf("%s#include <linux/module.h>\n"+
			"const char *name%d(void) { return which; }\n", text, n)}, Config{Release: "1", Dir: kdir, Cache: cache,
			Logf: func(f string, a ...any) { fmt.Fprintf(&log, f+"\n", a...) }})
		if err != nil || !bytes.Contains(ko, []byte(want)) {
			t.Errorf("module %d: no %q, %v\n%s", n, want, err, &log)
		}
	}
	made := func() int {
		list, _ := filepath.Glob(user + "/gostap/kmod/1/headers/*")
		return len(list)
	}
	get("", "first") // by make
	for range buildsBefore {
		get("", "first")
	}
	if made() != 0 {
		t.Error("headers were precompiled too early")
	}
	get("", "first")
	if made() != 2 {
		t.Fatalf("%d files of precompiled headers", made())
	}
	write(t, kdir+"/include/linux/module.h", "#ifndef M\n#define M\nstatic const char *which = \"second\";\n#endif\n")
	get("", "first")
	get("#if 0\n#include \"gs_embed.h\"\n#endif\n", "second")
	list, _ := filepath.Glob(user + "/gostap/kmod/1/headers/*.gch")
	os.WriteFile(list[0], []byte("not what gcc wrote"), 0o644)
	get("", "second")
	os.RemoveAll(user + "/gostap")
	write(t, kdir+"/include/linux/sched.h", "#error cannot be read beside others\n")
	for range buildsBefore + 2 {
		get("", "second")
	}
	if made() != 0 {
		t.Error("headers that cannot be precompiled were kept")
	}
}
