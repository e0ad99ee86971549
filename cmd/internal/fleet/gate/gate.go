// Package gate admits traces: who asks is written into them, and what they may not ask for, or is wrong with their
// scripts, is answered at once.
//
// In: requests of the API server for admission. Out: answers; a refusal has the message of gostap with its caret.
package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	authv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/fleet/api"
)

// Script checks what a Trace would run: command.Checker.
type Script interface {
	Check(ctx context.Context, s *api.Spec) (warning string, err error)
}

// Namer is the first hook: it writes the user's name into a new Trace, whatever stood there.
type Namer struct{}

// Handle answers a request.
func (Namer) Handle(_ context.Context, r admission.Request) admission.Response {
	if r.Operation != admissionv1.Create {
		return admission.Allowed("")
	}
	// What this version does not know stays: the text is changed, not the type.
	var raw map[string]any
	if err := json.Unmarshal(r.Object.Raw, &raw); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	spec, ok := raw["spec"].(map[string]any)
	if !ok {
		return admission.Errored(http.StatusBadRequest, errors.New("there is no spec"))
	}
	spec["requestedBy"] = user(&r)
	now, err := json.Marshal(raw)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(r.Object.Raw, now)
}

func user(r *admission.Request) api.User {
	u := &r.UserInfo
	return api.User{Name: u.Username, UID: u.UID, Groups: u.Groups}
}

// Guard is the second hook, which comes after all that change a Trace: it refuses.
type Guard struct {
	// Client asks whether users have a verb.
	Client client.Client
	Script Script
}

// Handle answers a request.
func (g *Guard) Handle(ctx context.Context, r admission.Request) admission.Response {
	var t, old api.Trace
	if err := json.Unmarshal(r.Object.Raw, &t); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if r.Operation == admissionv1.Update {
		if err := json.Unmarshal(r.OldObject.Raw, &old); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if !reflect.DeepEqual(t.Spec, old.Spec) {
			return admission.Denied("the spec of a Trace is not changed: make a new one")
		}
		return admission.Allowed("")
	}
	if r.Operation != admissionv1.Create {
		return admission.Allowed("")
	}
	if u := user(&r); u.Name != t.Spec.RequestedBy.Name || u.UID != t.Spec.RequestedBy.UID ||
		!slices.Equal(u.Groups, t.Spec.RequestedBy.Groups) {
		return admission.Denied("spec.requestedBy is set by gostap-fleet alone, and was changed by another webhook")
	}
	for _, need := range []struct {
		verb, what string
		asked      bool
	}{
		{api.VerbScript, "runs a script", t.Spec.Script != ""},
		{api.VerbGuru, "changes what it traces (spec.guru)", t.Spec.Guru},
	} {
		if !need.asked {
			continue
		}
		ok, err := g.may(ctx, &r, need.verb)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		if !ok {
			return admission.Denied(fmt.Sprintf("this Trace %s, and user %q has not the verb %q on traces.%s in the "+
				"namespace %q", need.what, r.UserInfo.Username, need.verb, api.Group, r.Namespace))
		}
	}
	warning, err := g.Script.Check(ctx, &t.Spec)
	var refused *asked.Refusal
	switch {
	case errors.As(err, &refused):
		return admission.Denied("\n" + refused.Text)
	case err != nil:
		return admission.Errored(http.StatusInternalServerError, err)
	case warning != "":
		// Each is a header of HTTP: the API server drops one with an end of line.
		return admission.Allowed("").WithWarnings(strings.Split(strings.TrimSpace(warning), "\n")...)
	}
	return admission.Allowed("")
}

// may asks whether who made the request has a verb on traces of its namespace.
func (g *Guard) may(ctx context.Context, r *admission.Request, verb string) (bool, error) {
	extra := map[string]authv1.ExtraValue{}
	for k, v := range r.UserInfo.Extra {
		extra[k] = authv1.ExtraValue(v)
	}
	review := &authv1.SubjectAccessReview{Spec: authv1.SubjectAccessReviewSpec{
		User: r.UserInfo.Username, UID: r.UserInfo.UID, Groups: r.UserInfo.Groups, Extra: extra,
		ResourceAttributes: &authv1.ResourceAttributes{Namespace: r.Namespace, Verb: verb, Group: api.Group,
			Version: api.Version, Resource: api.Resource, Name: r.Name},
	}}
	if err := g.Client.Create(ctx, review); err != nil {
		return false, fmt.Errorf("whether user %q has the verb %q could not be asked: %w", r.UserInfo.Username, verb,
			err)
	}
	return review.Status.Allowed && !review.Status.Denied, nil
}
