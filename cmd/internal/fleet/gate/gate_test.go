package gate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/fleet/api"
)

// answers is an API server in which a user has some verbs.
func answers(t *testing.T, verbs ...string) client.Client {
	s := runtime.NewScheme()
	if err := authv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(s).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			r := o.(*authv1.SubjectAccessReview)
			a := r.Spec.ResourceAttributes
			r.Status.Allowed = r.Spec.User == "ann" && slices.Equal(r.Spec.Groups, []string{"dev"}) &&
				a.Namespace == "shop" && a.Group == "gostap.dev" && a.Resource == "traces" &&
				slices.Contains(verbs, a.Verb)
			return nil
		}}).Build()
}

// said is what the check of a script answers.
type said struct {
	warning string
	err     error
}

func (s said) Check(context.Context, *api.Spec) (string, error) { return s.warning, s.err }

func request(t *testing.T, op admissionv1.Operation, trace, old string) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: op, Namespace: "shop", Name: "x",
		Object: runtime.RawExtension{Raw: []byte(trace)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
		UserInfo: authenticationv1.UserInfo{Username: "ann", UID: "7", Groups: []string{"dev"}},
	}}
}

const by = `"requestedBy":{"name":"ann","uid":"7","groups":["dev"]}`

func TestNamer(t *testing.T) {
	for _, in := range []string{`{"spec":{"tool":"syscount","later":1}}`,
		`{"spec":{"tool":"syscount","later":1,"requestedBy":{"name":"root","groups":["system:masters"]}}}`} {
		r := Namer{}.Handle(t.Context(), request(t, admissionv1.Create, in, ""))
		patch, err := json.Marshal(r.Patches)
		if err != nil || !r.Allowed || !strings.Contains(string(patch), `"ann"`) {
			t.Errorf("%s: %+v %s", in, r, patch)
		}
		if strings.Contains(string(patch), "later") {
			t.Errorf("what is not known is touched: %s", patch)
		}
	}
	if r := (Namer{}).Handle(t.Context(), request(t, admissionv1.Update, `{"spec":{}}`, `{}`)); len(r.Patches) > 0 {
		t.Errorf("a change is patched: %v", r.Patches)
	}
	if r := (Namer{}).Handle(t.Context(), request(t, admissionv1.Create, `{"spec":7}`, "")); r.Allowed {
		t.Error("a spec that is a number is allowed")
	}
}

func TestGuard(t *testing.T) {
	caret := &asked.Refusal{Text: "<input>:1:15: error: no function is named foo\n" +
		"  probe begin { foo() }\n                ^~~"}
	for _, c := range []struct {
		name  string
		op    admissionv1.Operation
		trace string
		old   string
		verbs []string
		said  said
		want  string // "" if it is allowed
	}{
		{"tool", admissionv1.Create, `{"spec":{"tool":"syscount",` + by + `}}`, "", nil, said{}, ""},
		{"script", admissionv1.Create, `{"spec":{"script":"probe end {}",` + by + `}}`, "", []string{"guru"}, said{},
			`user "ann" has not the verb "script" on traces.gostap.dev in the namespace "shop"`},
		{"script of who may", admissionv1.Create, `{"spec":{"script":"probe end {}",` + by + `}}`, "",
			[]string{"script"}, said{}, ""},
		{"guru", admissionv1.Create, `{"spec":{"tool":"syscount","guru":true,` + by + `}}`, "", []string{"script"},
			said{},
			`has not the verb "guru"`},
		{"guru and script", admissionv1.Create, `{"spec":{"script":"probe end {}","guru":true,` + by + `}}`, "",
			[]string{"script", "guru"}, said{}, ""},
		{"another's name", admissionv1.Create, `{"spec":{"tool":"syscount","requestedBy":{"name":"root"}}}`, "", nil,
			said{}, "set by gostap-fleet alone"},
		{"another's groups", admissionv1.Create,
			`{"spec":{"tool":"syscount","requestedBy":{"name":"ann","uid":"7","groups":["dev","ops"]}}}`, "", nil,
			said{}, "set by gostap-fleet alone"},
		{"wrong script", admissionv1.Create, `{"spec":{"script":"probe begin { foo() }",` + by + `}}`, "",
			[]string{"script"}, said{err: caret}, "\n" + caret.Text},
		{"no check", admissionv1.Create, `{"spec":{"tool":"syscount",` + by + `}}`, "", nil,
			said{err: errors.New("gostap is away")}, "gostap is away"},
		{"changed", admissionv1.Update, `{"spec":{"tool":"syscount","guru":true}}`, `{"spec":{"tool":"syscount"}}`, nil,
			said{}, "is not changed"},
		{"another's name later", admissionv1.Update, `{"spec":{"tool":"syscount","requestedBy":{"name":"x"}}}`,
			`{"spec":{"tool":"syscount",` + by + `}}`, nil, said{}, "is not changed"},
		{"a finalizer", admissionv1.Update, `{"metadata":{"finalizers":["a/b"]},"spec":{"tool":"syscount"}}`,
			`{"spec":{"tool":"syscount"}}`, nil, said{err: caret}, ""},
		{"no JSON", admissionv1.Create, `{`, "", nil, said{}, "unexpected end"},
	} {
		g := &Guard{Client: answers(t, c.verbs...), Script: c.said}
		r := g.Handle(t.Context(), request(t, c.op, c.trace, c.old))
		if r.Allowed != (c.want == "") || c.want != "" && !strings.Contains(r.Result.Message, c.want) {
			t.Errorf("%s: allowed %v: %+v", c.name, r.Allowed, r.Result)
		}
	}
	g := &Guard{Client: answers(t), Script: said{warning: "not here\nbut there\n"}}
	r := g.Handle(t.Context(), request(t, admissionv1.Create, `{"spec":{"tool":"syscount",`+by+`}}`, ""))
	if !r.Allowed || !slices.Equal(r.Warnings, []string{"not here", "but there"}) {
		t.Errorf("no warning: %+v", r)
	}
}
