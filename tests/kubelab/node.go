package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// podNetwork is the configuration of the plugins for a node's network: each pod has a pair of devices.
const podNetwork = `{"cniVersion": "1.0.0", "name": "kubelab-{net}-{n}", "plugins": [{"type": "ptp", "ipMasq": false,
	"ipam": {"type": "host-local", "dataDir": "{dir}/addresses", "ranges": [[{"subnet": "{net}.{n}.0/24"}]],
		"routes": [{"dst": "0.0.0.0/0"}]}}]}
`

// runtimeConfig is containerd's. Processes of a machine that is a container itself may not lower their scores for when
// memory is short, thus the line about those.
const runtimeConfig = `version = 3
root = "{dir}/containerd"
state = "{dir}/state"
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.internal.v1.tracing",
	"io.containerd.tracing.processor.v1.otlp"]
[grpc]
address = "{dir}/cri.sock"
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "{pause}"
[plugins."io.containerd.cri.v1.runtime"]
disable_apparmor = true
enable_selinux = false
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["{bin}"]
conf_dir = "{dir}/cni"
use_internal_loopback = true
[plugins."io.containerd.cri.v1.runtime".containerd]
default_runtime_name = "runc"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = "{bin}/runc"
SystemdCgroup = false
`

// kubeletConfig: nothing is evicted from a disk that others have filled, and no firewall is changed.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: {net}.0.{address}
healthzBindAddress: {net}.0.{address}
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: "{keys}/ca.crt"}}
authorization: {mode: Webhook}
containerRuntimeEndpoint: "unix://{dir}/cri.sock"
cgroupDriver: cgroupfs
cgroupRoot: "/{group}/lab{n}"
failCgroupV1: false
failSwapOn: false
enforceNodeAllocatable: [pods]
evictionHard: {memory.available: 50Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100
makeIPTablesUtilChains: false
nodeStatusUpdateFrequency: 5s
oomScoreAdj: 0
podLogsDir: "{dir}/logs"
resolvConf: ""
syncFrequency: 10s
volumePluginDir: "{dir}/kubelet/plugins"
`

func (l *lab) nodeDir(n int) string { return filepath.Join(l.run, fmt.Sprintf("lab%d", n)) }

// startRuntime starts a node's containerd, in a mount namespace that the node's pods share with it.
func (l *lab) startRuntime(n int) error {
	name, dir := fmt.Sprintf("lab%d", n), l.nodeDir(n)
	fill := strings.NewReplacer("{net}", l.net, "{n}", strconv.Itoa(n), "{address}", strconv.Itoa(n+1), "{dir}", dir,
		"{bin}", l.bin, "{keys}", l.keys(), "{group}", l.group, "{pause}", imageName("pause"))
	for file, text := range map[string]string{"cni/kubelab.conflist": podNetwork, "containerd.toml": runtimeConfig,
		"kubelet.yaml": kubeletConfig} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(fill.Replace(text)), 0o644); err != nil {
			return err
		}
	}
	if _, ok := l.running(name + "-mounts"); !ok {
		if _, ok := l.running(name + "-containerd"); ok {
			return hinted(name+" has lost what keeps its mounts", "kubelab down, and up again")
		}
		os.Remove(filepath.Join(dir, "mounted"))
	}
	err := l.start(name+"-mounts", "new:"+filepath.Join(dir, "mounted"), "pause")
	if err != nil {
		return err
	}
	if err := l.until(10*time.Second, name+"-mounts", "the node has its mounts", func() bool {
		_, err := os.Stat(filepath.Join(dir, "mounted"))
		return err == nil
	}); err != nil {
		return err
	}
	err = l.start(name+"-containerd", l.mounts(name), "containerd", "--config", filepath.Join(dir, "containerd.toml"),
		"--log-level", "warn")
	if err != nil {
		return err
	}
	if err := l.until(30*time.Second, name+"-containerd", "containerd answers", func() bool {
		return l.ctr(name, nil, "version") == nil
	}); err != nil {
		return err
	}
	images, err := exec.Command(filepath.Join(l.bin, "ctr"), l.ctrArgs(name, "images", "ls", "-q")...).Output()
	if err != nil || !strings.Contains(string(images), imageName("pause")) {
		return l.loadImage([]string{name}, "pause", filepath.Join(l.bin, "pause"), nil)
	}
	return nil
}

// mounts is the mount namespace of a node, for start.
func (l *lab) mounts(name string) string {
	p, _ := l.running(name + "-mounts")
	return strconv.Itoa(p.pid)
}

func (l *lab) startKubelet(n int) error {
	name, dir := fmt.Sprintf("lab%d", n), l.nodeDir(n)
	return l.start(name+"-kubelet", l.mounts(name), "kubelet", "--config="+filepath.Join(dir, "kubelet.yaml"),
		"--kubeconfig="+l.kubeconfig(name), "--hostname-override="+name, fmt.Sprintf("--node-ip=%s.0.%d", l.net, n+1),
		"--root-dir="+filepath.Join(dir, "kubelet"), "--cert-dir="+filepath.Join(dir, "kubelet", "keys"))
}
