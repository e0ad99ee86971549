package install

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/gostap/gostap/cmd/internal/fleet/manifests"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// words counts the lines that end in a word.
func words(out, word string) int { return strings.Count(out, ": "+word+"\n") }

// TestInstall: all is made once, and a second time nothing is changed, the certificate neither; what is changed is
// said, and a dry run changes nothing.
func TestInstall(t *testing.T) {
	s := newServer(t)
	o := options()
	o.DryRun = true
	out, asked, err := s.run(Install, o)
	if err != nil || len(s.objects) > 0 || words(out, "would be created") != len(asked) ||
		!strings.Contains(out, "\nThe API server could not look at 9 of these: ") {
		t.Fatalf("%v, %d objects\n%s", err, len(s.objects), out)
	}
	o.DryRun = false
	out, asked, err = s.run(Install, o)
	if err != nil || words(out, "created") != 19 || len(s.objects) != 19 || len(asked) != 19 ||
		!strings.HasSuffix(out, "\nDaemonSet gostap/gostap-agent: 2 of 2 pods are ready\n"+
			"Deployment gostap/gostap-fleet: 2 of 2 pods are ready\n") {
		t.Fatalf("%v, %d objects\n%s", err, len(s.objects), out)
	}
	for _, a := range asked {
		if !strings.Contains(a, "fieldManager=gostap-fleet") || !strings.Contains(a, "force=true") ||
			strings.Contains(a, "dryRun") {
			t.Error(a)
		}
	}
	if i, j := strings.Index(out, "Namespace gostap: "), strings.Index(out, "DaemonSet"); i != 0 || j < 0 {
		t.Errorf("the namespace is not first:\n%s", out)
	}
	secret := s.objects["/api/v1/namespaces/gostap/secrets/gostap-fleet-tls"]
	if out, _, err = s.run(Install, o); err != nil || words(out, "as it was") != 19 {
		t.Errorf("%v\n%s", err, out)
	}
	if again := s.objects["/api/v1/namespaces/gostap/secrets/gostap-fleet-tls"]; !reflect.DeepEqual(
		secret["data"], again["data"]) {
		t.Error("another certificate")
	}
	o.Image, o.DryRun = "images.example/fleet:2", true
	out, asked, err = s.run(Install, o)
	if err != nil || words(out, "as it is") != 18 || !strings.Contains(out,
		"Deployment gostap/gostap-fleet: would be changed\n") || strings.Contains(out, "pods") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, a := range asked {
		if !strings.Contains(a, "dryRun=All") {
			t.Error(a)
		}
	}
	o.DryRun = false
	if out, _, err = s.run(Install, o); err != nil || words(out, "as it was") != 18 || words(out, "changed") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
	// A certificate that has a third of its time left, or is none, or is of another name, is made anew.
	host, _ := o.Host()
	old, err := manifests.NewCertificate(host, 20*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	data := func(ca, cert, key []byte) map[string]any {
		return map[string]any{manifests.CAKey: ca, manifests.CertKey: cert, manifests.KeyKey: key}
	}
	for what, d := range map[string]any{
		"old": data(old.CA, old.Cert, old.Key), "of before": data(nil, old.Cert, old.Key),
		"no map": "x", "no base64": map[string]any{manifests.CertKey: "%"},
	} {
		at := "/api/v1/namespaces/gostap/secrets/gostap-fleet-tls"
		s.objects[at]["data"] = d
		out, _, err := s.run(Install, o)
		if err != nil || words(out, "changed") != 4 ||
			!strings.Contains(out, "Deployment gostap/gostap-fleet: changed\n") {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
	// Agents in a namespace of their own.
	s = newServer(t)
	o.Agents = "agents"
	if out, _, err = s.run(Install, o); err != nil || words(out, "created") != 20 || !strings.HasPrefix(out,
		"Namespace agents: created\nDaemonSet agents/gostap-agent: created\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRefused: what is in the way is said with the object and the verb, and what to do.
func TestRefused(t *testing.T) {
	forbidden := func(verb, part string) func(v, path string) *metav1.Status {
		return func(v, path string) *metav1.Status {
			if v != verb || !strings.HasSuffix(path, part) {
				return nil
			}
			return status(403, metav1.StatusReasonForbidden, `x is forbidden: User "ann" cannot %s it`, v)
		}
	}
	for name, c := range map[string]struct {
		answer     func(verb, path string) *metav1.Status
		put        string
		change     func(o *Options)
		want, hint string
	}{
		"get": {answer: forbidden("get", "/secrets/gostap-fleet-tls"),
			want: `no right to get Secret gostap/gostap-fleet-tls: x is forbidden: User "ann" cannot get it`,
			hint: "kubectl auth can-i get secrets -n gostap asks"},
		"patch": {answer: forbidden("patch", "/daemonsets/gostap-agent"),
			want: `no right to patch DaemonSet gostap/gostap-agent: x is`,
			hint: "kubectl auth can-i patch daemonsets.apps -n gostap asks"},
		"of the cluster": {answer: forbidden("patch", "/clusterroles/gostap-fleet"),
			want: "no right to patch ClusterRole gostap-fleet: ",
			hint: "kubectl auth can-i patch clusterroles.rbac.authorization.k8s.io asks"},
		"unknown user": {answer: func(string, string) *metav1.Status {
			return status(401, metav1.StatusReasonUnauthorized, "Unauthorized")
		}, want: "does not know who asks: ", hint: "$KUBECONFIG's"},
		"namespace ends": {answer: func(verb, path string) *metav1.Status {
			if verb == "get" || !strings.HasSuffix(path, "gostap-agent") {
				return nil
			}
			st := status(403, metav1.StatusReasonForbidden, "no")
			st.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "NamespaceTerminating"}}}
			return st
		}, want: "DaemonSet gostap/gostap-agent: its namespace is being deleted", hint: "the same command"},
		"invalid": {answer: func(verb, path string) *metav1.Status {
			if verb == "get" {
				return nil
			}
			return status(422, metav1.StatusReasonInvalid, "spec.x: no\x1b")
		}, want: "Namespace gostap: patch: spec.x: no"},
		"elsewhere": {put: `{kind: ClusterRoleBinding, apiVersion: rbac.authorization.k8s.io/v1,
			metadata: {name: gostap-fleet}, subjects: [{kind: ServiceAccount, name: gostap-fleet, namespace: tools}]}`,
			want: "gostap-fleet is installed in the namespace tools, and", hint: "-n tools means that one"},
		"image":       {change: func(o *Options) { o.Image = "a/B" }, want: `"a/B" is no name of an image`, hint: "NAME"},
		"agent image": {change: func(o *Options) { o.AgentImage = "a b" }, want: `"a b" is no name of an image`},
		"namespace":   {change: func(o *Options) { o.Agents = "A" }, want: `"A" is no name of a namespace`},
		"wait":        {change: func(o *Options) { o.Wait = -1 }, want: "--wait is a time from 0s"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answer = c.answer
			if c.put != "" {
				s.put(c.put)
			}
			o := options()
			if c.change != nil {
				c.change(&o)
			}
			_, asked, err := s.run(Install, o)
			var e *slip.Error
			hint := ""
			if errors.As(err, &e) {
				hint = e.Hint
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint, c.hint) {
				t.Errorf("%v, hint %q", err, hint)
			}
			if c.answer == nil && len(asked) > 0 {
				t.Errorf("done all the same: %q", asked)
			}
		})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for _, host := range []string{"http://" + l.Addr().String(), "https://" + l.Addr().String()} {
		s := &server{t: t, url: host}
		_, _, err := s.run(Install, options())
		if err == nil || !strings.Contains(err.Error(), "the cluster at "+host+" cannot be reached: ") ||
			!strings.Contains(err.Error(), "refused") {
			t.Errorf("%v", err)
		}
	}
	if err := Unknown(rest.ErrNotInCluster); !strings.Contains(err.Error(), "no cluster is known") {
		t.Error(err)
	}
}

// TestWaits: what is waited for is said, with the reason why a pod does not run; a cluster that is away for a moment is
// waited for, too.
func TestWaits(t *testing.T) {
	s := newServer(t)
	s.stuck = true
	s.put(`{kind: Pod, apiVersion: v1, metadata: {name: gostap-agent-0, namespace: gostap}, spec: {containers: [
		{image: earlier}]}, status: {containerStatuses: [{state: {waiting: {reason: CrashLoopBackOff}}}]}}`)
	s.put(`{kind: Pod, apiVersion: v1, metadata: {name: gostap-agent-1, namespace: gostap}, status: {containerStatuses: [
		{name: gostap, state: {waiting: {reason: ErrImagePull, message: "no such\nimage"}}}]}}`)
	o := options()
	o.Wait = 100 * time.Millisecond
	out, _, err := s.run(Install, o)
	const what = "DaemonSet gostap/gostap-agent: 0 of 2 pods are ready; pod gostap-agent-1: ErrImagePull: no such image"
	if err == nil || err.Error() != "waited 100ms for the "+what ||
		strings.Count(out, "waiting for the "+what+"\n") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
	// One that runs on a node which cannot be traced: the kubelet has noted why it is not ready.
	s.put(`{kind: Pod, apiVersion: v1, metadata: {name: gostap-agent-1, namespace: gostap}, spec: {nodeName: n1},
		status: {containerStatuses: [{name: gostap, ready: false, state: {running: {}}}]}}`)
	s.put(`{kind: Event, apiVersion: v1, metadata: {name: e, namespace: gostap}, reason: Unhealthy, message:
		"Startup probe failed: error: load tracing programs: no permission\n"}`)
	out, _, err = s.run(Install, o)
	const asked = "DaemonSet gostap/gostap-agent: 0 of 2 pods are ready; pod gostap-agent-1 on node n1: Startup " +
		"probe failed: error: load tracing programs: no permission"
	if err == nil || err.Error() != "waited 100ms for the "+asked {
		t.Errorf("%v\n%s", err, out)
	}
	n := 0
	s.answer = func(verb, path string) *metav1.Status {
		if verb != "get" || !strings.HasSuffix(path, "/daemonsets/gostap-agent") {
			return nil
		}
		switch n++; n {
		case 3, 4:
			return status(503, metav1.StatusReasonServiceUnavailable, "a moment")
		case 6:
			for _, x := range s.objects {
				if st, ok := x["status"].(map[string]any); ok {
					st["numberAvailable"], st["availableReplicas"] = 2, 2
				}
			}
		}
		return nil
	}
	o.Wait = time.Minute
	if out, _, err = s.run(Install, o); err != nil || n < 6 ||
		!strings.HasSuffix(out, "\nDeployment gostap/gostap-fleet: 2 of 2 pods are ready\n") {
		t.Errorf("%v, asked %d times\n%s", err, n, out)
	}
}

func TestReady(t *testing.T) {
	for _, c := range []struct {
		kind, status string
		done         bool
		want         string
	}{
		{"DaemonSet", `{"observedGeneration":1,"desiredNumberScheduled":2}`, false, unseen},
		{"DaemonSet", `{"observedGeneration":2,"desiredNumberScheduled":2,"updatedNumberScheduled":1,"numberAvailable":2}`,
			false, "1 of 2 pods are made"},
		{"DaemonSet", `{"observedGeneration":2,"desiredNumberScheduled":2,"updatedNumberScheduled":2,"numberAvailable":1}`,
			false, "1 of 2 pods are ready"},
		{"DaemonSet", `{"observedGeneration":2,"desiredNumberScheduled":2,"updatedNumberScheduled":2,"numberAvailable":2}`,
			true, "2 of 2 pods are ready"},
		{"DaemonSet", `{"observedGeneration":2}`, true, "0 of 0 pods are ready"}, // no node
		{"Deployment", `{"observedGeneration":2,"updatedReplicas":3,"replicas":4,"availableReplicas":3}`, false,
			"1 earlier pods are there"},
		{"Deployment", `{"observedGeneration":2,"updatedReplicas":3,"replicas":3,"availableReplicas":2}`, false,
			"2 of 3 pods are ready"},
		{"Deployment", `{"observedGeneration":2,"updatedReplicas":3,"replicas":3,"availableReplicas":3}`, true,
			"3 of 3 pods are ready"},
		{"Deployment", `{"observedGeneration":"x","updatedReplicas":[]}`, false, unseen},
	} {
		x := &unstructured.Unstructured{}
		if err := x.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":%q,"metadata":{"generation":2},
			"spec":{"replicas":3},"status":%s}`, c.kind, c.status)); err != nil {
			t.Fatal(err)
		}
		if done, got := ready(x); done != c.done || got != c.want {
			t.Errorf("%s %s: %v, %q", c.kind, c.status, done, got)
		}
	}
	if done, _ := ready(nil); done {
		t.Error("what is gone is ready")
	}
}
