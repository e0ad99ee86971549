// Package kube traces pods of a Kubernetes cluster: it finds them and the agents on their nodes, and gives gostap the
// command line that runs a session on each of these nodes, kept to these pods.
//
// In: the arguments of "gostap kube", what kubectl says. Out: arguments for gostap, hosts for --remote
// (kube://AGENT?pods=UIDS), also such as come later, with the pods of each as they come and go.
package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/cmd/internal/kube/agents"
	"github.com/gostap/gostap/cmd/internal/kube/ctl"
	"github.com/gostap/gostap/cmd/internal/kube/event"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// Usage is printed by "gostap kube --help".
const Usage = `gostap kube - traces pods

usage: gostap kube [-n NAMESPACE] [--wait] {-l SELECTOR | POD...} [--] [options and script of gostap]
       gostap kube manifest [--image IMAGE] [--agents NAMESPACE] [--metrics PORT] | kubectl apply -f -
       gostap kube run|list|logs|page|top|stop ...    Traces, by gostap-fleet: gostap kube run --help

Runs a session on each node that has one of the pods, kept to these pods; with --merge in one answer. Pods that come
meanwhile are traced too, and those that go are left:

  gostap kube -n shop -l app=cart -- --merge -T 30 -e 'global n probe process("./cart").function("main.add") { n++ }'

  -n, --namespace NS    the namespace of the pods, that of kubectl's context if not said
  -l, --selector SEL    the pods with these labels, as kubectl takes them
  -c, --container NAME  only this container of the pods; any number of times
      --wait            begin without pods where there is none yet: they come later
      --program NAME    which of several programs in the pods a process without a path means
      --node NODE       only on this node; any number of times
      --told json       what happens to sessions and pods is told as lines of JSON
      --agents NS       the namespace where gostap's agents are, gostap if not said
      --image IMAGE     of the manifest: the image with gostap, gostap:latest if not said
      --metrics PORT    of the manifest: agents tell metrics there, by plain HTTP; nothing listens if not said

kubectl has to be here, with the right to list pods, and to exec into those of the agents. A program that the script
names is one of this machine, equal to the one in the pods: it is found there by what is in it. A process without a path
is the program that runs in the pods, which is copied here. See docs/kubernetes.md.
`

// Streams are where it prints.
type Streams struct{ Out, Err io.Writer }

// request is what is asked for.
type request struct {
	namespace, selector, agents, image, told, program string
	metrics                                           string
	pods, nodes, containers                           []string
	rest                                              []string
	wait                                              bool
}

// Args gives the arguments for gostap, and what finds the hosts. Without that there is nothing to run any more.
func Args(args []string, s Streams) (out []string, f *Fleet, err error) {
	r := &request{agents: "gostap", image: "gostap:latest"}
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help") || len(args) == 0 {
		fmt.Fprint(s.Out, Usage)
		return nil, nil, nil
	}
	wants := args[0] == "manifest"
	if wants {
		args = args[1:]
	}
	if err := r.parse(args); err != nil {
		return nil, nil, err
	}
	if wants {
		if len(r.rest)+len(r.pods) > 0 {
			return nil, nil, slip.New(fmt.Sprintf("kube manifest takes no %q", slices.Concat(r.pods, r.rest)[0]), "")
		}
		return nil, nil, r.manifest(s.Out)
	}
	switch {
	case r.metrics != "":
		return nil, nil, slip.New("kube: --metrics is about the manifest of the agents",
			"gostap kube manifest --metrics "+r.metrics)
	case r.selector == "" && len(r.pods) == 0:
		return nil, nil, slip.New("kube: no pods are named",
			"-l app=NAME names those with a label; gostap kube --help")
	case r.selector != "" && len(r.pods) > 0:
		return nil, nil, slip.New("kube: pods are named by -l or by their names, not by both", "")
	case r.told != "" && r.told != "json":
		return nil, nil, slip.New(fmt.Sprintf("kube: --told takes json, not %q", r.told), "")
	}
	f = newFleet(r, s.Err)
	if err := f.find(); err != nil {
		return nil, nil, err
	}
	return append([]string{"--remote", "kube://" + r.agents + "/gostap-agent", "--remote-prefix"}, r.rest...), f, nil
}

// manifest prints the agents' YAML.
func (r *request) manifest(out io.Writer) error {
	port := 0
	if r.metrics != "" {
		var err error
		if port, err = strconv.Atoi(r.metrics); err != nil {
			return slip.New(fmt.Sprintf("--metrics takes a port, not %q", r.metrics), "--metrics 9478")
		}
	}
	if err := agents.Port("--metrics", port); err != nil {
		return err
	}
	text, err := agents.Manifest(r.agents, r.image, port)
	if err == nil {
		_, err = io.WriteString(out, text)
	}
	return err
}

// parse reads the options of kube, which end at -- or at the first that is none of them.
func (r *request) parse(args []string) error {
	for len(args) > 0 {
		name, value, has := strings.Cut(args[0], "=")
		var node, container string
		to := map[string]*string{"-n": &r.namespace, "--namespace": &r.namespace, "-l": &r.selector,
			"--selector": &r.selector, "--agents": &r.agents, "--image": &r.image, "--told": &r.told,
			"--metrics": &r.metrics, "--node": &node, "--program": &r.program, "-c": &container,
			"--container": &container}[name]
		switch {
		case args[0] == "--wait":
			r.wait, args = true, args[1:]
			continue
		case args[0] == "--":
			r.rest = args[1:]
			return nil
		case to == nil && strings.HasPrefix(name, "-"):
			r.rest = args
			return nil
		case to == nil:
			r.pods = append(r.pods, args[0])
			args = args[1:]
			continue
		case !has && len(args) == 1:
			return slip.New("kube: "+name+" needs a value", "")
		case !has:
			value, args = args[1], args[1:]
		}
		if value == "" || strings.HasPrefix(value, "-") {
			return slip.New(fmt.Sprintf("kube: %s takes no %q", name, value), "")
		}
		if *to, args = value, args[1:]; node != "" {
			r.nodes = append(r.nodes, node)
		} else if container != "" {
			r.containers = append(r.containers, container)
		}
	}
	return nil
}

// pod is what there is to know of one.
type pod struct {
	Metadata struct{ Name, Namespace, UID string }
	Spec     struct {
		NodeName   string
		Containers []container
	}
	Status struct {
		Phase                                                                string
		ContainerStatuses, InitContainerStatuses, EphemeralContainerStatuses []containerStatus
	}
}

// containerStatus is how far a container is: ContainerID is of the form containerd://ID.
type containerStatus struct {
	Name, ContainerID string
	Ready             bool
	State             struct{ Running *struct{} }
}

type container struct{ Image string }

// ready says that each container is: who enters the pod gets to one of them.
func (p *pod) ready() bool {
	ready := p.Status.Phase == "Running" && len(p.Status.ContainerStatuses) > 0
	for _, c := range p.Status.ContainerStatuses {
		ready = ready && c.Ready
	}
	return ready
}

// of is what is to be traced of a pod, as remote.Pod has it: of containers that are named those that run.
func (r *request) of(p *pod) (out []string) {
	if len(r.containers) == 0 {
		return []string{p.Metadata.UID}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses,
		p.Status.EphemeralContainerStatuses) {
		_, id, ok := strings.Cut(c.ContainerID, "://")
		if ok && c.State.Running != nil && slices.Contains(r.containers, c.Name) {
			out = append(out, p.Metadata.UID+"/"+id)
		}
	}
	return out
}

// runs says that something to be traced of a pod does.
func (r *request) runs(p *pod) bool {
	if len(r.containers) > 0 {
		return len(r.of(p)) > 0
	}
	return p.Status.Phase == "Running"
}

// idle is why a pod does not run, as far as it is to be traced.
func (r *request) idle(p *pod) string {
	if len(r.containers) > 0 && p.Status.Phase == "Running" {
		return "no container " + strings.Join(r.containers, " or ") + " runs in it"
	}
	return "it does not run (" + p.Status.Phase + ")"
}

// words ask kubectl for the pods. One that is named may come later, so that others are left out here.
func (r *request) words() []string {
	out := []string{"get", "pods"}
	if r.namespace != "" {
		out = append(out, "--namespace", r.namespace)
	}
	if r.selector != "" {
		out = append(out, "--selector", r.selector)
	}
	return out
}

func (r *request) agentWords() []string {
	return []string{"get", "pods", "--namespace", r.agents, "--selector", "app.kubernetes.io/name=gostap-agent"}
}

// find asks for the pods that are there, and for the agents on their nodes.
func (f *Fleet) find() error {
	r := f.r
	words := r.words()
	if !r.wait {
		words = append(words, r.pods...)
	}
	pods, err := get(append(words, "--output", "json"))
	if err != nil {
		return err
	}
	agents, err := get(append(r.agentWords(), "--output", "json"))
	if err != nil {
		return err
	}
	for i := range agents {
		if agents[i].ready() {
			f.agents[agents[i].Spec.NodeName] = agents[i].Metadata.Name
		}
	}
	n, traced := 0, 0
	var first []*member
	for _, p := range pods {
		if len(r.pods) > 0 && !slices.Contains(r.pods, p.Metadata.Name) {
			continue
		}
		n++
		m := &member{pod: p}
		switch {
		case f.elsewhere(&p):
			continue
		case !r.runs(&p):
			f.tell(m.event(event.Untraced, r.idle(&p)), "WARNING: pod %s: %s", p.Metadata.Name, r.idle(&p))
			continue
		case f.agents[p.Spec.NodeName] == "":
			f.refuse(m, f.unserved(p.Spec.NodeName))
		default:
			traced++
			m.first = true
			first = append(first, m)
		}
		f.pods[p.Metadata.UID] = m
	}
	f.takeFrom(first...)
	switch {
	case traced > 0 || r.wait:
		return nil
	case n == 0:
		return slip.New("kube: there are no such pods",
			"kubectl get pods -A --show-labels lists all; with --wait they may come later")
	case len(f.agents) == 0:
		return slip.New("kube: no agent of gostap is ready in the namespace "+r.agents,
			"gostap kube manifest --image IMAGE | kubectl apply -f - puts one on each node")
	}
	if n == len(f.others) {
		return slip.New("kube: none of the pods is on a node that --node names", "")
	}
	return errors.New("kube: none of the pods can be traced")
}

// get asks kubectl for pods: a list, or one that was named.
func get(args []string) ([]pod, error) {
	out, said, err := ctl.Run(context.Background(), nil, args...)
	if _, ok := errors.AsType[*slip.Error](err); ok {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("kube: kubectl %s: %w: %s", strings.Join(args[:2], " "), err, ctl.Last(said))
	}
	var list struct {
		Kind  string
		Items []pod
		pod
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("kube: kubectl did not answer with JSON: %w", err)
	}
	if list.Kind == "Pod" {
		return []pod{list.pod}, nil
	}
	return list.Items, nil
}
