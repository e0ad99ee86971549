package kbuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/lateregexp"
	"github.com/gostap/gostap/compiler/trusted"
	headers "github.com/gostap/gostap/runtime/kmod"
)

// Two thirds of a build by recipe are gcc reading the kernel's headers, twice. Who builds often on one kernel has them
// read once: gcc keeps what it made of them in a file (PRECOMPILED HEADERS in GCC's manual), which it takes whenever
// options and macros are the same. The file has some 60 MB, so it is made with the third module by one recipe only.

// buildsBefore is how many modules a recipe has built before its headers are precompiled.
const buildsBefore = 2

// never in recipe.Built says that this kernel's headers cannot be precompiled.
const never = -1

var (
	forced    = lateregexp.New(`-include \S+`)
	versioned = lateregexp.New(`-include \S*/compiler-version\.h`) // refuses to be included twice
	depends   = lateregexp.New(`-Wp,-MMD,\S+`)
	baseName  = lateregexp.New(`-DKBUILD_BASENAME='?[^' ]*'?`)
	own       = lateregexp.New(`-DGS_\S+`)
	written   = lateregexp.New(` -c -o .*`)
	included  = lateregexp.New(`(?m)^#include <((?:linux|asm|net)/[^>]+)>`)
)

// compileStep is where the steps of a recipe compile the module's text, descriptionStep what modpost writes.
const compileStep, descriptionStep = 0, 4

// precompiled is a header that stands for all of the kernel's that modules include, next to what gcc made of it.
type precompiled struct {
	path string // of the header; the other file's name ends in .gch
	base string // option of the compiler that both steps have to have alike
	own  []string
}

// headersOf says where the headers of a recipe are, or would be, precompiled; nil where gcc does not do it.
func headersOf(c *Config, key string, r *recipe) *precompiled {
	if len(r.Steps) <= descriptionStep || r.Built == never {
		return nil
	}
	step := r.Steps[compileStep]
	cc, _, _ := strings.Cut(step, " ")
	if !strings.Contains(filepath.Base(cc), "gcc") || !forced().MatchString(step) || !written().MatchString(step) {
		return nil
	}
	user, err := os.UserCacheDir() // whatever cache the modules have
	if err != nil {
		return nil
	}
	dir := filepath.Join(user, "gostap", "kmod", c.release(), "headers")
	if trusted.Dir(dir) != nil {
		return nil
	}
	sum := sha256.Sum256([]byte("1\n" + key + "\n" + headerText(r.Dir, step) + strings.Join(r.Steps, "\n")))
	return &precompiled{path: filepath.Join(dir, hex.EncodeToString(sum[:12])+".h"), base: baseName().FindString(step),
		own: own().FindAllString(step, -1)}
}

// headers gives the headers precompiled for a recipe that is kept at path, nil while there are none. It makes them when
// the recipe has built modules before; dir is a module's folder.
func (r *recipe) headers(ctx context.Context, c *Config, path, dir string) *precompiled {
	p := headersOf(c, filepath.Base(path), r)
	if p == nil || p.there() {
		return p
	}
	if r.Built++; r.Built > buildsBefore {
		start := time.Now()
		err := p.compile(ctx, r, dir)
		if err == nil {
			c.Logf("headers of kernel %s precompiled in %.2f s", c.release(), time.Since(start).Seconds())
			r.Built = buildsBefore
			return p
		}
		if ctx.Err() != nil {
			return nil
		}
		c.Logf("the headers of kernel %s cannot be precompiled: %v", c.release(), err)
		r.Built = never
	}
	r.save(path)
	return nil
}

// headerText is a header that includes what the compiler is told to include, and all that headers of ours do.
func headerText(dir, step string) string {
	var text strings.Builder
	for _, f := range forced().FindAllString(step, -1) {
		f = strings.TrimPrefix(f, "-include ")
		if !filepath.IsAbs(f) {
			f = filepath.Join(dir, f)
		}
		fmt.Fprintf(&text, "#include \"%s\"\n", f)
	}
	var names []string
	list, _ := headers.Headers.ReadDir(".")
	for _, e := range list {
		if e.Name() == "gs_user.h" {
			continue
		}
		data, _ := headers.Headers.ReadFile(e.Name())
		for _, m := range included().FindAllSubmatch(data, -1) {
			names = append(names, string(m[1]))
		}
	}
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		fmt.Fprintf(&text, "#if __has_include(<%[1]s>)\n#include <%[1]s>\n#endif\n", n)
	}
	return text.String()
}

// there says whether gcc has made something of the headers.
func (p *precompiled) there() bool {
	st, err := os.Stat(p.path + ".gch")
	return err == nil && st.Mode().IsRegular() && trusted.Check(filepath.Dir(p.path)) == nil
}

// compile has gcc read the headers. Other files of the folder that nobody has used for a day go away.
func (p *precompiled) compile(ctx context.Context, r *recipe, dir string) error {
	step := strings.ReplaceAll(r.Steps[compileStep], place, dir)
	text := strings.ReplaceAll(headerText(r.Dir, r.Steps[compileStep]), place, dir)
	step = written().ReplaceAllString(forced().ReplaceAllString(depends().ReplaceAllString(step, ""), ""), "")
	folder := filepath.Dir(p.path)
	temp := filepath.Join(folder, fmt.Sprintf("%s%d.h", tempPrefix, os.Getpid()))
	defer os.Remove(temp)
	defer os.Remove(temp + ".gch")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", step+" -x c-header -o "+quoted(temp+".gch")+" "+quoted(temp))
	cmd.Dir = strings.ReplaceAll(r.Dir, place, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	old, _ := os.ReadDir(folder)
	for _, e := range old {
		if i, err := e.Info(); err == nil && time.Since(i.ModTime()) > 24*time.Hour {
			os.Remove(filepath.Join(folder, e.Name()))
		}
	}
	if err := os.Rename(temp, p.path); err != nil {
		return err
	}
	return os.Rename(temp+".gch", p.path+".gch")
}

// use gives the steps of a recipe with the headers precompiled, for a module whose text is c. A module with C of the
// user's own may define names before it includes headers, so it reads them itself.
func (p *precompiled) use(steps []string, c string) []string {
	if strings.Contains(c, `#include "gs_embed.h"`) {
		return steps
	}
	now := time.Now()
	os.Chtimes(p.path, now, now)
	os.Chtimes(p.path+".gch", now, now)
	out := slices.Clone(steps)
	for _, i := range []int{compileStep, descriptionStep} {
		s := versioned().ReplaceAllString(out[i], "")
		at := strings.Index(s, "-include ")
		if at < 0 {
			continue
		}
		s = baseName().ReplaceAllLiteralString(s[:at]+"-include "+quoted(p.path)+" "+s[at:], p.base)
		if i == descriptionStep {
			s = strings.Replace(s, " -DMODULE", " "+strings.Join(p.own, " ")+" -DMODULE", 1)
		}
		out[i] = s
	}
	return out
}

// quoted is a word of the shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
