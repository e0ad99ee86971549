package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func TestVersions(t *testing.T) {
	for described, want := range map[string]string{
		"v1.2.3":              "1.2.3",
		"v1.2":                "1.2",
		"v1.2.0-rc1":          "1.2.0~rc1",
		"v1.2.3-14-gabcdef01": "1.2.3+14.gabcdef01",
		"v1.0-dirty":          "1.0+dirty",
		"abcdef01":            "0~git20261126.abcdef01",
		"12345678-dirty":      "0~git20261126.12345678+dirty",
		"unknown":             "",
		"":                    "",
		"v1; rm -r x":         "",
	} {
		got, err := packageVersion(described, noon)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, not %q", described, got, err, want)
		}
	}
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("no dpkg to compare versions with")
	}
	order := []string{"abcdef01", "v0.1.0-rc1", "v0.1.0", "v0.1.0-2-gabcdef01", "v0.1.1", "v0.2"}
	for i := range order[1:] {
		a, _ := packageVersion(order[i], noon)
		b, _ := packageVersion(order[i+1], noon)
		if err := exec.Command("dpkg", "--compare-versions", a, "lt", b).Run(); err != nil {
			t.Errorf("%s is not before %s to dpkg: %v", a, b, err)
		}
	}
}

// TestLinked: every module that go list finds in the command has a licence that is known, whole in LICENSES, and is in
// the list of what it is made of.
func TestLinked(t *testing.T) {
	const command = "github.com/gostap/gostap/cmd/gostap"
	settings := []debug.BuildSetting{{Key: "CGO_ENABLED", Value: "0"}}
	dirs, _, err := packageFolders(command, settings)
	if err != nil {
		t.Fatal(err)
	}
	info := &buildinfo.BuildInfo{Path: command, GoVersion: "go1.26.8", Settings: settings,
		Main: debug.Module{Path: "github.com/gostap/gostap"}}
	own := dirs[""]
	delete(dirs, "")
	for key := range dirs {
		path, version, _ := strings.Cut(key, "@")
		info.Deps = append(info.Deps, &debug.Module{Path: path, Version: version, Sum: "h1:x"})
	}
	slices.SortFunc(info.Deps, func(a, b *debug.Module) int { return strings.Compare(a.Path, b.Path) })
	modules, err := linked(info)
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) != len(dirs)+2 || len(modules) < 8 || modules[len(modules)-1].path != "npm:uplot" {
		t.Fatalf("%d modules of %d, of %d folders of our own", len(modules), len(dirs), len(own))
	}
	all := string(licenceTexts(modules))
	for _, m := range modules {
		folder := ""
		if m.path != "std" {
			folder = "../page/vendored"
			if d := dirs[m.path+"@"+m.version]; d != nil {
				folder = d[0]
			}
			want, err := os.ReadFile(filepath.Join(folder, "LICENSE"))
			if err != nil || !strings.Contains(all, string(want)) {
				t.Errorf("%s: LICENSES has not the text of its licence (%v)", m.path, err)
			}
		}
		if !strings.Contains(all, "  "+m.path+" "+m.version+": "+m.licence+"\n") {
			t.Errorf("%s is not listed in LICENSES", m.path)
		}
	}
	first, err := sbom(info, modules, sha256.Sum256(nil), "v1", noon)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := sbom(info, modules, sha256.Sum256(nil), "v1", noon)
	if !bytes.Equal(first, second) {
		t.Error("two lists of the same are not the same")
	}
	var b bom
	if err := json.Unmarshal(first, &b); err != nil {
		t.Fatal(err)
	}
	if len(b.Components) != len(modules) || len(b.Dependencies[0].DependsOn) != len(modules) {
		t.Errorf("%d modules, %s", len(modules), first)
	}
	info.Deps = append(info.Deps, &debug.Module{Path: "example.org/other", Version: "v1.0.0"})
	if _, err := linked(info); err == nil || !strings.Contains(err.Error(), "example.org/other") {
		t.Errorf("a module that the sources have not: %v", err)
	}
}

// TestBoth: the licences of what delivers results, and of what is about clusters, are known too, and each module of two
// programs is there once.
func TestBoth(t *testing.T) {
	var lists [][]module
	for _, command := range []string{"gostap", "gostap-export", "gostap-fleet"} {
		info := &buildinfo.BuildInfo{Path: "github.com/gostap/gostap/cmd/" + command, GoVersion: "go1.26.8",
			Settings: []debug.BuildSetting{{Key: "CGO_ENABLED", Value: "0"}}}
		dirs, _, err := packageFolders(info.Path, info.Settings)
		if err != nil {
			t.Fatal(err)
		}
		for key := range dirs {
			if path, version, ok := strings.Cut(key, "@"); ok {
				info.Deps = append(info.Deps, &debug.Module{Path: path, Version: version})
			}
		}
		modules, err := linked(info)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, modules)
	}
	seen := map[string]int{}
	for _, m := range both(lists[0], lists[1]) {
		seen[m.path]++
	}
	for _, m := range slices.Concat(lists[0], lists[1]) {
		if seen[m.path] != 1 {
			t.Errorf("%s is there %d times", m.path, seen[m.path])
		}
	}
	if seen["go.opentelemetry.io/otel"] != 1 || seen["npm:uplot"] != 1 || seen["k8s.io/client-go"] != 0 {
		t.Errorf("%v", seen)
	}
	all := string(licenceTexts(lists[2]))
	for _, path := range []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime", "sigs.k8s.io/yaml"} {
		if !strings.Contains(all, "\n  "+path+" v") || !strings.Contains(all, "\n"+path+" v") {
			t.Errorf("%s is not in LICENSES of gostap-fleet", path)
		}
	}
}

// TestListsDiffer: what two programs of one version are made of are lists about two things, of which each has its name.
func TestListsDiffer(t *testing.T) {
	names := map[string]bool{}
	for command, name := range map[string]string{"gostap": "github.com/gostap/gostap",
		"gostap-fleet": "github.com/gostap/gostap/cmd/gostap-fleet"} {
		p := program{file: file{"bin/" + command, 0o755, []byte(command)},
			info: &buildinfo.BuildInfo{Path: "github.com/gostap/gostap/cmd/" + command,
				Main: debug.Module{Path: "github.com/gostap/gostap"}}}
		files, err := p.about([]module{{path: "std", licence: "BSD-3-Clause"}}, "v1", noon)
		if err != nil || len(files) != 3 || files[1].name != "sbom.cdx.json" {
			t.Fatalf("%v, %v", files, err)
		}
		var b bom
		if err := json.Unmarshal(files[1].data, &b); err != nil || b.Metadata.Component.Name != name ||
			b.Metadata.Component.Hashes[0].Content != fmt.Sprintf("%x", sha256.Sum256([]byte(command))) {
			t.Errorf("%v, %s", err, files[1].data)
		}
		names[b.Metadata.Component.PURL], names[b.Serial] = true, true
	}
	if len(names) != 4 || !names["pkg:golang/github.com/gostap/gostap@v1#cmd/gostap-fleet"] {
		t.Errorf("%v", names)
	}
}

// TestContents: what the files for nfpm name is what a tar ball has, so that no package lacks anything.
func TestContents(t *testing.T) {
	for name, all := range map[string][]string{
		"gostap": {"bin/gostap", "bin/gostap-export", "man/*.1.gz", "man/*.3.gz", "man/*.7.gz",
			"completion/gostap.bash", "completion/gostap.zsh", "completion/gostap.fish", "systemd/gostap@.service",
			"systemd/gostap-agent.service",
			"LICENSE", "LICENSES", "sbom.cdx.json", "VERSION", "README.md", "CHANGELOG.md", "packages.md"},
		fleetName: {"bin/gostap-fleet", "man/*.1.gz", "man/*.7.gz", "LICENSE", "LICENSES", "sbom.cdx.json", "VERSION",
			"fleet.md"},
	} {
		b, err := os.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range all {
			if !bytes.Contains(b, []byte(`"${STAGE}/`+part+`"`)) {
				t.Errorf("%s.yaml has no %s", name, part)
			}
		}
		named := map[string]bool{}
		for _, m := range regexp.MustCompile(`"\$\{STAGE\}/([^"]+)"`).FindAllSubmatch(b, -1) {
			named[string(m[1])] = true
		}
		if len(named) != len(all) {
			t.Errorf("%s.yaml names %v", name, named)
		}
	}
	b, _ := os.ReadFile("gostap.yaml")
	for _, script := range []string{"postinstall", "preremove", "postremove"} {
		if st, err := os.Stat("scripts/" + script); err != nil || !bytes.Contains(b, []byte(source+"scripts/"+script)) {
			t.Errorf("%s: %v, %v", script, st, err)
		}
	}
}

// TestAgentUnit: the agent may no more than standing sessions may, does not start without certificates and traces, and
// systemd knows all that the units say.
func TestAgentUnit(t *testing.T) {
	var units [2]string
	for i, name := range []string{"gostap@.service", "gostap-agent.service"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		units[i] = string(b)
	}
	_, rights, _ := strings.Cut(units[0], "\n# Rights: ")
	rights, _, _ = strings.Cut(rights, "\n[Install]")
	n := 0
	for _, line := range strings.Split(rights, "\n") {
		if strings.Contains(line, "=") {
			if n++; !strings.Contains(units[1], "\n"+line+"\n") {
				t.Errorf("the agent's unit has no %s", line)
			}
		}
	}
	for _, line := range []string{"ConditionPathExists=|/etc/gostap/tls", "StateDirectory=gostap",
		"ConditionPathIsDirectory=|/etc/gostap/traces"} {
		if !strings.Contains(units[1], "\n"+line+"\n") {
			t.Errorf("the agent's unit has no %s", line)
		}
	}
	if n < 10 || !strings.Contains(units[1], "\nType=notify\n") {
		t.Errorf("%d rights", n)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "gostap-agent.service")
	text := strings.Replace(units[1], "ExecStart=/usr/bin/gostap ", "ExecStart=/bin/true ", 1)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(analyze, "verify", "--man=no", path).CombinedOutput()
	if strings.Contains(string(out), "gostap-agent.service:") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestFleetFiles: a tar ball of gostap-fleet has what its packages are made of.
func TestFleetFiles(t *testing.T) {
	t.Chdir("../../..")
	made := t.TempDir()
	if err := os.MkdirAll(filepath.Join(made, "man-fleet"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := release{made: made, described: "v1", at: noon}
	p := &program{file: file{"bin/gostap-fleet", 0o755, []byte("program")}, info: &buildinfo.BuildInfo{}}
	if _, err := r.fleetFiles(p); err == nil || !strings.Contains(err.Error(), "no manual pages in ") {
		t.Errorf("without pages: %v", err)
	}
	for _, page := range []string{"gostap-fleet.1", "gostap-fleet.7"} {
		if err := os.WriteFile(filepath.Join(made, "man-fleet", page), []byte("page"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := r.fleetFiles(p)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.name)
		if (f.mode == 0o755) != (f.name == "bin/gostap-fleet") || len(f.data) == 0 {
			t.Errorf("%s: %v, %d bytes", f.name, f.mode, len(f.data))
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "LICENSE LICENSES VERSION bin/gostap-fleet fleet.md "+
		"man/gostap-fleet.1.gz man/gostap-fleet.7.gz sbom.cdx.json" {
		t.Errorf("%s", got)
	}
}
