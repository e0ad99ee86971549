package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fixedPaths are what kubelet, containerd, runc and the plugins for networks write to, whatever they are told. Each
// node has a tmpfs there, in a mount namespace of its own.
var fixedPaths = []string{"/var/log/containers", "/var/lib/kubelet", "/var/lib/cni", "/run/containerd"}

// claim has the folders there. A file in each keeps whoever made the folder for the same purpose from removing it: that
// would take away what is mounted there in other namespaces. The file says whether a cluster like this made it.
func (l *lab) claim() error {
	for _, dir := range fixedPaths {
		file := filepath.Join(dir, "."+l.group)
		if _, err := os.Stat(file); err == nil {
			continue
		}
		who := "somebody"
		if _, err := os.Stat(dir); err != nil {
			who = "kubelab"
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		others, _ := filepath.Glob(dir + "/.kubelab-*")
		for _, other := range others {
			if text, _ := os.ReadFile(other); string(text) == "kubelab" {
				who = "kubelab"
			}
		}
		if err := os.WriteFile(file, []byte(who), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// unclaim gives the folders up, and removes those that were made unless they are in use.
func (l *lab) unclaim() {
	for _, dir := range fixedPaths {
		file := filepath.Join(dir, "."+l.group)
		who, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		os.Remove(file)
		if string(who) == "kubelab" && !mountedSomewhere(dir) {
			os.Remove(dir)
		}
	}
}

// mountedSomewhere says whether something is mounted at a path, in whatever namespace.
func mountedSomewhere(path string) bool {
	seen := map[string]bool{}
	list, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range list {
		ns, err := os.Readlink(proc + "/ns/mnt")
		if err != nil || seen[ns] {
			continue
		}
		seen[ns] = true
		if len(mountsBelow(proc, path)) > 0 {
			return true
		}
	}
	return false
}

// mountsBelow are the places below a path, and itself, where a process of /proc sees something mounted.
func mountsBelow(proc, path string) (places []string) {
	text, _ := os.ReadFile(proc + "/mountinfo")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 4 && (f[4] == path || strings.HasPrefix(f[4], path+"/")) {
			places = append(places, f[4])
		}
	}
	return places
}

// removeAll removes a cluster's folder, and nothing that is mounted there.
func removeAll(dir string) error {
	if at := mountsBelow("/proc/self", dir); len(at) > 0 {
		return hinted(fmt.Sprintf("%s is mounted in the cluster's folder", at[0]), "umount "+at[0])
	}
	return os.RemoveAll(dir)
}
