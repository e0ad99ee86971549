// Command kubelab has a real cluster of Kubernetes on this machine, for tests: etcd, the control plane, and nodes, each
// a kubelet with a containerd of its own that runs pods by runc. Everything is built of Go modules; images are made of
// files that are here. It needs root, and overlayfs.
//
// Nodes are called lab1, lab2 and so on. They have the machine's network and process numbers; images, pods' networks
// and cgroups are their own. Services are not resolved and not routed, but for that of the API server, which listens at
// its address: there is no DNS and no proxy. Pods reach each other by their addresses.
//
// All that a cluster has is named after its network: a folder, a cgroup, addresses of the loopback device. Processes
// are known by the cgroup, addresses by a note of those that were added; a network of which somebody else has addresses
// is not taken. down removes what is the cluster's, and nothing else; only forwarding of packets, which the pods'
// network turns on, remains.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

const usage = `usage: kubelab COMMAND

  build [--check] [NAME...]    build the programs that are not there, or not of these sources;
                               --check: only say whether there are such
  up [--nodes N]               have a cluster of 1 to 9 nodes (1); what runs stays as it is
  down                         end it, and remove all of it
  status                       processes, nodes and pods
  env                          PATH and KUBECONFIG, for a shell
  load-image NAME PATH [ENTRY...]
                               have the image localhost/NAME:lab on all nodes, of a static program,
                               which becomes /NAME, or of a folder, with what is started there

$GOSTAP_KUBELAB is the folder for all of it (gostap-tests/kubelab in the user's cache folder),
$GOSTAP_KUBELAB_NET two numbers that the cluster's addresses begin with (10.98): with others another
cluster runs beside the first.
`

func main() {
	args := append(os.Args[1:], "")
	if args[0] == "stage" {
		fail(stage(args[1 : len(args)-1]))
	}
	l, err := newLab()
	fail(err)
	switch rest := args[1:max(1, len(args)-1)]; args[0] {
	case "build":
		check := len(rest) > 0 && rest[0] == "--check"
		if check {
			rest = rest[1:]
		}
		err = build(l.bin, rest, check)
	case "up":
		n := 1
		if len(rest) > 0 {
			if rest[0] != "--nodes" || len(rest) != 2 {
				fail(hinted("up "+rest[0]+"?", "kubelab up --nodes 2"))
			}
			if n, err = strconv.Atoi(rest[1]); err != nil || n < 1 || n > mostNodes {
				fail(fmt.Errorf("--nodes is 1 to %d, not %q", mostNodes, rest[1]))
			}
		}
		err = l.up(n)
	case "down":
		err = l.down()
	case "status":
		err = l.status()
	case "env":
		fmt.Printf("export PATH=%s:$PATH KUBECONFIG=%s\n", l.bin, l.kubeconfig("admin"))
	case "load-image":
		if len(rest) < 2 {
			fail(hinted("load-image has a name and a path", "kubelab load-image app ./app"))
		}
		if err = l.loadImage(l.nodes(), rest[0], rest[1], rest[2:]); err == nil {
			fmt.Println(imageName(rest[0]))
		}
	case "help", "-h", "--help":
		fmt.Print(usage)
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	fail(err)
}

// withHint is an error with what to do about it.
type withHint struct {
	error
	hint string
}

func hinted(text, hint string) error { return withHint{errors.New(text), hint} }

func fail(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "kubelab:", err)
	var h withHint
	if errors.As(err, &h) {
		fmt.Fprintln(os.Stderr, "  hint:", h.hint)
	}
	os.Exit(1)
}
