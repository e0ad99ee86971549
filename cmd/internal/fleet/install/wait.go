package install

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// until looks again and again until there is nothing to wait for, and says each time what it is if that is new. A look
// that fails is repeated, except for one that is refused.
func (c *Cluster) until(ctx context.Context, most time.Duration, hint func(what string) string,
	look func() (what string, err error)) error {
	return c.untilThen(ctx, time.Now().Add(most), most, hint, look)
}

// untilThen is until for several waits that have one end together.
func (c *Cluster) untilThen(ctx context.Context, end time.Time, most time.Duration, hint func(what string) string,
	look func() (what string, err error)) error {
	said := ""
	for {
		what, err := look()
		switch {
		case err == nil && what == "":
			return nil
		case err == nil && what != said:
			said = what
			c.say("waiting for the %s", what)
		case err != nil && ctx.Err() == nil && !again(err):
			return err
		}
		if time.Now().After(end) {
			if err != nil {
				return err
			}
			return slip.New(fmt.Sprintf("waited %v for the %s", most, what), hint(what))
		}
		select {
		case <-ctx.Done():
			return slip.New("not waited any more for the "+said, "")
		case <-time.After(c.between):
		}
	}
}

// rolledOut waits until the pods of objects are ready.
func (c *Cluster) rolledOut(ctx context.Context, all []*unstructured.Unstructured, most time.Duration) error {
	end := time.Now().Add(most)
	for _, x := range all {
		if k := x.GetKind(); k != "Deployment" && k != "DaemonSet" {
			continue
		}
		last := ""
		hint := func(string) string {
			return "kubectl describe pods -n " + x.GetNamespace() + " -l app.kubernetes.io/name=" + x.GetName()
		}
		err := c.untilThen(ctx, end, most, hint, func() (string, error) {
			got, err := c.get(ctx, x)
			if err != nil {
				return "", err
			}
			done, pods := ready(got)
			if last = title(x) + ": " + pods; done {
				return "", nil
			}
			if pods == unseen {
				return last, nil
			}
			if why := c.why(ctx, x, got); why != "" {
				return last + "; " + why, nil
			}
			return last, nil
		})
		if err != nil {
			return err
		}
		c.say("%s", last)
	}
	return nil
}

// unseen is what there is to say before a controller has looked.
const unseen = "not looked at yet"

// ready says how many pods of a Deployment or a DaemonSet are, and whether all are and none of an earlier form is left.
func ready(x *unstructured.Unstructured) (done bool, pods string) {
	if x == nil {
		return false, "it is gone"
	}
	number := func(fields ...string) int64 {
		n, _, _ := unstructured.NestedInt64(x.Object, fields...)
		return n
	}
	seen := number("status", "observedGeneration") >= x.GetGeneration()
	var want, is, made, all int64
	if x.GetKind() == "DaemonSet" {
		want, made = number("status", "desiredNumberScheduled"), number("status", "updatedNumberScheduled")
		is, all = number("status", "numberAvailable"), want
	} else {
		want, made = number("spec", "replicas"), number("status", "updatedReplicas")
		is, all = number("status", "availableReplicas"), number("status", "replicas")
	}
	switch {
	case !seen:
		return false, unseen
	case made < want:
		return false, fmt.Sprintf("%d of %d pods are made", made, want)
	case all > made:
		return false, fmt.Sprintf("%d earlier pods are there", all-made)
	}
	return is >= want, fmt.Sprintf("%d of %d pods are ready", is, want)
}

// why is what the cluster says of pods that are not ready, "" for nothing.
func (c *Cluster) why(ctx context.Context, x, got *unstructured.Unstructured) string {
	r, err := c.resource(object("v1", "Pod", x.GetNamespace(), ""))
	if err != nil {
		return ""
	}
	list, err := r.List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + x.GetName(), Limit: 500})
	if err != nil {
		return "" // no right to see them
	}
	asked := 0
	for i := range list.Items {
		var p corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &p); err != nil {
			continue
		}
		if !of(&p, x) {
			continue
		}
		said := stuck(&p)
		if said == "" && unready(&p) && asked < mostAsked {
			asked++
			said = c.event(ctx, &list.Items[i], ",reason=Unhealthy")
		}
		if said != "" {
			return onNode(&p) + ": " + short(said)
		}
	}
	if got == nil {
		return ""
	}
	conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
	for _, s := range conditions {
		if m, _ := s.(map[string]any); m["type"] == "ReplicaFailure" && m["status"] == "True" {
			return short(fmt.Sprint(m["message"]))
		}
	}
	if len(list.Items) > 0 {
		return ""
	}
	return c.event(ctx, got, "")
}

// mostAsked is how many pods that run and are not ready are asked about at a time.
const mostAsked = 5

// unready says that a pod runs, and is not ready all the same.
func unready(p *corev1.Pod) bool {
	for _, s := range p.Status.ContainerStatuses {
		if s.State.Running != nil && !s.Ready {
			return true
		}
	}
	return false
}

// onNode names a pod that is on a node.
func onNode(p *corev1.Pod) string {
	if p.Spec.NodeName == "" {
		return "pod " + p.Name
	}
	return "pod " + p.Name + " on node " + p.Spec.NodeName
}

// of says that a pod is not one of an earlier form: it has the image that is asked for.
func of(p *corev1.Pod, x *unstructured.Unstructured) bool {
	list, _, _ := unstructured.NestedSlice(x.Object, "spec", "template", "spec", "containers")
	if len(list) == 0 || len(p.Spec.Containers) == 0 {
		return true
	}
	first, _ := list[0].(map[string]any)
	return first["image"] == p.Spec.Containers[0].Image
}

// stuck is why a pod does not run.
func stuck(p *corev1.Pod) string {
	for _, s := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
		w := s.State.Waiting
		if w != nil && w.Reason != "" && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return strings.TrimSuffix(w.Reason+": "+w.Message, ": ")
		}
	}
	for _, s := range p.Status.Conditions {
		if s.Type == corev1.PodScheduled && s.Status == corev1.ConditionFalse && s.Reason != "" {
			return strings.TrimSuffix(s.Reason+": "+s.Message, ": ")
		}
	}
	return ""
}

// event is the last warning about an object, as by a quota, by who admits pods, or by a kubelet that has asked a pod.
// only selects among them, "" for all.
func (c *Cluster) event(ctx context.Context, x *unstructured.Unstructured, only string) string {
	r, err := c.resource(object("v1", "Event", x.GetNamespace(), ""))
	if err != nil {
		return ""
	}
	list, err := r.List(ctx, metav1.ListOptions{Limit: 500, FieldSelector: "type=Warning,involvedObject.uid=" +
		string(x.GetUID()) + ",involvedObject.name=" + x.GetName() + only})
	if err != nil || len(list.Items) == 0 {
		return ""
	}
	message, _, _ := unstructured.NestedString(list.Items[len(list.Items)-1].Object, "message")
	return short(message)
}

// short is the beginning of what a cluster says, in one line.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "..."
	}
	return s
}
