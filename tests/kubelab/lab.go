package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// mostNodes is how many nodes there may be.
const mostNodes = 9

// lab is a cluster, which may be up or not.
type lab struct {
	cache, bin string // the folder, and that of the programs
	net        string // what all addresses begin with
	run        string // the folder of all that the cluster has
	group      string // its cgroup
	started    atomic.Bool
}

func newLab() (*lab, error) {
	l := &lab{cache: os.Getenv("GOSTAP_KUBELAB"), net: os.Getenv("GOSTAP_KUBELAB_NET")}
	if l.cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, hinted(err.Error(), "set GOSTAP_KUBELAB to a folder")
		}
		l.cache = filepath.Join(dir, "gostap-tests", "kubelab")
	}
	var err error
	if l.cache, err = filepath.Abs(l.cache); err != nil {
		return nil, err
	}
	if l.net == "" {
		l.net = "10.98"
	}
	if !regexp.MustCompile(`^\d{1,3}\.\d{1,3}$`).MatchString(l.net) || strings.HasPrefix(l.net, "127.") {
		return nil, hinted("GOSTAP_KUBELAB_NET="+l.net+" is not the begin of addresses", "GOSTAP_KUBELAB_NET=10.99")
	}
	l.bin = filepath.Join(l.cache, "bin")
	l.run = filepath.Join(l.cache, "run-"+l.net)
	// Two with the same network in different folders are not the same.
	l.group = fmt.Sprintf("kubelab-%s-%08x", l.net, crc32.ChecksumIEEE([]byte(l.run)))
	return l, nil
}

// api is the address of the API server, and of its service.
func (l *lab) api() string { return l.net + ".0.1" }

func (l *lab) kubeconfig(who string) string { return filepath.Join(l.run, who+".kubeconfig") }

// lock waits until no other kubelab starts or ends a cluster.
func (l *lab) lock() error {
	dir, err := os.Open(l.bin)
	if err != nil {
		return err
	}
	return unix.Flock(int(dir.Fd()), unix.LOCK_EX) // as long as this process is
}

// up has a cluster of so many nodes, or more if there are more.
func (l *lab) up(nodes int) error {
	begin := time.Now()
	if err := built(l.bin); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return hinted("only root can have nodes", "sudo -E, or log in as root")
	}
	if most := 60; len(l.run) > most { // containerd's sockets are below it, and their paths have 108 bytes
		return hinted(l.run+" is too long for paths of sockets", "set GOSTAP_KUBELAB to a shorter path")
	}
	if err := l.lock(); err != nil {
		return err
	}
	if err := l.free(); err != nil {
		return err
	}
	if _, err := os.Stat(l.run); err == nil && !l.anyRuns() {
		if err := l.remove(); err != nil { // what is left of one that was not ended by down
			return err
		}
	}
	for _, dir := range []string{"pid", "log"} {
		if err := os.MkdirAll(filepath.Join(l.run, dir), 0o755); err != nil {
			return err
		}
	}
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("lab%d", i+1)
	}
	if err := l.addAddresses(nodes); err != nil {
		return err
	}
	err := errors.Join(l.claim(), l.makeCgroups(names...), l.makeKeys(names))
	if err != nil {
		return err
	}
	// Nodes get ready while the API server does.
	ready := make(chan error)
	for i := range names {
		go func() { ready <- l.startRuntime(i + 1) }()
	}
	err = l.startPlane()
	for range names {
		err = errors.Join(err, <-ready)
	}
	if err != nil {
		return err
	}
	for i := range names {
		if err := l.startKubelet(i + 1); err != nil {
			return err
		}
	}
	if err := l.awaitNodes(names); err != nil {
		return err
	}
	if l.started.Load() {
		fmt.Fprintf(os.Stderr, "kubelab: up after %.1f s\n", time.Since(begin).Seconds())
	}
	return nil
}

// anyRuns says whether anything of the cluster runs.
func (l *lab) anyRuns() bool {
	for _, name := range l.noted() {
		if _, ok := l.running(name); ok {
			return true
		}
	}
	return false
}

// down ends the cluster.
func (l *lab) down() error {
	if _, err := os.Stat(l.run); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if os.Geteuid() != 0 {
		return hinted("only root can end the cluster", "sudo -E, or log in as root")
	}
	if err := l.lock(); err != nil {
		return err
	}
	return l.remove()
}

// remove ends all processes of the cluster, and removes what it has.
func (l *lab) remove() error {
	if err := l.killAll(); err != nil {
		return err
	}
	if err := errors.Join(l.removeAddresses(), removeAll(l.run)); err != nil {
		return err
	}
	l.unclaim()
	return nil
}

// nodes are the names of those that there are.
func (l *lab) nodes() (names []string) {
	dirs, _ := filepath.Glob(l.run + "/lab[1-9]")
	for _, dir := range dirs {
		names = append(names, filepath.Base(dir))
	}
	return names
}

func (l *lab) status() error {
	if !l.anyRuns() {
		fmt.Println("down")
		os.Exit(1)
	}
	var err error
	for _, name := range l.noted() {
		p, ok := l.running(name)
		if !ok {
			err = errors.Join(err, hinted(name+" has ended", "kubelab up; what it said is in "+l.logFile(name)))
			continue
		}
		kilobytes := 0
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
		for line := range strings.Lines(string(text)) {
			fmt.Sscanf(line, "VmRSS: %d kB", &kilobytes)
		}
		fmt.Printf("%-20s process %-8d %5d MB\n", name, p.pid, kilobytes/1000)
	}
	cmd := exec.Command(filepath.Join(l.bin, "kubectl"), "get", "nodes,pods", "-A", "-o", "wide")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+l.kubeconfig("admin"))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return errors.Join(err, cmd.Run())
}
