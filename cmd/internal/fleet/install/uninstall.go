package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/fleet/manifests"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// stages are what is deleted, and gone, before what stands behind it. The definition of Trace comes first: no Trace is
// made any more, and the controller with its webhooks is there for those that still are.
var stages = []string{"CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
	"Deployment", "DaemonSet"}

// Uninstall deletes what Install has made. With Traces it does not begin unless these are to be deleted, too.
func Uninstall(ctx context.Context, c *Cluster, o Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	o.Keep = &manifests.Certificate{} // names alone matter
	all, err := o.objects()
	if err != nil {
		return err
	}
	if err := c.reach(ctx); err != nil {
		return err
	}
	if err := c.elsewhere(ctx, o.Namespace); err != nil {
		return err
	}
	if err := c.endTraces(ctx, o); err != nil {
		return err
	}
	all = append(all, object("coordination.k8s.io/v1", "Lease", o.Namespace, manifests.Name)) // the leader's
	var spaces []*unstructured.Unstructured
	for _, kind := range append(slices.Clone(stages), "") {
		var gone []*unstructured.Unstructured
		for _, x := range slices.Backward(all) {
			k := x.GetKind()
			switch {
			case k == "Namespace" && kind == "":
				spaces = append(spaces, x)
			case k == "Namespace" || kind != k && (kind != "" || slices.Contains(stages, k)):
			default:
				there, err := c.delete(ctx, x, o.DryRun)
				if err != nil {
					return err
				}
				if there {
					gone = append(gone, x)
				}
			}
		}
		if err := c.gone(ctx, gone, o); err != nil {
			return err
		}
	}
	for _, x := range spaces {
		if err := c.deleteSpace(ctx, x, all, o); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes an object, and says whether it was there. Its pods go before it.
func (c *Cluster) delete(ctx context.Context, x *unstructured.Unstructured, dry bool) (bool, error) {
	r, err := c.resource(x)
	if err != nil {
		return false, err
	}
	word := "deleted"
	if dry {
		word = "would be deleted"
	}
	first := metav1.DeletePropagationForeground
	err = r.Delete(ctx, x.GetName(), metav1.DeleteOptions{PropagationPolicy: &first, DryRun: dryRun(dry)})
	switch {
	case apierrors.IsNotFound(err):
		c.say("%s: is not there", title(x))
		return false, nil
	case err != nil:
		return false, c.failed("delete", x, err)
	}
	c.say("%s: %s", title(x), word)
	return true, nil
}

// gone waits until objects are.
func (c *Cluster) gone(ctx context.Context, all []*unstructured.Unstructured, o Options) error {
	if o.DryRun || o.Wait == 0 {
		return nil
	}
	hint := func(string) string { return "the same command goes on from there" }
	for _, x := range all {
		err := c.until(ctx, o.Wait, hint, func() (string, error) {
			got, err := c.get(ctx, x)
			if err != nil || got == nil {
				return "", err
			}
			return "end of " + title(x), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// traces are all of them, nil where nobody knows what a Trace is.
func (c *Cluster) traces(ctx context.Context) ([]unstructured.Unstructured, dynamic.NamespaceableResourceInterface,
	error) {
	r := c.client.Resource(schema.GroupVersionResource{Group: api.Group, Version: api.Version, Resource: api.Resource})
	var all []unstructured.Unstructured
	o := metav1.ListOptions{Limit: 500}
	for {
		list, err := r.List(ctx, o)
		if apierrors.IsNotFound(err) {
			return nil, r, nil
		}
		if err != nil {
			return nil, r, c.failed("list", object(api.Group+"/"+api.Version, "Trace", "", ""), err)
		}
		for _, x := range list.Items {
			all = append(all, *bare(&x))
		}
		if o.Continue = list.GetContinue(); o.Continue == "" {
			return all, r, nil
		}
	}
}

// bare is what of a Trace matters here, without its result.
func bare(x *unstructured.Unstructured) *unstructured.Unstructured {
	out := object(x.GetAPIVersion(), x.GetKind(), x.GetNamespace(), x.GetName())
	phase, _, _ := unstructured.NestedString(x.Object, "status", "phase")
	_ = unstructured.SetNestedField(out.Object, phase, "status", "phase") // an object always takes it
	return out
}

// names are those of Traces, and of most the first ones.
func names(all []unstructured.Unstructured, with bool, between string) string {
	var out []string
	for i := range all {
		if i == 20 {
			out = append(out, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		s := all[i].GetNamespace() + "/" + all[i].GetName()
		if phase, _, _ := unstructured.NestedString(all[i].Object, "status", "phase"); with && phase != "" {
			s += " (" + phase + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, between)
}

// endTraces has all Traces deleted, by the controller that ends their sessions, or refuses to.
func (c *Cluster) endTraces(ctx context.Context, o Options) error {
	all, r, err := c.traces(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	if !o.DeleteTraces {
		text := fmt.Sprintf("there are %s, which would be deleted with their results:", count(len(all)))
		if len(all) == 1 {
			text = "there is a Trace, which would be deleted with its result:"
		}
		return slip.New(text+"\n  "+names(all, true, "\n  "), "--delete-traces ends and deletes what there is")
	}
	for i := range all {
		x := &all[i]
		err := r.Namespace(x.GetNamespace()).Delete(ctx, x.GetName(), metav1.DeleteOptions{DryRun: dryRun(o.DryRun)})
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			return c.failed("delete", x, err)
		case o.DryRun:
			c.say("%s: would be deleted", title(x))
		default:
			c.say("%s: deleted", title(x))
		}
	}
	if o.DryRun {
		return nil
	}
	hint := func(string) string {
		return "their sessions are ended by the controller, which has to run: kubectl get pods -n " + o.Namespace +
			". Without one, delete the webhook configurations gostap-fleet, and give each Trace " +
			`kubectl patch --type merge -p '{"metadata":{"finalizers":null}}'`
	}
	return c.until(ctx, max(o.Wait, time.Second), hint, func() (string, error) {
		left, _, err := c.traces(ctx)
		if err != nil || len(left) == 0 {
			return "", err
		}
		return "end of " + count(len(left)) + ": " + names(left, false, ", "), nil
	})
}

func count(n int) string {
	if n == 1 {
		return "a Trace"
	}
	return fmt.Sprintf("%d Traces", n)
}
