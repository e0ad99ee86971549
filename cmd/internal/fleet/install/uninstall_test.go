package install

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const trace = `{kind: Trace, apiVersion: gostap.dev/v1alpha1, metadata: {name: NAME, namespace: shop},
	status: {phase: Running}}`

// TestUninstall: Traces are in the way unless they are to be deleted; then all that was installed goes, in an order in
// which a Trace always has its controller, and nothing of others.
func TestUninstall(t *testing.T) {
	s := newServer(t)
	o := options()
	if _, _, err := s.run(Install, o); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		s.put(strings.Replace(trace, "NAME", name, 1))
	}
	s.put(`{kind: ConfigMap, apiVersion: v1, metadata: {name: kube-root-ca.crt, namespace: gostap}}`)
	s.put(`{kind: Lease, apiVersion: coordination.k8s.io/v1, metadata: {name: gostap-fleet, namespace: gostap}}`)
	s.put(`{kind: Pod, apiVersion: v1, metadata: {name: p, namespace: gostap, ownerReferences: [{name: gostap-agent}]}}`)
	out, asked, err := s.run(Uninstall, o)
	if err == nil || out != "" || len(asked) > 0 || err.Error() != "there are 2 Traces, which would be deleted with "+
		"their results:\n  shop/one (Running)\n  shop/two (Running)" {
		t.Fatalf("%v, %q\n%s", err, asked, out)
	}
	o.DeleteTraces, o.DryRun = true, true
	n := len(s.objects)
	if out, _, err = s.run(Uninstall, o); err != nil || len(s.objects) != n || words(out, "would be deleted") != 22 {
		t.Errorf("%v, %d of %d\n%s", err, len(s.objects), n, out)
	}
	// A Trace that does not end: its controller is left.
	o.DryRun, o.Wait, s.kept = false, time.Millisecond, true
	_, asked, err = s.run(Uninstall, o)
	if err == nil || !strings.Contains(err.Error(), "for the end of 2 Traces: shop/one, shop/two") || len(asked) != 2 {
		t.Errorf("%v, %q", err, asked)
	}
	o.Wait, s.kept = time.Minute, false
	s.put(`{kind: ConfigMap, apiVersion: v1, metadata: {name: mine, namespace: gostap}}`)
	out, asked, err = s.run(Uninstall, o)
	if err != nil || !strings.HasSuffix(out, "\nNamespace gostap: stays: it has a ConfigMap mine, too\n") ||
		words(out, "deleted") != 21 {
		t.Errorf("%v\n%s", err, out)
	}
	order := []string{"/traces/one", "/traces/two", "/traces.gostap.dev", "/mutatingwebhookconfigurations/",
		"/validatingwebhookconfigurations/", "/deployments/gostap-fleet", "/daemonsets/gostap-agent", "/secrets/",
		"/clusterroles/gostap-view"}
	at := 0
	for _, a := range asked {
		if at < len(order) && strings.Contains(a, order[at]) {
			at++
		}
	}
	if at != len(order) {
		t.Errorf("%s is not behind %s:\n%s", order[at], order[at-1], strings.Join(asked, "\n"))
	}
	for p := range s.objects {
		if !strings.Contains(p, "/pods/") && !strings.Contains(p, "/configmaps/") && p != "/api/v1/namespaces/gostap" {
			t.Errorf("left: %s", p)
		}
	}
	delete(s.objects, "/api/v1/namespaces/gostap/configmaps/mine")
	out, _, err = s.run(Uninstall, o)
	if err != nil || words(out, "is not there") != 19 || !strings.HasSuffix(out, "Namespace gostap: deleted\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, _, err = s.run(Uninstall, o); err != nil || words(out, "is not there") != 20 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUninstallRefused: who may not see Traces does not delete them; what cannot be seen in a namespace keeps it; the
// cluster's own namespaces stay.
func TestUninstallRefused(t *testing.T) {
	s := newServer(t)
	o := options()
	deny := func(part string) func(verb, path string) *metav1.Status {
		return func(_, path string) *metav1.Status {
			if !strings.HasSuffix(path, part) {
				return nil
			}
			return status(403, metav1.StatusReasonForbidden, "no")
		}
	}
	if _, _, err := s.run(Install, o); err != nil {
		t.Fatal(err)
	}
	s.answer = deny("/traces")
	if _, asked, err := s.run(Uninstall, o); err == nil || len(asked) > 0 ||
		!strings.Contains(err.Error(), "no right to list Traces") {
		t.Errorf("%v, %q", err, asked)
	}
	s.answer = deny("/gostap-agent")
	if _, _, err := s.run(Uninstall, o); err == nil ||
		!strings.Contains(err.Error(), "no right to delete DaemonSet gostap/gostap-agent") {
		t.Error(err)
	}
	s.answer = deny("/namespaces/gostap/configmaps")
	out, _, err := s.run(Uninstall, o)
	if err != nil ||
		!strings.Contains(out, "Namespace gostap: stays: whether it has any configmaps is not known (no)") {
		t.Errorf("%v\n%s", err, out)
	}
	s = newServer(t)
	o.Namespace, o.Agents = "default", "default"
	if _, _, err := s.run(Install, o); err != nil {
		t.Fatal(err)
	}
	if out, _, err = s.run(Uninstall, o); err != nil || !strings.HasSuffix(out,
		"Namespace default: stays: it is the cluster's own\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
