package controller

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/fleet/session"
)

func pod(ns, name, node string, phase corev1.PodPhase, labels map[string]string) *corev1.Pod {
	meta := metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("uid-" + name), Labels: labels}
	return &corev1.Pod{ObjectMeta: meta,
		Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
}

var (
	cart = map[string]string{"app": "cart"}
)

// lab is a cluster with three nodes, and a gostap that does what a script says.
type lab struct {
	t *testing.T
	c *Controller
	client.Client
	events *events.FakeRecorder
}

func newLab(t *testing.T, does string, traces ...client.Object) *lab {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	api.AddTo(scheme)
	gostap := filepath.Join(t.TempDir(), "gostap")
	if err := os.WriteFile(gostap, []byte("#!/bin/sh\n"+does), 0o755); err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&api.Trace{}).WithObjects(traces...)
	cl := b.WithObjects(
		pod("shop", "cart-1", "a", corev1.PodRunning, cart), pod("shop", "cart-2", "b", corev1.PodRunning, cart),
		pod("shop", "cart-3", "c", corev1.PodRunning, cart), pod("shop", "cart-4", "a", corev1.PodPending, cart),
		pod("shop", "cart-5", "a", corev1.PodRunning, cart),
		pod("other", "cart-9", "a", corev1.PodRunning, cart), pod("shop", "db", "a", corev1.PodRunning, nil),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"disk": "ssd"}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}}).Build()
	rec := events.NewFakeRecorder(100)
	return &lab{t, &Controller{Client: cl, Live: cl, Events: rec, Most: 2,
		Every:  20 * time.Millisecond,
		Config: &session.Config{Gostap: gostap, Agents: "gostap", Kubectl: "/usr/bin:/bin"}}, cl, rec}
}

func trace(name string, change ...func(*api.Trace)) *api.Trace {
	t := &api.Trace{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)},
		Spec: api.Spec{Tool: "syscount", Pods: api.Pods{MatchLabels: cart}, ExpireSeconds: 3600}}
	for _, f := range change {
		f(t)
	}
	return t
}

// step reconciles once, and gives the Trace, nil if it is gone.
func (l *lab) step(name string) (*api.Trace, ctrl.Result) {
	l.t.Helper()
	key := types.NamespacedName{Namespace: "shop", Name: name}
	r, err := l.c.Reconcile(l.t.Context(), ctrl.Request{NamespacedName: key})
	if err != nil {
		l.t.Fatal(err)
	}
	var t api.Trace
	if err := l.Get(l.t.Context(), key, &t); apierrors.IsNotFound(err) {
		return nil, r
	} else if err != nil {
		l.t.Fatal(err)
	}
	return &t, r
}

// until steps until a Trace is as is said.
func (l *lab) until(name string, is func(*api.Trace) bool) *api.Trace {
	l.t.Helper()
	var t *api.Trace
	for range 1000 {
		if t, _ = l.step(name); is(t) {
			return t
		}
		time.Sleep(10 * time.Millisecond)
	}
	l.t.Fatalf("%+v", t)
	return nil
}

func finished(t *api.Trace) bool { return t.Status.Phase.Finished() }

func TestDone(t *testing.T) {
	l := newLab(t, `echo $1 $2 $3 $4
		e() { echo '{"at":"2026-01-02T03:04:05Z",'"$1"'}' >&2; }
		e '"node":"a","agent":"agent-a","state":"begins"'; e '"node":"a","agent":"agent-a","state":"runs"'
		e '"node":"a","pod":"cart-1","state":"traced"'; e '"node":"a","agent":"agent-a","state":"ended"'
		e '"node":"a","pod":"cart-4","state":"untraced","why":"it does not run (Pending)"'`, trace("x"))
	x, r := l.step("x")
	if x.Status.Phase != api.Running || x.Status.Started == nil || !slices.Contains(x.Finalizers, api.Finalizer) ||
		r.RequeueAfter != l.c.Every {
		t.Errorf("%+v %v", x, r)
	}
	x = l.until("x", finished)
	want := "kube --namespace=shop --selector=app=cart --agents=gostap\n"
	if x.Status.Phase != api.Done || x.Status.Result.Text != want || x.Status.Finished == nil {
		t.Errorf("%+v", x.Status)
	}
	if !slices.Equal(x.Status.Skipped, []api.Skipped{{Pod: "cart-4", Reason: "it does not run (Pending)"}}) {
		t.Errorf("%v", x.Status.Skipped)
	}
	if n := x.Status.Nodes; len(n) != 1 || n[0].Name != "a" || n[0].Pods != 1 || n[0].Phase != api.Done {
		t.Errorf("%+v", n)
	}
	if x, _ = l.step("x"); len(x.Finalizers) > 0 {
		t.Errorf("what has finished is held by %v", x.Finalizers)
	}
	if x, r = l.step("x"); x == nil || r.RequeueAfter < time.Hour-time.Minute || l.c.run(x.UID) != nil {
		t.Errorf("%v %+v", r, x)
	}
	if a, b := <-l.events.Events, <-l.events.Events; !strings.Contains(a, "Started") || !strings.Contains(b, "Done") {
		t.Errorf("%q %q", a, b)
	}
}

func TestPlaces(t *testing.T) {
	labels := func(name, key, value string) *api.Trace {
		return trace(name, func(t *api.Trace) { t.Spec.Nodes.MatchLabels = map[string]string{key: value} })
	}
	l := newLab(t, `for x; do case $x in --node=*) printf '%s ' $x; esac; done`,
		labels("ssd", "disk", "ssd"), labels("nowhere", "disk", "tape"), labels("odd", "disk", "no label"),
		trace("any"),
		trace("sample", func(t *api.Trace) { t.Spec.Nodes.Sample = 2 }),
		trace("more", func(t *api.Trace) { t.Spec.Nodes.Sample = 200 }),
		trace("crats", func(t *api.Trace) {
			t.Spec.Pods.MatchLabels, t.Spec.Nodes.Sample = map[string]string{"app": "crat"}, 1
		}),
		trace("all", func(t *api.Trace) { t.Spec.Pods.MatchLabels = nil }),
		trace("bad", func(t *api.Trace) { t.Spec.Pods.MatchLabels = map[string]string{"app in (a)": ""} }))
	for name, want := range map[string]string{"ssd": "--node=a ", "any": "", "more": "--node=a --node=b --node=c "} {
		if x := l.until(name, finished); x.Status.Phase != api.Done || x.Status.Result.Text != want {
			t.Errorf("%s: %+v", name, x.Status)
		}
		l.step(name)
	}
	if x := l.until("sample", finished); strings.Count(x.Status.Result.Text, "--node=") != 2 {
		t.Errorf("%+v", x.Status)
	}
	l.step("sample")
	for name, want := range map[string]string{"all": "selects no pods", "nowhere": "no node has the labels disk=tape",
		"odd": "spec.nodes.matchLabels", "bad": "spec.pods.matchLabels",
		"crats": "no node has a pod of the namespace shop with the labels app=crat"} {
		if x := l.until(name, finished); x.Status.Phase != api.Refused || !strings.Contains(x.Status.Message, want) {
			t.Errorf("%s: %+v", name, x.Status)
		}
	}
}

const waits = `trap 'echo told; exit 0' INT; while :; do sleep 0.05; done`

// TestDeleted: a session ends with its Trace, which stays until then.
func TestDeleted(t *testing.T) {
	l := newLab(t, waits, trace("x"))
	x, _ := l.step("x")
	s := l.c.run(x.UID)
	if s == nil {
		t.Fatal("no session")
	}
	if err := l.Delete(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	l.until("x", func(x *api.Trace) bool { return x == nil })
	if !s.Tell(new(api.Status)) || l.c.run(x.UID) != nil {
		t.Error("the session goes on")
	}
}

// TestReplaced: what another controller had begun has ended.
func TestReplaced(t *testing.T) {
	l := newLab(t, `exit 0`, trace("x", func(t *api.Trace) {
		t.Status.Phase, t.Status.Nodes = api.Running, []api.Node{{Name: "a", Phase: api.Running}}
		t.Status.Totals = api.Totals{Nodes: 3, Running: 2, Done: 1, Left: 2} // two are not listed
	}))
	x, _ := l.step("x")
	totals := api.Totals{Nodes: 3, Failed: 2, Done: 1, Left: 2}
	if x.Status.Phase != api.Failed || !strings.Contains(x.Status.Message, "was replaced") ||
		x.Status.Nodes[0].Phase != api.Failed || x.Status.Totals != totals {
		t.Errorf("%+v", x.Status)
	}
}

// TestExpire: a Trace goes when its time is over, not before.
func TestExpire(t *testing.T) {
	done := func(ago time.Duration) func(*api.Trace) {
		return func(t *api.Trace) {
			at := metav1.NewTime(time.Now().Add(-ago))
			t.Status.Phase, t.Status.Finished = api.Done, &at
		}
	}
	l := newLab(t, `exit 0`, trace("old", done(2*time.Hour)), trace("young", done(time.Minute)))
	if x, _ := l.step("old"); x != nil {
		t.Errorf("%+v", x)
	}
	if x, r := l.step("young"); x == nil || r.RequeueAfter <= 0 || r.RequeueAfter > time.Hour {
		t.Errorf("%+v %v", x, r)
	}
}

// TestBegin: a session begins at its time, not before, and at once if that has been; one that is deleted before never
// begins.
func TestBegin(t *testing.T) {
	at := func(in time.Duration) func(*api.Trace) {
		return func(t *api.Trace) {
			b := metav1.NewTime(time.Now().Add(in))
			t.Spec.Begin = &b
		}
	}
	l := newLab(t, `echo ran`, trace("x", at(time.Hour)), trace("y", at(-time.Hour)), trace("z", at(time.Hour)))
	x, r := l.step("x")
	if x.Status.Phase != api.Pending || !strings.HasPrefix(x.Status.Message, "begins at 20") || l.c.run(x.UID) != nil ||
		r.RequeueAfter < 59*time.Minute || r.RequeueAfter > time.Hour {
		t.Errorf("%+v %v", x.Status, r)
	}
	if y := l.until("y", finished); y.Status.Phase != api.Done || y.Status.Result.Text != "ran\n" {
		t.Errorf("%+v", y.Status)
	}
	z, _ := l.step("z")
	if err := l.Delete(t.Context(), z); err != nil {
		t.Fatal(err)
	}
	l.until("z", func(z *api.Trace) bool { return z == nil })
}

// TestMost: more sessions than allowed wait.
func TestMost(t *testing.T) {
	l := newLab(t, waits, trace("x"), trace("y"), trace("z"))
	x, _ := l.step("x")
	l.step("y")
	if z, _ := l.step("z"); z.Status.Phase != api.Pending || !strings.Contains(z.Status.Message, "waits") {
		t.Errorf("%+v", z.Status)
	}
	l.c.run(x.UID).Stop()
	l.until("x", finished)
	l.step("x")
	if z, _ := l.step("z"); z.Status.Phase != api.Running || z.Status.Message != "" {
		t.Errorf("%+v", z.Status)
	}
	l.c.Close()
	l.until("y", finished)
	l.until("z", finished)
}
