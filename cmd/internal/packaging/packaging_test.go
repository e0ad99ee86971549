package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// TestBoth: the licences of what delivers results are known too, and each module of the two programs is there once.
func TestBoth(t *testing.T) {
	var lists [][]module
	for _, command := range []string{"gostap", "gostap-export"} {
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
	if seen["go.opentelemetry.io/otel"] != 1 || seen["npm:uplot"] != 1 {
		t.Errorf("%v", seen)
	}
}

// TestImage: the image is what the specifications say, and has the command and nothing to run beside it.
func TestImage(t *testing.T) {
	files := []file{{"bin/gostap", 0o755, []byte("the command")}, {"LICENSE", 0o644, []byte("text")},
		{"man/x.1.gz", 0o644, nil}}
	image, err := containerImage(files, "1.0~rc1+2.g1234567", "machine", noon)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := containerImage(files, "1.0~rc1+2.g1234567", "machine", noon); !bytes.Equal(image, again) {
		t.Error("two images of the same are not the same")
	}
	in := untar(t, image)
	blob := func(d descriptor) []byte {
		data := in["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		if fmt.Sprintf("sha256:%x", sha256.Sum256(data)) != d.Digest || len(data) != d.Size {
			t.Fatalf("%s: %d bytes", d.Digest, len(data))
		}
		return data
	}
	decode := func(data []byte, to any) {
		if err := json.Unmarshal(data, to); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
	}
	var index struct{ Manifests []descriptor }
	decode(in["index.json"], &index)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	decode(blob(index.Manifests[0]), &manifest)
	var config struct {
		Config struct{ Entrypoint []string }
		RootFS struct {
			IDs []string `json:"diff_ids"`
		}
	}
	decode(blob(manifest.Config), &config)
	z, err := gzip.NewReader(bytes.NewReader(blob(manifest.Layers[0])))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); config.RootFS.IDs[0] != got {
		t.Errorf("the layer is %s, not %s", got, config.RootFS.IDs[0])
	}
	if got := untar(t, layer); string(got["usr/bin/gostap"]) != "the command" || len(got) != 11 {
		t.Errorf("the image has %q", got)
	}
	if config.Config.Entrypoint[0] != "/usr/bin/gostap" {
		t.Errorf("the image runs %q", config.Config.Entrypoint)
	}
	var docker []struct {
		Config           string
		RepoTags, Layers []string
	}
	decode(in["manifest.json"], &docker)
	if d := docker[0]; len(in[d.Config]) == 0 || len(in[d.Layers[0]]) == 0 ||
		d.RepoTags[0] != "gostap:1.0-rc1-2.g1234567" {
		t.Errorf("manifest.json: %v", docker)
	}
}

// untar gives what an archive has; every entry has to be root's and of the time of the commit.
func untar(t *testing.T, b []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(noon) || h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s: %v, owner %d:%d", h.Name, h.ModTime, h.Uid, h.Gid)
		}
		if out[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestContents: what nfpm.yaml names is what a tar ball has, so that no package lacks anything.
func TestContents(t *testing.T) {
	b, err := os.ReadFile("nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin/gostap", "bin/gostap-export", "man/*.1.gz", "man/*.3.gz", "man/*.7.gz",
		"completion/gostap.bash",
		"completion/gostap.zsh", "completion/gostap.fish", "systemd/gostap@.service",
		"systemd/gostap-agent.service", "LICENSE", "LICENSES", "sbom.cdx.json", "VERSION", "README.md",
		"CHANGELOG.md", "packages.md"} {
		if !bytes.Contains(b, []byte(`"${STAGE}/`+name+`"`)) {
			t.Errorf("nfpm.yaml has no %s", name)
		}
	}
	for _, script := range []string{"postinstall", "preremove", "postremove"} {
		if st, err := os.Stat("scripts/" + script); err != nil || !bytes.Contains(b, []byte(source+"scripts/"+script)) {
			t.Errorf("%s: %v, %v", script, st, err)
		}
	}
}

// TestAgentUnit: the agent may no more than standing sessions may, does not start without its certificates, and
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
	for _, file := range []string{"ca.crt", "tls.crt", "tls.key"} {
		if !strings.Contains(units[1], "\nConditionPathExists=/etc/gostap/tls/"+file+"\n") {
			t.Errorf("the agent's unit does not wait for %s", file)
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
