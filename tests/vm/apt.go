package vm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// ErrNoPackage says that no suite has a package.
var ErrNoPackage = errors.New("no such package")

// codenames of Debian's releases: a kernel's release says which by +debN.
var codenames = map[string]string{"12": "bookworm", "13": "trixie", "14": "forky"}

// archive fetches packages by the host's own apt: from its sources, or from another suite of the same mirror through
// lists of its own below dir. The host's lists and packages stay as they are.
type archive struct{ dir string }

func hostCodename() string {
	b, _ := os.ReadFile("/etc/os-release")
	for _, l := range strings.Split(string(b), "\n") {
		if v, ok := strings.CutPrefix(l, "VERSION_CODENAME="); ok {
			return strings.Trim(v, `"`)
		}
	}
	return ""
}

var debOf = regexp.MustCompile(`\+deb(\d+)`)

// suites are where to look for the packages of a kernel release, "" being the host's own sources.
func suites(release string) []string {
	code := ""
	if m := debOf.FindStringSubmatch(release); m != nil {
		code = codenames[m[1]]
	}
	if code == "" || code == hostCodename() {
		return []string{"", hostCodename() + "-backports"}
	}
	return []string{code + "-backports", code + "-security", code + "-updates", code}
}

func run(dir, name string, args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(stderr.String()))
	}
	return string(out), err
}

// options are apt's for a suite with lists of its own.
func (a *archive) options(suite string) []string {
	o := []string{"-o", "APT::Sandbox::User=root"}
	if suite == "" {
		return o
	}
	d := filepath.Join(a.dir, "apt", suite)
	for k, v := range map[string]string{
		"Dir::Etc::sourcelist": d + "/sources.list", "Dir::Etc::sourceparts": "/dev/null",
		"Dir::Etc::preferencesparts": "/dev/null",
		"Dir::Etc::preferences":      "/dev/null", "Dir::State::lists": d + "/lists", "Dir::State::status": "/dev/null",
		"Dir::Cache": d,
	} {
		o = append(o, "-o", k+"="+v)
	}
	return o
}

var signedBy = regexp.MustCompile(`(?im)^signed-by:\s*(/\S+)|signed-by=(/[^\]\s]+)`)

// prepare makes or refreshes the lists of a suite; false if the mirror does not have it.
func (a *archive) prepare(suite string) (bool, error) {
	if suite == "" {
		return true, nil
	}
	d := filepath.Join(a.dir, "apt", suite)
	if st, err := os.Stat(d + "/stamp"); err == nil && time.Since(st.ModTime()) < 24*time.Hour {
		_, err := os.Stat(d + "/none")
		return err != nil, nil
	}
	for _, sub := range []string{"/lists/partial", "/archives/partial"} {
		if err := os.MkdirAll(d+sub, 0o755); err != nil {
			return false, err
		}
	}
	// The mirror and its key are those that the host uses for the same part of its own release.
	host := hostCodename()
	base, _, _ := strings.Cut(suite, "-")
	out, err := run("", "apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(SOURCESENTRY)",
		"Created-By: Packages", "Component: main")
	if err != nil {
		return false, err
	}
	uri, entry := "", ""
	for _, want := range []string{host + strings.TrimPrefix(suite, base), host} {
		for _, l := range strings.Split(out, "\n") {
			if f := strings.Fields(l); len(f) == 3 && f[1] == want && uri == "" {
				uri, entry = f[0], f[2]
			}
		}
		if strings.HasSuffix(suite, "-security") {
			break
		}
	}
	none := uri == ""
	if !none {
		key := ""
		file, _, _ := strings.Cut(entry, ":")
		b, _ := os.ReadFile(file)
		if m := signedBy.FindSubmatch(b); m != nil {
			key = " signed-by=" + string(m[1]) + string(m[2])
		}
		line := fmt.Sprintf("deb [target=Packages%s] %s %s main\n", key, uri, suite)
		if err := os.WriteFile(d+"/sources.list", []byte(line), 0o644); err != nil {
			return false, err
		}
		_, err = run("", "apt-get", append(a.options(suite), "-qq", "update")...)
		if err != nil {
			if !strings.Contains(err.Error(), "Release file") && !strings.Contains(err.Error(), "404") {
				return false, err
			}
			none = true
		}
	}
	if none {
		os.WriteFile(d+"/none", nil, 0o644)
	} else {
		os.Remove(d + "/none")
	}
	return !none, os.WriteFile(d+"/stamp", nil, 0o644)
}

// get downloads the first of some packages that any of the suites has, once, and gives its file.
func (a *archive) get(in []string, names ...string) (string, error) {
	debs := filepath.Join(a.dir, "debs")
	if err := os.MkdirAll(debs, 0o755); err != nil {
		return "", err
	}
	for _, n := range names {
		if f := filepath.Join(debs, n+".deb"); exists(f) {
			return f, nil
		}
	}
	for _, suite := range in {
		ok, err := a.prepare(suite)
		if err != nil {
			return "", err
		}
		for _, n := range names {
			if !ok {
				continue
			}
			out, err := run("", "apt-cache", append(a.options(suite), "show", "--no-all-versions", n)...)
			if err != nil || !strings.Contains(out, "Package:") {
				continue
			}
			tmp, err := os.MkdirTemp(debs, "get-")
			if err != nil {
				return "", err
			}
			defer os.RemoveAll(tmp)
			if _, err := run(tmp, "apt-get", append(a.options(suite), "-qq", "download", n)...); err != nil {
				return "", err
			}
			got, _ := filepath.Glob(tmp + "/*.deb")
			if len(got) != 1 {
				return "", fmt.Errorf("apt-get left %d files for package %s", len(got), n)
			}
			f := filepath.Join(debs, n+".deb")
			return f, os.Rename(got[0], f)
		}
	}
	return "", fmt.Errorf("%w: %s in %v", ErrNoPackage, strings.Join(names, ", "), in)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
