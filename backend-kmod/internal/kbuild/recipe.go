package kbuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/cachefile"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/trusted"
)

// Half of the time of a build is make reading the kernel's makefiles. What it decides is the same for every module of
// ours on one kernel: kbuild leaves the commands that it ran behind, and later builds run those. Whenever
// that does not give a module, make does it.

// recipe is what builds a module in a folder.
type recipe struct {
	// Dir is where the commands run, with place standing for the module's folder, as in Steps.
	Dir   string
	Steps []string
	// Common is the object that newer kernels link into every module (.module-common.o).
	Common []byte
	// Built is how many modules were built by it before the kernel's headers were precompiled, or never.
	Built int
}

// place stands for the folder of the module in commands.
const place = "@PLACE@"

const common = ".module-common.o"

// recipeSteps are the files that kbuild makes, in order.
var recipeSteps = []string{generic + ".o", generic + ".mod", "modules.order", "Module.symvers", generic + ".mod.o",
	generic + ".ko"}

// recipeKey names the recipe of a kernel, compiler and options; "" where that cannot be told.
func recipeKey(c *Config, makefile string) string {
	h := sha256.New()
	fmt.Fprintf(h, "1\n%s\n%s%s\n", c.dir(), makefile, strings.Join(c.Make, "\n"))
	cc := compiler(c.dir())
	if cc == "" {
		cc = "gcc"
	}
	cc, err := exec.LookPath(cc)
	if err != nil {
		return ""
	}
	for _, f := range []string{cc, "Makefile", ".config", "Module.symvers", "include/config/auto.conf",
		"include/generated/autoconf.h"} {
		if !filepath.IsAbs(f) {
			f = filepath.Join(c.dir(), f)
		}
		st, err := os.Stat(f)
		if err != nil {
			fmt.Fprintf(h, "%s -\n", f)
			continue
		}
		fmt.Fprintf(h, "%s %d %d\n", f, st.Size(), st.ModTime().UnixNano())
	}
	for _, v := range []string{"PATH", "CC", "ARCH", "CROSS_COMPILE", "LLVM", "KCFLAGS", "KCPPFLAGS", "MAKEFLAGS"} {
		fmt.Fprintf(h, "%s=%s\n", v, os.Getenv(v))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// learn reads the commands that kbuild ran in dir; nil when they are not what is expected.
func learn(dir, kdir string) *recipe {
	r := &recipe{Dir: kdir}
	for _, name := range recipeSteps {
		data, err := os.ReadFile(filepath.Join(dir, "."+name+".cmd"))
		if err != nil {
			return nil
		}
		line, _, _ := strings.Cut(string(data), "\n")
		target, cmd, ok := strings.Cut(line, ":=")
		if !ok {
			return nil
		}
		_, target, _ = strings.Cut(strings.TrimSpace(target), "cmd_")
		if !filepath.IsAbs(target) {
			r.Dir = place // kernels that build in the module's folder
		}
		// A makefile's escapes are undone; of what else make would expand nothing is known here.
		cmd = strings.ReplaceAll(cmd, "$$", "\x00")
		if strings.Contains(cmd, "$(") || strings.Contains(cmd, "${") {
			return nil
		}
		cmd = strings.TrimSpace(strings.ReplaceAll(cmd, "\x00", "$"))
		r.Steps = append(r.Steps, strings.ReplaceAll(cmd, dir, place))
	}
	r.Common, _ = os.ReadFile(filepath.Join(dir, common))
	return r
}

func (r *recipe) save(path string) {
	data, err := json.Marshal(r)
	if err != nil || os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	cachefile.Write(path, data)
}

// readRecipe reads what save wrote. The commands in it are run, so nobody else may have had a say in them.
func readRecipe(path string) *recipe {
	data, err := trusted.ReadFile(path, maxKept)
	r := &recipe{}
	if err != nil || json.Unmarshal(data, r) != nil || len(r.Steps) == 0 {
		return nil
	}
	return r
}

// follow builds the module whose text c lies in dir, with the kernel's headers precompiled if pre is given. It gives
// the output of the commands.
func (r *recipe) follow(ctx context.Context, dir, c string, pre *precompiled) ([]byte, time.Duration, error) {
	if len(r.Common) > 0 {
		if err := os.WriteFile(filepath.Join(dir, common), r.Common, 0o644); err != nil {
			return nil, 0, err
		}
	}
	// modpost looks into it for checksums of exported symbols; a module of ours exports none.
	if err := os.WriteFile(filepath.Join(dir, "."+generic+".o.cmd"), []byte("\n"), 0o644); err != nil {
		return nil, 0, err
	}
	script := "set -e\n"
	steps := r.Steps
	if pre != nil {
		steps = pre.use(steps, c)
	}
	for _, s := range steps {
		script += strings.ReplaceAll(s, place, dir) + "\n"
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
	cmd.Dir = strings.ReplaceAll(r.Dir, place, dir)
	// make exports these to the tools that it runs.
	cmd.Env = append(os.Environ(), "LC_ALL=C", "ARCH="+machine.Host.KernelArch, "SRCARCH="+machine.Host.KernelArch)
	out, err := cmd.CombinedOutput()
	took := time.Duration(0)
	if cmd.ProcessState != nil {
		took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return out, took, err
}
