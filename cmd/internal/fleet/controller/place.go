package controller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/fleet/session"
)

// mostSkipped is how many pods that are not traced are named.
const mostSkipped = 100

// errNowhere says why there is nothing to trace.
type errNowhere struct{ error }

// place finds the pods that t selects, and the agents on their nodes. r reads from the API server, not from a cache.
func place(ctx context.Context, r client.Reader, t *api.Trace, agentsIn string) (out []session.Agent,
	skipped []api.Skipped, err error) {
	// Labels of a spec are exact, and never none: that would be all pods.
	if len(t.Spec.Pods.MatchLabels) == 0 {
		return nil, nil, errNowhere{errors.New("spec.pods.matchLabels selects no pods")}
	}
	var pods, agents corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(t.Namespace),
		client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(t.Spec.Pods.MatchLabels)}); err != nil {
		return nil, nil, err
	}
	if len(pods.Items) == 0 {
		return nil, nil, errNowhere{fmt.Errorf("no pod of the namespace %s has the labels %s", t.Namespace,
			labels.SelectorFromSet(t.Spec.Pods.MatchLabels))}
	}
	if err := r.List(ctx, &agents, client.InNamespace(agentsIn),
		client.MatchingLabels{"app.kubernetes.io/name": "gostap-agent"}); err != nil {
		return nil, nil, err
	}
	on := map[string]string{}
	for i := range agents.Items {
		if a := &agents.Items[i]; ready(a) {
			on[a.Spec.NodeName] = a.Name
		}
	}
	wanted, err := nodes(ctx, r, t.Spec.Nodes.MatchLabels)
	if err != nil {
		return nil, nil, err
	}
	skip := func(p *corev1.Pod, why string) { skipped = append(skipped, api.Skipped{Pod: p.Name, Reason: why}) }
	byNode := map[string]*session.Agent{}
	var names []string
	of := map[string][]*corev1.Pod{}
	for i := range pods.Items {
		p := &pods.Items[i]
		n := p.Spec.NodeName
		switch {
		case p.Status.Phase != corev1.PodRunning:
			skip(p, fmt.Sprintf("does not run (%s)", p.Status.Phase))
		case wanted != nil && !wanted[n]:
			skip(p, "its node "+n+" has not the labels of spec.nodes")
		case on[n] == "":
			skip(p, "no agent of gostap is ready on its node "+n)
		default:
			if byNode[n] == nil {
				byNode[n] = &session.Agent{Namespace: agentsIn, Pod: on[n], Node: n}
				names = append(names, n)
			}
			byNode[n].UIDs = append(byNode[n].UIDs, string(p.UID))
			of[n] = append(of[n], p)
		}
	}
	if k := int(t.Spec.Nodes.Sample); k > 0 && k < len(names) {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, n := range names[k:] {
			for _, p := range of[n] {
				skip(p, "its node "+n+" is not in the sample")
			}
		}
		names = names[:k]
	}
	slices.Sort(names)
	for _, n := range names {
		out = append(out, *byNode[n])
	}
	if k := len(skipped) - mostSkipped; k > 0 {
		skipped = append(skipped[:mostSkipped], api.Skipped{Pod: "...", Reason: fmt.Sprintf("and %d more", k)})
	}
	if len(out) == 0 {
		return nil, skipped, errNowhere{errors.New("none of the pods can be traced: status.skipped says why")}
	}
	return out, skipped, nil
}

func ready(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil &&
		slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
}

// nodes are those with all of the labels, nil for any.
func nodes(ctx context.Context, r client.Reader, match map[string]string) (map[string]bool, error) {
	if len(match) == 0 {
		return nil, nil
	}
	var list corev1.NodeList
	if err := r.List(ctx, &list, client.MatchingLabels(match)); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for i := range list.Items {
		out[list.Items[i].Name] = true
	}
	return out, nil
}
