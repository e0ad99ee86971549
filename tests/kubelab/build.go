package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// program is one that is built.
type program struct {
	name, module, pkg string // the module is a folder beside this file
	tags              string
	ldflags           string
	cgo               bool
}

// release is that of Kubernetes, which programs have to be told when they are linked.
const release = "1.37.2"

// kubeNames are what the program kube is started as.
var kubeNames = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"}

// programs are all that there is to build, the small ones first.
func programs() []program {
	stamp := ""
	for _, x := range []string{"gitVersion=v" + release, "gitMajor=1", "gitMinor=" + strings.Split(release, ".")[1],
		"gitTreeState=clean"} {
		stamp += " -X k8s.io/component-base/version." + x
	}
	containerd := func(name string) program {
		return program{name: name, module: "cri", pkg: "github.com/containerd/containerd/v2/cmd/" + name,
			tags: "no_btrfs,no_devmapper,no_zfs,no_aufs"}
	}
	plugins := "github.com/containernetworking/plugins/plugins/"
	return []program{
		{name: "pause", module: "cri", pkg: "./pause"},
		{name: "ptp", module: "cri", pkg: plugins + "main/ptp"},
		{name: "host-local", module: "cri", pkg: plugins + "ipam/host-local"},
		// containerd starts no container by a runc without seccomp.
		{name: "runc", module: "cri", pkg: "github.com/opencontainers/runc", tags: "seccomp", cgo: true},
		containerd("containerd-shim-runc-v2"), containerd("ctr"), containerd("containerd"),
		{name: "kube", module: "kube", pkg: ".", ldflags: stamp},
	}
}

// args are those of the go command, but for where the result goes.
func (p program) args() []string {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags=-s -w" + p.ldflags}
	if p.tags != "" {
		args = append(args, "-tags="+p.tags)
	}
	return args
}

// sum is one over all that the program is made of: the release of Go, the module's versions, its sources, and flags.
func (p program) sum(modules, goVersion string) (string, error) {
	dir := filepath.Join(modules, p.module)
	files, _ := filepath.Glob(filepath.Join(dir, p.pkg, "*.go")) // none if the package is of another module
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%v %q\n", goVersion, p.pkg, p.cgo, p.args())
	for _, name := range append([]string{filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")}, files...) {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d\n%s", len(text), text)
	}
	return fmt.Sprintf("%x\n", h.Sum(nil)), nil
}

// modules is the folder that has them: that of this program's source, in the project around the current folder.
func modules() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		found := filepath.Join(dir, "tests", "kubelab")
		if _, err := os.Stat(filepath.Join(found, "kube", "go.mod")); err == nil {
			return found, nil
		}
		if dir == filepath.Dir(dir) {
			return "", hinted("the sources of the programs are not here", "run it in a folder of the project")
		}
	}
	return "", err
}

// buildHint says how programs come to be there.
const buildHint = "go run ./tests/kubelab build   (for 16 minutes of CPU time, once)"

// build builds what is not there yet, or not of these sources. With check alone it only finds out.
func build(bin string, names []string, check bool) error {
	dir, err := modules()
	if err != nil {
		return err
	}
	version, err := exec.Command("go", "version").Output()
	if err != nil {
		return fmt.Errorf("go version: %w", err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(programs(), func(p program) bool { return p.name == name }) {
			return hinted("there is no program "+name, "kubelab build, for all that there are")
		}
	}
	for _, p := range programs() {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		sum, err := p.sum(dir, string(version))
		if err != nil {
			return err
		}
		note := filepath.Join(bin, p.name+".sum")
		_, missing := os.Stat(filepath.Join(bin, p.name))
		if was, _ := os.ReadFile(note); missing == nil && string(was) == sum {
			continue
		}
		if check {
			return hinted(p.name+" has not been built of these sources", buildHint)
		}
		if err := p.build(dir, bin); err != nil {
			return err
		}
		if err := os.WriteFile(note, []byte(sum), 0o644); err != nil {
			return err
		}
	}
	if check {
		return nil
	}
	for _, name := range kubeNames {
		link := filepath.Join(bin, name)
		if to, _ := os.Readlink(link); to == "kube" {
			continue
		}
		os.Remove(link)
		if err := os.Symlink("kube", link); err != nil {
			return err
		}
	}
	return nil
}

func (p program) build(dir, bin string) error {
	cgo := "0"
	if p.cgo {
		cgo = "1"
		if err := exec.Command("pkg-config", "--exists", "libseccomp").Run(); err != nil {
			return hinted(p.name+" is built with libseccomp, which is not here",
				"install libseccomp-dev, pkg-config and gcc")
		}
	}
	fmt.Fprintf(os.Stderr, "kubelab: building %s\n", p.name)
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	out := filepath.Join(bin, p.name)
	cmd := exec.Command("go", append(p.args(), "-o", out+".new", p.pkg)...)
	cmd.Dir = filepath.Join(dir, p.module)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED="+cgo)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s could not be built: %w", p.name, err)
	}
	return os.Rename(out+".new", out)
}

// built says whether all programs are there, of whatever sources.
func built(bin string) error {
	for _, p := range programs() {
		if _, err := os.Stat(filepath.Join(bin, p.name+".sum")); errors.Is(err, os.ErrNotExist) {
			return hinted(fmt.Sprintf("%s has not been built (in %s)", p.name, bin), buildHint)
		}
	}
	return nil
}
