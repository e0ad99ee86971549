package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func testLab(t *testing.T) *lab {
	t.Helper()
	t.Setenv("GOSTAP_KUBELAB", t.TempDir())
	t.Setenv("GOSTAP_KUBELAB_NET", "10.199")
	l, err := newLab()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(l.run, "pid"), 0o755); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRunning: a process is known by its number and by when it started, also if nobody has waited for it.
func TestRunning(t *testing.T) {
	l := testLab(t)
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	note := func(born string) {
		t.Helper()
		if err := os.WriteFile(l.note("x"), fmt.Appendf(nil, "%d %s\n", cmd.Process.Pid, born), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	born := bornAt(cmd.Process.Pid)
	note(born)
	if p, ok := l.running("x"); !ok || p.pid != cmd.Process.Pid || !l.anyRuns() {
		t.Error("it is not seen")
	}
	note(born + "1")
	if _, ok := l.running("x"); ok || l.anyRuns() {
		t.Error("a later process with its number is taken for it")
	}
	note(born)
	cmd.Process.Kill()
	for end := time.Now().Add(time.Minute); l.anyRuns(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("one that has ended seems to run")
		}
	}
}

// TestKeys: the API server's certificate is for its address, clients are who they should be, and what is there stays.
func TestKeys(t *testing.T) {
	l := testLab(t)
	if err := l.makeKeys([]string{"lab1"}); err != nil {
		t.Fatal(err)
	}
	read := func(name string) *x509.Certificate {
		t.Helper()
		pair, err := tls.LoadX509KeyPair(filepath.Join(l.keys(), name+".crt"), filepath.Join(l.keys(), name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf
	}
	ca, server := read("ca"), read("apiserver")
	if err := l.makeKeys([]string{"lab1", "lab2"}); err != nil {
		t.Fatal(err)
	}
	if !read("ca").Equal(ca) || !read("apiserver").Equal(server) {
		t.Error("keys were made anew")
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	if _, err := server.Verify(x509.VerifyOptions{Roots: pool, DNSName: "10.199.0.1"}); err != nil {
		t.Error(err)
	}
	for name, who := range map[string]string{"lab2": "CN=system:node:lab2,O=system:nodes",
		"admin": "CN=admin,O=system:masters", "scheduler": "CN=system:kube-scheduler"} {
		c := read(name)
		_, err := c.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		if err != nil || c.Subject.String() != who {
			t.Errorf("%s: %v, %v", name, c.Subject, err)
		}
	}
}

// TestImage: an image names its parts by their sums, has what it is made of as root's, and no more.
func TestImage(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(dir+"/bin", 0o755), os.WriteFile(dir+"/bin/x", []byte("text"), 0o755),
		os.Symlink("x", dir+"/bin/y")); err != nil {
		t.Fatal(err)
	}
	var layer, image bytes.Buffer
	if err := folderLayer(&layer, dir); err != nil {
		t.Fatal(err)
	}
	if err := writeImage(&image, "app", layer.Bytes(), []string{"/bin/x", `"`}); err != nil {
		t.Fatal(err)
	}
	contents := func(r io.Reader) map[string]string {
		t.Helper()
		files := map[string]string{}
		for a := tar.NewReader(r); ; {
			h, err := a.Next()
			if err == io.EOF {
				return files
			} else if err != nil || h.Uid != 0 || h.Gid != 0 {
				t.Fatal(h, err)
			}
			text, err := io.ReadAll(a)
			if err != nil {
				t.Fatal(err)
			}
			files[h.Name] = string(text) + h.Linkname
		}
	}
	if got := contents(bytes.NewReader(layer.Bytes())); fmt.Sprint(got) != "map[bin/: bin/x:text bin/y:x]" {
		t.Error(got)
	}
	files := contents(&image)
	var index []struct {
		Config           string
		RepoTags, Layers []string
	}
	err := json.Unmarshal([]byte(files["manifest.json"]), &index)
	if err != nil || len(index) != 1 || len(files) != 3 ||
		index[0].RepoTags[0] != "localhost/app:lab" || files[index[0].Layers[0]] != layer.String() {
		t.Fatal(err, index)
	}
	config := files[index[0].Config]
	if fmt.Sprintf("%x.json", sha256.Sum256([]byte(config))) != index[0].Config ||
		!strings.Contains(config, fmt.Sprintf(`"sha256:%x"`, sha256.Sum256(layer.Bytes()))) ||
		!strings.Contains(config, `"Entrypoint":["/bin/x","\""]`) {
		t.Error(config)
	}
}

// TestProgramImage: a program that needs libraries is refused, a static one has its name.
func TestProgramImage(t *testing.T) {
	dir := t.TempDir()
	static := filepath.Join(dir, "pause")
	cmd := exec.Command("go", "build", "-o", static, ".")
	cmd.Dir, cmd.Env = "cri/pause", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var layer bytes.Buffer
	if err := programLayer(&layer, "app", static); err != nil || !bytes.Contains(layer.Bytes(), []byte("app\x00")) {
		t.Error(err)
	}
	if sh, err := exec.LookPath("sh"); err == nil {
		if err := programLayer(io.Discard, "app", sh); err == nil || !strings.Contains(err.Error(), "needs libraries") {
			t.Error(err)
		}
	}
	err := programLayer(io.Discard, "app", "kubelab_test.go")
	if err == nil || !strings.Contains(err.Error(), "no program") {
		t.Error(err)
	}
}

// TestSums: the sum of what a program is made of is another one for another release, versions, sources or flags.
func TestSums(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	pause := programs()[0]
	seen := map[string]string{}
	sum := func(what string, p program, release string) {
		t.Helper()
		s, err := p.sum(dir, release)
		if err != nil {
			t.Fatal(err)
		}
		if was, ok := seen[s]; ok {
			t.Errorf("the same sum: %s, %s", was, what)
		}
		seen[s] = what
	}
	add := func(name string) {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprintln(f, "// more")
	}
	for _, p := range programs() {
		sum(p.name, p, "go1")
	}
	sum("release", pause, "go2")
	flags := pause
	flags.tags = "more"
	sum("flags", flags, "go1")
	for _, name := range []string{"cri/go.mod", "cri/go.sum", "cri/pause/main.go"} {
		add(name)
		sum(name, pause, "go1")
	}
	if err := build(t.TempDir(), nil, true); err == nil || !strings.Contains(err.Error(), "pause has not been built") {
		t.Error(err)
	}
}

// TestAddresses: addresses of the loopback device come and go, and those of others stay.
func TestAddresses(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root changes addresses")
	}
	l := testLab(t)
	if err := l.free(); err != nil {
		t.Skip(err)
	}
	defer l.removeAddresses()
	for range 2 {
		if err := l.addAddresses(2); err != nil {
			t.Fatal(err)
		}
	}
	want := "[10.199.0.1 10.199.0.2 10.199.0.3]"
	if got, err := l.present(); err != nil || fmt.Sprint(got) != want {
		t.Error(got, err)
	}
	s, err := net.Listen("tcp", "10.199.0.3:0")
	if err != nil {
		t.Error(err)
	} else {
		s.Close()
	}

	other := testLab(t)
	if other.group == l.group {
		t.Errorf("both are %s", l.group)
	}
	if err := other.addAddresses(3); err == nil || !strings.Contains(err.Error(), "somebody else has") {
		t.Error(err)
	}
	if err := other.removeAddresses(); err != nil {
		t.Error(err)
	}
	boot := "another " + fmt.Sprint(l.added())
	if err := os.WriteFile(other.addressNotes(), []byte(strings.Trim(boot, "[]")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := other.removeAddresses(); err != nil {
		t.Error(err)
	}
	if got, err := l.present(); err != nil || fmt.Sprint(got) != want {
		t.Error(got, err)
	}

	if err := l.removeAddresses(); err != nil {
		t.Error(err)
	}
	if got, err := l.present(); err != nil || len(got) > 0 {
		t.Error(got, err)
	}
}

// TestClaims: a folder that a cluster made stays as long as another one uses it; one that was there stays.
func TestClaims(t *testing.T) {
	dir := t.TempDir()
	there, made := filepath.Join(dir, "there"), filepath.Join(dir, "made")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	defer func(was []string) { fixedPaths = was }(fixedPaths)
	fixedPaths = []string{there, made}
	one, two := &lab{group: "kubelab-one"}, &lab{group: "kubelab-two"}
	exist := func() (names []string) {
		list, _ := filepath.Glob(dir + "/*")
		for _, path := range list {
			names = append(names, filepath.Base(path))
		}
		return names
	}
	if err := errors.Join(one.claim(), one.claim(), two.claim()); err != nil {
		t.Fatal(err)
	}
	one.unclaim()
	if got := exist(); !slices.Equal(got, []string{"made", "there"}) {
		t.Error(got)
	}
	two.unclaim()
	if got := exist(); !slices.Equal(got, []string{"there"}) {
		t.Error(got)
	}
	if list, _ := os.ReadDir(there); len(list) > 0 {
		t.Error(list)
	}
}

// TestNames: what is named after a network, and what no network is.
func TestNames(t *testing.T) {
	l := testLab(t)
	if l.api() != "10.199.0.1" || !strings.HasPrefix(l.group, "kubelab-10.199-") ||
		filepath.Base(l.run) != "run-10.199" {
		t.Errorf("%+v", l)
	}
	for _, net := range []string{"127.0", "10", "10.1.2", "../x"} {
		t.Setenv("GOSTAP_KUBELAB_NET", net)
		if _, err := newLab(); err == nil {
			t.Errorf("%s is taken", net)
		}
	}
}
