// Package controller runs a session for each Trace, writes into its status how far it is, and ends it when the Trace is
// deleted.
//
// In: traces, pods, nodes of a cluster. Out: sessions over the agents, statuses, events.
package controller

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/fleet/session"
)

// Controller reconciles traces. There is one that does at a time: the leader.
type Controller struct {
	Client client.Client
	// Live reads from the API server: what a cache has not seen yet would start a session twice.
	Live   client.Reader
	Events events.EventRecorder
	Config *session.Config
	// Most is how many sessions run at a time; others wait.
	Most int
	// Every is how often a status is written at most.
	Every time.Duration

	mu   sync.Mutex
	runs map[types.UID]*session.Session

	done done
}

// soon is when a Trace is looked at again that has finished.
const soon = 50 * time.Millisecond

// SetUp has the manager call c.
func (c *Controller) SetUp(m ctrl.Manager) error {
	// Not each status that is written brings the next step: that is when Reconcile asked for it.
	return ctrl.NewControllerManagedBy(m).For(&api.Trace{},
		builder.WithPredicates(predicate.GenerationChangedPredicate{})).Complete(c)
}

// Close ends all sessions, for a controller that is not the leader any more. It does not wait.
func (c *Controller) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.runs {
		s.Stop()
	}
}

func (c *Controller) run(uid types.UID) *session.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[uid]
}

func (c *Controller) forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, uid)
}

// Reconcile brings one Trace a step further.
func (c *Controller) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	var t api.Trace
	err := c.Live.Get(ctx, r.NamespacedName, &t)
	if apierrors.IsNotFound(err) {
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	s := c.run(t.UID)
	var next time.Duration
	switch {
	case t.DeletionTimestamp != nil:
		next, err = c.end(ctx, &t, s)
	case t.Status.Phase.Finished():
		c.forget(t.UID) // its last status was written
		if controllerutil.RemoveFinalizer(&t, api.Finalizer) {
			// Nothing has to be ended any more: it can be deleted also where there is no controller.
			next, err = soon, c.Client.Update(ctx, &t)
			break
		}
		next, err = c.expire(ctx, &t)
	case s != nil:
		next, err = c.follow(ctx, &t, s)
	case t.Status.Phase == api.Running:
		next, err = soon, c.finish(ctx, &t, api.Failed,
			"the controller was replaced: its session has ended with it, and what it had counted since is missing")
	default:
		next, err = c.start(ctx, &t)
	}
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: soon}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: next}, nil
}

// end ends the session of a Trace that is deleted, and lets it go when it has said what it came to, for who watches.
func (c *Controller) end(ctx context.Context, t *api.Trace, s *session.Session) (time.Duration, error) {
	if s != nil {
		s.Stop()
		if !s.Tell(&t.Status) {
			return 200 * time.Millisecond, nil
		}
		if err := c.finish(ctx, t, t.Status.Phase, t.Status.Message); err != nil {
			return 0, err
		}
		c.forget(t.UID)
	}
	if !controllerutil.RemoveFinalizer(t, api.Finalizer) {
		return 0, nil
	}
	return 0, client.IgnoreNotFound(c.Client.Update(ctx, t))
}

// expire deletes a Trace when its time is over.
func (c *Controller) expire(ctx context.Context, t *api.Trace) (time.Duration, error) {
	if t.Spec.ExpireSeconds == 0 || t.Status.Finished == nil {
		return 0, nil
	}
	if left := time.Until(t.Status.Finished.Add(time.Duration(t.Spec.ExpireSeconds) * time.Second)); left > 0 {
		return left, nil
	}
	return 0, client.IgnoreNotFound(c.Client.Delete(ctx, t, client.Preconditions{UID: &t.UID}))
}

// follow writes how far a session is.
func (c *Controller) follow(ctx context.Context, t *api.Trace, s *session.Session) (time.Duration, error) {
	was := t.DeepCopy().Status
	if s.Tell(&t.Status) {
		return soon, c.finish(ctx, t, t.Status.Phase, t.Status.Message)
	}
	if reflect.DeepEqual(was, t.Status) {
		return c.Every, nil
	}
	return c.Every, c.write(ctx, t)
}

// finish writes the last status.
func (c *Controller) finish(ctx context.Context, t *api.Trace, phase api.Phase, message string) error {
	now := metav1.Now()
	t.Status.Phase, t.Status.Message, t.Status.Finished = phase, message, &now
	for i := range t.Status.Nodes {
		if n := &t.Status.Nodes[i]; !n.Phase.Finished() {
			n.Phase = phase
		}
	}
	t.Status.Totals.End(phase)
	if err := c.write(ctx, t); err != nil {
		return err
	}
	c.done.finished(phase, t.Status.Totals.Lost)
	kind := corev1.EventTypeNormal
	if phase != api.Done {
		kind = corev1.EventTypeWarning
	}
	if len(message) > 512 {
		message = message[:512] + " ..."
	}
	c.Events.Eventf(t, nil, kind, string(phase), "Trace", "%s", "the session of "+t.Spec.RequestedBy.Name+": "+
		string(phase)+" "+message)
	return nil
}

// start starts the session of a new Trace.
func (c *Controller) start(ctx context.Context, t *api.Trace) (time.Duration, error) {
	if controllerutil.AddFinalizer(t, api.Finalizer) {
		// It stands there before anything runs that would have to be ended.
		if err := c.Client.Update(ctx, t); err != nil {
			return 0, err
		}
	}
	if b := t.Spec.Begin; b != nil {
		if left := time.Until(b.Time); left > 0 {
			return left, c.wait(ctx, t, "begins at "+b.UTC().Format(time.RFC3339))
		}
	}
	c.mu.Lock()
	full := len(c.runs) >= c.Most
	c.mu.Unlock()
	if full {
		return c.Every, c.wait(ctx, t, "waits until another session has ended")
	}
	where, err := place(ctx, c.Live, t)
	var nowhere errNowhere
	if errors.As(err, &nowhere) {
		return soon, c.finish(ctx, t, api.Refused, err.Error())
	}
	if err != nil {
		return 0, err
	}
	s, err := c.Config.Start(&t.Spec, where)
	if err != nil {
		return soon, c.finish(ctx, t, api.Refused, err.Error())
	}
	c.mu.Lock()
	if c.runs == nil {
		c.runs = map[types.UID]*session.Session{}
	}
	c.runs[t.UID] = s
	c.mu.Unlock()
	now := metav1.Now()
	t.Status.Started = &now
	s.Tell(&t.Status)
	t.Status.Phase = api.Running // also if it has ended: that is told by the next step
	c.Events.Eventf(t, nil, corev1.EventTypeNormal, "Started", "Trace", "a session of %s",
		t.Spec.RequestedBy.Name)
	return c.Every, c.write(ctx, t)
}

// wait writes why a Trace has not begun.
func (c *Controller) wait(ctx context.Context, t *api.Trace, why string) error {
	if t.Status.Phase == api.Pending && t.Status.Message == why {
		return nil
	}
	t.Status.Phase, t.Status.Message = api.Pending, why
	return c.write(ctx, t)
}
