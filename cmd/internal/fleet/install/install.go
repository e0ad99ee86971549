// Package install puts gostap's agents and gostap-fleet into a cluster of Kubernetes, and takes them out of it again.
//
// In: names, an API server. Out: objects there, by server-side apply, with a line for each; a wait for their pods;
// what is in the way, as errors that say which object and which verb.
package install

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/gostap/gostap/cmd/internal/fleet/manifests"
	"github.com/gostap/gostap/cmd/internal/kube/agents"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
)

// Options say what is installed.
type Options struct {
	manifests.Options
	AgentImage string
	// DryRun asks the API server what would come of it, and changes nothing.
	DryRun bool
	// Wait is how long pods, and objects that are deleted, are waited for.
	Wait time.Duration
	// DeleteTraces has Uninstall end and delete the Traces that there are.
	DeleteTraces bool
}

// Check says what cannot be, whatever the cluster is.
func (o *Options) Check() error {
	if err := o.Options.Check(); err != nil {
		return err
	}
	if o.Wait < 0 {
		return slip.New("--wait is a time from 0s", "")
	}
	return agents.Image(o.AgentImage)
}

// objects are all that is installed, the agents first: rights on them are in their namespace.
func (o *Options) objects() ([]*unstructured.Unstructured, error) {
	nodes, err := agents.Manifest(o.Agents, o.AgentImage, o.AgentMetrics)
	if err != nil {
		return nil, err
	}
	var fleet strings.Builder
	if err := manifests.Write(&fleet, o.Options); err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	seen := map[string]bool{}
	for _, doc := range strings.Split(nodes+"\n---\n"+fleet.String(), "\n---\n") {
		b, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			return nil, err
		}
		x := &unstructured.Unstructured{}
		if err := x.UnmarshalJSON(b); err != nil {
			return nil, err
		}
		if seen[title(x)] { // a namespace for both
			continue
		}
		seen[title(x)] = true
		out = append(out, x)
	}
	return out, nil
}

// title is how an object is called in what is printed.
func title(x *unstructured.Unstructured) string {
	switch n := x.GetNamespace(); {
	case x.GetName() == "":
		return x.GetKind() + "s"
	case n != "":
		return x.GetKind() + " " + n + "/" + x.GetName()
	}
	return x.GetKind() + " " + x.GetName()
}

// object is the name of one.
func object(version, kind, namespace, name string) *unstructured.Unstructured {
	x := &unstructured.Unstructured{}
	x.SetAPIVersion(version)
	x.SetKind(kind)
	x.SetNamespace(namespace)
	x.SetName(name)
	return x
}

// Install applies all, and waits for the pods.
func Install(ctx context.Context, c *Cluster, o Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	if err := c.reach(ctx); err != nil {
		return err
	}
	if err := c.elsewhere(ctx, o.Namespace); err != nil {
		return err
	}
	var err error
	if o.Keep, err = c.certificate(ctx, o.Options); err != nil {
		return err
	}
	all, err := o.objects()
	if err != nil {
		return err
	}
	if err := c.apply(ctx, all, o.DryRun); err != nil || o.DryRun || o.Wait == 0 {
		return err
	}
	return c.rolledOut(ctx, all, o.Wait)
}

// elsewhere is the error of a cluster that has gostap-fleet in another namespace: there is one of it in a cluster.
func (c *Cluster) elsewhere(ctx context.Context, namespace string) error {
	x := object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", manifests.Name)
	got, err := c.get(ctx, x)
	if err != nil || got == nil {
		return err
	}
	subjects, _, _ := unstructured.NestedSlice(got.Object, "subjects")
	for _, s := range subjects {
		m, _ := s.(map[string]any)
		if n, _ := m["namespace"].(string); n != "" && n != namespace {
			return slip.New("gostap-fleet is installed in the namespace "+n+", and there is one of it in a cluster",
				"-n "+n+" means that one; gostap-fleet uninstall -n "+n+" takes it away")
		}
	}
	return nil
}

// certificate is the one that is there, if it is good for some time more.
func (c *Cluster) certificate(ctx context.Context, o manifests.Options) (*manifests.Certificate, error) {
	host, err := o.Host()
	if err != nil {
		return nil, err
	}
	got, err := c.get(ctx, object("v1", "Secret", o.Namespace, manifests.SecretName))
	if err != nil || got == nil {
		return nil, err
	}
	var s corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, &s); err != nil {
		return nil, nil // something else by that name, which is written over
	}
	there := &manifests.Certificate{CA: s.Data[manifests.CAKey], Cert: s.Data[manifests.CertKey],
		Key: s.Data[manifests.KeyKey]}
	if !there.Good(host, time.Now()) {
		return nil, nil
	}
	return there, nil
}

// apply applies objects one after the other, and says what came of each.
func (c *Cluster) apply(ctx context.Context, all []*unstructured.Unstructured, dry bool) error {
	words := [...]string{"created", "changed", "as it was"}
	if dry {
		words = [...]string{"would be created", "would be changed", "as it is"}
	}
	unseen := 0
	for _, x := range all {
		before, err := c.get(ctx, x)
		if err != nil {
			return err
		}
		after, err := c.write(ctx, x, dry)
		word := words[1]
		switch {
		case dry && before == nil && apierrors.IsNotFound(err):
			word = words[0]
			unseen++
		case err != nil:
			return c.failed("patch", x, err)
		case before == nil:
			word = words[0]
		case same(before, after):
			word = words[2]
		}
		c.say("%s: %s", title(x), word)
	}
	if unseen > 0 {
		c.say("The API server could not look at %d of these: the namespace that they are in is not there yet.", unseen)
	}
	return nil
}

// same says that nothing but what the API server, and controllers, note for themselves differs. Versions do not say it:
// in a dry run there is no new one.
func same(before, after *unstructured.Unstructured) bool {
	bare := func(x *unstructured.Unstructured) map[string]any {
		x = x.DeepCopy()
		unstructured.RemoveNestedField(x.Object, "status")
		for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
			unstructured.RemoveNestedField(x.Object, "metadata", field)
		}
		return x.Object
	}
	return equality.Semantic.DeepEqual(bare(before), bare(after))
}

func (c *Cluster) say(format string, args ...any) {
	fmt.Fprintln(c.out, diag.Visible(fmt.Sprintf(format, args...)))
}

// dryRun is what asks the API server to change nothing.
func dryRun(dry bool) []string {
	if dry {
		return []string{metav1.DryRunAll}
	}
	return nil
}
