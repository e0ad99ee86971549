package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gostap/gostap/cmd/internal/fleet/chart"
	"github.com/gostap/gostap/tests/oracle"
)

// plugin is what Krew reads.
type plugin struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Spec             struct {
		Version, Homepage, ShortDescription, Description, Caveats string
		Platforms                                                 []struct {
			Selector         struct{ MatchLabels map[string]string }
			URI, SHA256, Bin string
			Files            []struct{ From, To string }
		}
	}
}

// released is an archive as make packages leaves it, of these programs.
func released(t *testing.T, machine string, gostap, export []byte) archive {
	t.Helper()
	name := "gostap_1.2.3~rc1+2.g0123456_linux_" + machine
	data, err := tarball([]file{{"bin/gostap", 0o755, gostap}, {"bin/gostap-export", 0o755, export},
		{"LICENSE", 0o644, []byte("text")}, {"README.md", 0o644, nil}}, name+"/", noon)
	if err != nil {
		t.Fatal(err)
	}
	return archive{machine, name + ".tar.gz", data}
}

// TestKrewManifest: the manifest has what Krew asks for, of each archive that there is, and the files that it names are
// in it.
func TestKrewManifest(t *testing.T) {
	const described = "v1.2.3-rc1-2-g0123456"
	both := []archive{released(t, "amd64", []byte("one"), nil), released(t, "arm64", []byte("another"), nil)}
	for n := range both {
		archives := both[:n+1]
		text, err := krewManifest(described, "https://releases.example/gostap/", archives)
		if err != nil {
			t.Fatal(err)
		}
		var p plugin
		if err := yaml.UnmarshalStrict(text, &p); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		s := p.Spec
		if p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Kind != "Plugin" ||
			p.Metadata.Name != "gostap" || s.Version != "v1.2.3-rc1+2.g0123456" || len(s.Platforms) != len(archives) ||
			len(s.ShortDescription) > 50 || !strings.HasPrefix(s.Homepage, "https://") || s.Caveats == "" ||
			s.Description == "" {
			t.Errorf("%s", text)
		}
		for i, a := range archives {
			x := s.Platforms[i]
			if x.Selector.MatchLabels["os"] != "linux" || x.Selector.MatchLabels["arch"] != a.machine ||
				x.URI != "https://releases.example/gostap/"+a.name ||
				x.SHA256 != fmt.Sprintf("%x", sha256.Sum256(a.data)) {
				t.Errorf("%s: %+v", a.machine, x)
			}
			in, left := untar(t, unzip(t, a.data)), []string{}
			for _, f := range x.Files {
				if _, there := in[f.From]; !there || f.To != "." {
					t.Errorf("%s: no %s", a.name, f.From)
				}
				left = append(left, path.Base(f.From))
			}
			if !slices.Contains(left, x.Bin) || !slices.Contains(left, "gostap-export") ||
				!slices.Contains(left, "LICENSE") {
				t.Errorf("%s and %v", x.Bin, left)
			}
		}
	}
	semver := regexp.MustCompile(`^v\d+\.\d+\.\d+[-+.\w]*$`)
	for _, v := range []string{"unknown", "0123456-dirty", "v1.2", "v2.0.1-3-g0123456"} {
		if got := "v" + chart.Semver(v); !semver.MatchString(got) {
			t.Errorf("%q: %q", v, got)
		}
	}
	for _, bad := range []string{"", "http://releases.example", "https://", "releases", "https://a/?b", "https://a/#b",
		"https://u@a/", "https://a/\n"} {
		if text, err := krewManifest(described, bad, both); err == nil {
			t.Errorf("%q: %s", bad, text)
		}
	}
	// What stands in a URL stays in its place.
	text, err := krewManifest(described, `https://a/"x: y`, both[:1])
	var p plugin
	if err != nil || yaml.UnmarshalStrict(text, &p) != nil || p.Spec.Platforms[0].URI !=
		"https://a/%22x:%20y/"+both[0].name {
		t.Errorf("%v\n%s", err, text)
	}
}

// krewRelease is the release of Krew that is built.
const krewRelease = "v0.5.0"

// TestKrew: a real Krew takes the manifest and the archive, and kubectl's plugin that it leaves runs, and says what
// gostap kube says.
func TestKrew(t *testing.T) {
	krew := os.Getenv("GOSTAP_KREW")
	if krew == "" {
		if !oracle.Full() {
			t.Skip("GOSTAP_ORACLE=full builds Krew; GOSTAP_KREW names one that is there")
		}
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(cache, "gostap-tests")
		if krew = filepath.Join(dir, "krew-"+krewRelease); exec.Command("test", "-x", krew).Run() != nil {
			sh(t, os.Environ(), "sh", "-ec", `GOBIN="$1" go install sigs.k8s.io/krew/cmd/krew@"$2"; mv "$1/krew" "$3"`, "sh",
				dir, krewRelease, krew)
		}
	}
	root := t.TempDir()
	built := filepath.Join(root, "gostap")
	sh(t, append(os.Environ(), "CGO_ENABLED=0"), "go", "build", "-o", built, "../../gostap")
	gostap, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	a := released(t, runtime.GOARCH, gostap, []byte("export"))
	text, err := krewManifest("v1.2.3", "https://releases.example/gostap", []archive{a})
	if err != nil {
		t.Fatal(err)
	}
	manifest, ball := filepath.Join(root, "gostap.krew.yaml"), filepath.Join(root, a.name)
	if err := os.WriteFile(manifest, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ball, a.data, 0o644); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "KREW_ROOT="+filepath.Join(root, "krew"), "KREW_NO_UPGRADE_CHECK=1")
	out := sh(t, env, krew, "install", "--manifest", manifest, "--archive", ball)
	if !strings.Contains(out, "Installed plugin: gostap") || !strings.Contains(out, "gostap-fleet install") {
		t.Errorf("%s", out)
	}
	at := filepath.Join(root, "krew", "bin", "kubectl-gostap")
	if out := sh(t, env, at, "--help"); !strings.HasPrefix(out, "gostap kube - traces pods\n") {
		t.Errorf("%s", out)
	}
	to, err := filepath.EvalSymlinks(at)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(to), "gostap-export")); err != nil || string(b) != "export" {
		t.Errorf("beside it: %v", err)
	}
	// Another archive than the manifest's is refused.
	if err := os.WriteFile(ball, bytes.Replace(a.data, a.data[100:104], []byte("abcd"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(krew, "install", "--manifest", manifest, "--archive", ball)
	cmd.Env = append(env, "KREW_ROOT="+filepath.Join(root, "another"))
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "checksum") {
		t.Errorf("%v: %s", err, out)
	}
}

// sh runs a command and gives all that it prints.
func sh(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}
