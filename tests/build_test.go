// Package tests holds the whole-program tests: real programs are built, traced with
// the real command and compared with what they must have printed.
package tests

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// fixture says how one traced program is built.
type fixture struct {
	pkg   string   // folder below fixtures
	flags []string // of go build
	env   []string
	c     []string // gcc flags: a C program, or one of C++
}

// fixtures are the programs that tests trace, by the name of their binary.
var fixtures = map[string]fixture{
	"gostap":        {pkg: "../../cmd/gostap", env: []string{"CGO_ENABLED=0"}}, // as the Makefile builds it
	"gostap-export": {pkg: "../../cmd/gostap-export", env: []string{"CGO_ENABLED=0"}},
	"gostap-fleet":  {pkg: "../../cmd/gostap-fleet", env: []string{"CGO_ENABLED=0"}},
	"kubelab":       {pkg: "../kubelab", env: []string{"CGO_ENABLED=0"}},
	"stap":          {pkg: "stap"},
	"stap-N":        {pkg: "stap", flags: []string{"-gcflags=all=-N -l"}},
	"stap-pie":      {pkg: "stap", flags: []string{"-buildmode=pie"}},
	"stap-stripped": {pkg: "stap", flags: []string{"-ldflags=-s -w"}},
	"stap-nodwarf":  {pkg: "stap", flags: []string{"-ldflags=-w"}},
	"stap-unknown":  {pkg: "stap", flags: []string{"-ldflags=-w -X runtime.buildVersion=go1.99"}},
	"bare":          {pkg: "bare", flags: []string{"-ldflags=-s -w"}},
	"bare-pie":      {pkg: "bare", flags: []string{"-ldflags=-s -w", "-buildmode=pie"}},
	"bare-N":        {pkg: "bare", flags: []string{"-ldflags=-w", "-gcflags=all=-N -l"}},
	"grow":          {pkg: "grow"},
	"grow-N":        {pkg: "grow", flags: []string{"-gcflags=all=-N -l"}},
	"busy":          {pkg: "busy"},
	"demo-shop":     {pkg: "demo"},
	"slow":          {pkg: "slow"},
	"skip":          {pkg: "skip"},
	"skip-N":        {pkg: "skip", flags: []string{"-gcflags=all=-N -l"}},
	"endless":       {pkg: "endless"},
	"grow-pie":      {pkg: "grow", flags: []string{"-buildmode=pie"}},
	"without":       {pkg: "without/without.c", c: []string{"-O1"}},
	"parks":         {pkg: "parks"},
	"waits":         {pkg: "waits"},
	"serves":        {pkg: "serves"},
	"labours":       {pkg: "labours"},
	"doings":        {pkg: "doings"},
	"shapes":        {pkg: "shapes"},
	"shapes-N":      {pkg: "shapes", flags: []string{"-gcflags=all=-N -l"}},
	"shapes-pie":    {pkg: "shapes", flags: []string{"-buildmode=pie"}},
	"cycles":        {pkg: "cycles"},
	"delays":        {pkg: "delays"},
	"rpcs":          {pkg: "../testdata/rpcs"}, // a module of its own
	"holders":       {pkg: "holders"},
	"allocs":        {pkg: "allocs"},
	"allocs-sized":  {pkg: "allocs", env: []string{"GOEXPERIMENT=sizespecializedmalloc"}},
	"cleanups":      {pkg: "cleanups"},
	"events":        {pkg: "events"},
	"values":        {pkg: "values"},
	"values-N":      {pkg: "values", flags: []string{"-gcflags=-N -l"}},
	"values-pie":    {pkg: "values", flags: []string{"-buildmode=pie"}},
	"withcgo":       {pkg: "withcgo", env: []string{"CGO_ENABLED=1"}},
	"foreign":       {pkg: "foreign", env: []string{"CGO_ENABLED=1"}},
	"cgocalls":      {pkg: "cgocalls", env: []string{"CGO_ENABLED=1"}},
	"cgocalls-pie": {pkg: "cgocalls", flags: []string{"-buildmode=pie", "-gcflags=-N -l"},
		env: []string{"CGO_ENABLED=1"}},
	"cgocalls-int": {pkg: "cgocalls", flags: []string{"-ldflags=-linkmode=internal"}, env: []string{"CGO_ENABLED=1"}},
	"cgocalls.so":  {pkg: "cgocalls", flags: []string{"-buildmode=c-shared"}, env: []string{"CGO_ENABLED=1"}},
	"cgocalls.a":   {pkg: "cgocalls", flags: []string{"-buildmode=c-archive"}, env: []string{"CGO_ENABLED=1"}},
	"cgohost":      {pkg: "cgohost/host.c", c: []string{"-O1"}},
	"trace":        {pkg: "trace/trace.c", c: []string{"-g", "-O0"}},
	"trace-O1": {pkg: "trace/trace.c",
		c: []string{"-g", "-O1", "-fno-inline", "-fno-ipa-icf", "-fno-ipa-pure-const", "-fno-ipa-cp"}},
	"heaps":          {pkg: "heaps/heaps.c", c: []string{"-g", "-O1", "-pthread"}},
	"statements":     {pkg: "statements/statements.c", c: []string{"-g", "-O1"}},
	"codes":          {pkg: "codes/codes.c", c: []string{"-g", "-O2"}},
	"minus":          {pkg: "minus/minus.c", c: []string{"-g", "-O2"}},
	"deep":           {pkg: "deep/deep.c", c: []string{"-g", "-O1", "-fno-optimize-sibling-calls"}},
	"hurls":          {pkg: "hurls/hurls.cpp", c: []string{"-g", "-O1"}},
	"throws":         {pkg: "throws/throws.cpp", c: []string{"-g", "-O2", "-static"}},
	"foreigners":     {pkg: "foreigners/foreigners.cpp", c: []string{"-std=c++17", "-g", "-O1"}},
	"jumps":          {pkg: "jumps/jumps.c", c: []string{"-g", "-O2"}},
	"tails":          {pkg: "tails/tails.c", c: []string{"-g", "-O2"}},
	"tails-bare":     {pkg: "tails/tails.c", c: []string{"-O2"}},
	"ends":           {pkg: "ends/ends.c", c: []string{"-g", "-O1", "-pthread"}},
	"fractions":      {pkg: "fractions"},
	"floats":         {pkg: "floats"},
	"gomaps":         {pkg: "gomaps"},
	"gomaps-N":       {pkg: "gomaps", flags: []string{"-gcflags=all=-N -l"}},
	"gomaps-pie":     {pkg: "gomaps", flags: []string{"-buildmode=pie"}},
	"gocontexts":     {pkg: "gocontexts"},
	"gocontexts-N":   {pkg: "gocontexts", flags: []string{"-gcflags=all=-N -l"}},
	"gocontexts-pie": {pkg: "gocontexts", flags: []string{"-buildmode=pie"}},
	"govalues":       {pkg: "govalues"},
	"govalues-N":     {pkg: "govalues", flags: []string{"-gcflags=all=-N -l"}},
	"govalues-pie":   {pkg: "govalues", flags: []string{"-buildmode=pie"}},
	"quotes":         {pkg: "quotes"},
	"quotes-c":       {pkg: "quotes/quotes.c", c: []string{"-g", "-O1"}},
	"wide":           {pkg: "wide/wide.c", c: []string{"-g", "-O1"}},
	"scopes":         {pkg: "scopes/scopes.cc", c: []string{"-g", "-O1", "-lstdc++"}},
	"forks":          {pkg: "forks/forks.c", c: []string{"-g", "-O1"}},
	"overflow":       {pkg: "overflow/overflow.c", c: []string{"-g", "-O1"}},
	"stacks":         {pkg: "stacks/stacks.c", c: []string{"-g", "-O1", "-pthread"}},
	"plt":            {pkg: "plt/plt.c", c: []string{"-O1", "-fno-builtin", "-Wl,-z,lazy"}},
	"plt-now":        {pkg: "plt/plt.c", c: []string{"-O1", "-fno-builtin", "-Wl,-z,now", "-s"}},
	"plt-ibt":        {pkg: "plt/plt.c", c: []string{"-O1", "-fno-builtin", "-fcf-protection", "-Wl,-z,ibtplt"}},
	"plt-nopie":      {pkg: "plt/plt.c", c: []string{"-O1", "-fno-builtin", "-no-pie"}},
	"plt-none":       {pkg: "plt/plt.c", c: []string{"-O1", "-fno-builtin", "-fno-plt", "-Wl,-z,now"}},
	"marks":          {pkg: "marks/marks.c", c: []string{"-g", "-O2"}},
	"marks-nopie":    {pkg: "marks/marks.c", c: []string{"-O1", "-no-pie"}},
	"marks-stripped": {pkg: "marks/marks.c", c: []string{"-O1", "-s"}},
	"absent":         {pkg: "absent/absent.c", c: []string{"-g", "-O1"}},
	"text":           {pkg: "text/text.c", c: []string{"-g", "-O1"}},
	"cdata-O0":       {pkg: "cdata/cdata.c", c: []string{"-g", "-O0"}},
	"cdata-O2":       {pkg: "cdata/cdata.c", c: []string{"-g", "-O2"}},
	"inlines":        {pkg: "inlines"},
	"paths":          {pkg: "paths"},
	"garbage": {pkg: "garbage/garbage.c",
		c: []string{"-g", "-O2", "-fomit-frame-pointer", "-fcf-protection=none"}},
	"plugins": {pkg: "plugins/plugins.c", c: []string{"-g", "-O2", "-fomit-frame-pointer"}},
	"plugin-1": {pkg: "plugins/plugin.c",
		c: []string{"-g", "-O2", "-fomit-frame-pointer", "-shared", "-fPIC", "-DROOM=32"}},
	"plugin-2": {pkg: "plugins/plugin.c",
		c: []string{"-g", "-O2", "-fomit-frame-pointer", "-shared", "-fPIC", "-DROOM=4000"}},
	"looks":       {pkg: "looks/looks.c", c: []string{"-g", "-O1", "-fno-omit-frame-pointer"}},
	"busyc":       {pkg: "busyc/busy.c", c: []string{"-g", "-O2"}},
	"unframed":    {pkg: "unframed/unframed.c", c: []string{"-g", "-O2", "-fomit-frame-pointer", "-pthread"}},
	"held":        {pkg: "held/held.c", c: []string{"-g", "-O2", "-pthread"}},
	"inlines-c":   {pkg: "inlinesc/inlines.c", c: []string{"-g", "-O2"}},
	"packets":     {pkg: "packets/packets.c", c: []string{"-O1"}},
	"calls":       {pkg: "calls/calls.c", c: []string{"-O1"}},
	"cdata-nopie": {pkg: "cdata/cdata.c", c: []string{"-g", "-O1", "-no-pie"}},
}

var (
	binDir string
	built  = map[string]*sync.Once{}
	failed sync.Map
)

func TestMain(m *testing.M) {
	// What the caller left open is not passed on, so that traced programs get the descriptors that the tests expect.
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		for _, e := range open {
			if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
				syscall.CloseOnExec(fd)
			}
		}
	}
	// The path has always the same length, so that columns in messages do not change; bin/supervise gives a folder
	// in /tmp.
	const length = len("/tmp/gostap-tests-0123456789")
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("gostap-tests-%010d", rand.Uint32()))
	if n := length - len(os.TempDir()) - len("/"); len(dir) != length && n > 3 {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("b%0*d", n-1, rand.IntN(100)))
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binDir = dir
	for name := range fixtures {
		built[name] = &sync.Once{}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// bin builds a fixture once and gives its path. GOSTAP_FIXTURES_GO says with which release of Go ("go1.22.12") those of
// one file are built that need nothing but the standard library.
func bin(tb testing.TB, name string) string {
	tb.Helper()
	f, ok := fixtures[name]
	if !ok {
		tb.Fatalf("no fixture %q", name)
	}
	if dir := os.Getenv(builtDir); dir != "" {
		return filepath.Join(dir, name)
	}
	out := filepath.Join(binDir, name)
	built[name].Do(func() {
		var cmd *exec.Cmd
		if f.c != nil {
			cc := "gcc"
			if filepath.Ext(f.pkg) == ".cpp" {
				cc = "g++"
			}
			cmd = exec.Command(cc, append(append([]string{}, f.c...), "-o", out, f.pkg)...)
			cmd.Dir = "fixtures"
		} else {
			// Whatever GOFLAGS says, sources are known by their paths.
			args := append([]string{"build", "-trimpath=false", "-o", out}, f.flags...)
			cmd = exec.Command("go", append(args, ".")...)
			cmd.Dir = filepath.Join("fixtures", f.pkg)
			cmd.Env = append(append(os.Environ(), "GOGC=400"), f.env...) // as make test compiles
			if release := os.Getenv("GOSTAP_FIXTURES_GO"); release != "" && name != "gostap" {
				text, err := os.ReadFile(filepath.Join(cmd.Dir, "main.go"))
				cmd.Dir = tb.TempDir() // where no go.mod asks for a later release
				if err == nil {
					err = os.WriteFile(filepath.Join(cmd.Dir, "main.go"), text, 0o644)
				}
				if err != nil {
					failed.Store(name, err)
					return
				}
				cmd.Args[len(cmd.Args)-1] = "main.go"
				cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+release)
				if strings.HasPrefix(release, "go1.22") {
					cmd.Env = append(cmd.Env, "GOEXPERIMENT=rangefunc") // for package iter
				}
			}
		}
		if msg, err := cmd.CombinedOutput(); err != nil {
			failed.Store(name, fmt.Errorf("build %s: %w\n%s", name, err, msg))
		}
	})
	if err, bad := failed.Load(name); bad {
		tb.Fatal(err)
	}
	return out
}

// needRoot skips where BPF programs cannot be loaded at all.
func needRoot(tb testing.TB) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("tracing needs root")
	}
}
