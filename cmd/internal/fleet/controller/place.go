package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/fleet/session"
)

// errNowhere says why there is nothing to trace.
type errNowhere struct{ error }

// place says which pods t selects, and on which nodes. r reads from the API server, not from a cache.
func place(ctx context.Context, r client.Reader, t *api.Trace) (w session.Where, err error) {
	// Labels of a spec are exact, and never none: that would be all pods.
	if len(t.Spec.Pods.MatchLabels) == 0 {
		return w, errNowhere{errors.New("spec.pods.matchLabels selects no pods")}
	}
	selector, err := labels.ValidatedSelectorFromSet(t.Spec.Pods.MatchLabels)
	if err != nil {
		return w, errNowhere{fmt.Errorf("spec.pods.matchLabels: %w", err)}
	}
	w = session.Where{Namespace: t.Namespace, Trace: t.Name, Selector: selector.String()}
	if w.Nodes, err = nodes(ctx, r, t.Spec.Nodes.MatchLabels); err != nil || t.Spec.Nodes.Sample == 0 {
		return w, err
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(t.Namespace),
		client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return w, err
	}
	has := map[string]bool{}
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Status.Phase == corev1.PodRunning && (w.Nodes == nil || slices.Contains(w.Nodes, p.Spec.NodeName)) {
			has[p.Spec.NodeName] = true
		}
	}
	if len(has) == 0 {
		return w, errNowhere{fmt.Errorf("no node has a pod of the namespace %s with the labels %s, to take a sample of",
			t.Namespace, selector)}
	}
	w.Nodes = slices.Collect(maps.Keys(has))
	rand.Shuffle(len(w.Nodes), func(i, j int) { w.Nodes[i], w.Nodes[j] = w.Nodes[j], w.Nodes[i] })
	w.Nodes = w.Nodes[:min(len(w.Nodes), int(t.Spec.Nodes.Sample))]
	slices.Sort(w.Nodes)
	return w, nil
}

// nodes are those with all of the labels, nil for any.
func nodes(ctx context.Context, r client.Reader, match map[string]string) (out []string, err error) {
	if len(match) == 0 {
		return nil, nil
	}
	selector, err := labels.ValidatedSelectorFromSet(match)
	if err != nil {
		return nil, errNowhere{fmt.Errorf("spec.nodes.matchLabels: %w", err)}
	}
	var list corev1.NodeList
	if err := r.List(ctx, &list, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		out = append(out, list.Items[i].Name)
	}
	if len(out) == 0 {
		return nil, errNowhere{fmt.Errorf("no node has the labels %s", selector)}
	}
	slices.Sort(out)
	return out, nil
}
