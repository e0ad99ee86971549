package install

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deleteSpace deletes a namespace that has nothing but what was installed: others may have put something there, and
// it would go with it.
func (c *Cluster) deleteSpace(ctx context.Context, x *unstructured.Unstructured, ours []*unstructured.Unstructured,
	o Options) error {
	got, err := c.get(ctx, x)
	if err != nil {
		return err
	}
	if got == nil {
		c.say("%s: is not there", title(x))
		return nil
	}
	var other string
	switch name := x.GetName(); {
	case name == "default" || name == "kube-system" || name == "kube-public":
		other = "it is the cluster's own"
	default:
		if other, err = c.others(ctx, name, ours); err != nil {
			return err
		}
	}
	if other != "" {
		c.say("%s: stays: %s", title(x), other)
		return nil
	}
	if _, err := c.delete(ctx, x, o.DryRun); err != nil {
		return err
	}
	return c.gone(ctx, []*unstructured.Unstructured{x}, o)
}

// others is what a namespace has that is not ours and that the cluster does not make by itself, "" for nothing.
func (c *Cluster) others(ctx context.Context, namespace string, ours []*unstructured.Unstructured) (string, error) {
	known := []string{"ServiceAccount default", "ConfigMap kube-root-ca.crt"}
	for _, x := range ours {
		if x.GetNamespace() == namespace {
			known = append(known, x.GetKind()+" "+x.GetName())
		}
	}
	lists, err := c.known.ServerPreferredResources()
	if err != nil {
		// Kinds of an aggregated server that does not answer: what it has in there is not known.
		return fmt.Sprintf("not all that it may have can be seen (%v)", err), nil
	}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range l.APIResources {
			if !r.Namespaced || r.Kind == "Event" || r.Kind == "Endpoints" || !slices.Contains(r.Verbs, "list") ||
				!slices.Contains(r.Verbs, "delete") {
				continue
			}
			list, err := c.client.Resource(gv.WithResource(r.Name)).Namespace(namespace).List(ctx, metav1.ListOptions{})
			if apierrors.IsNotFound(err) { // a kind that has just been deleted
				continue
			}
			if err != nil {
				return fmt.Sprintf("whether it has any %s is not known (%v)", r.Name, err), nil
			}
			for i := range list.Items {
				x := &list.Items[i]
				if len(x.GetOwnerReferences()) == 0 && !slices.Contains(known, r.Kind+" "+x.GetName()) {
					return fmt.Sprintf("it has a %s %s, too", r.Kind, x.GetName()), nil
				}
			}
		}
	}
	return "", nil
}
