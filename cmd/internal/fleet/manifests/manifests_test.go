package manifests

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/fleet/command"
)

// fields holds a schema against a type of Go: each field is there under its name and its kind, and nothing else.
func fields(t *testing.T, at string, s *apiextensionsv1.JSONSchemaProps, typ reflect.Type) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	kind := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int32: "integer",
		reflect.Int64: "integer", reflect.Struct: "object", reflect.Map: "object", reflect.Slice: "array"}[typ.Kind()]
	if typ == reflect.TypeFor[metav1.Time]() {
		kind = "string"
	}
	if s.Type != kind {
		t.Errorf("%s is %q in the definition and %s in Go", at, s.Type, typ)
		return
	}
	switch {
	case kind == "array":
		fields(t, at+"[]", s.Items.Schema, typ.Elem())
	case kind == "object" && typ.Kind() == reflect.Map:
		fields(t, at+"{}", s.AdditionalProperties.Schema, typ.Elem())
	case kind == "object":
		var names []string
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			names = append(names, name)
			p, ok := s.Properties[name]
			if !ok {
				t.Errorf("%s.%s is not in the definition", at, name)
				continue
			}
			fields(t, at+"."+name, &p, typ.Field(i).Type)
		}
		for name := range s.Properties {
			if !slices.Contains(names, name) {
				t.Errorf("%s.%s is not in Go", at, name)
			}
		}
	}
}

func TestDefinition(t *testing.T) {
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict([]byte(crd), &d); err != nil {
		t.Fatal(err)
	}
	v := d.Spec.Versions[0]
	if d.Spec.Group != api.Group || v.Name != api.Version || d.Spec.Names.Plural != api.Resource ||
		v.Subresources == nil {
		t.Errorf("%+v", d.Spec)
	}
	spec, status := v.Schema.OpenAPIV3Schema.Properties["spec"], v.Schema.OpenAPIV3Schema.Properties["status"]
	fields(t, "spec", &spec, reflect.TypeFor[api.Spec]())
	fields(t, "status", &status, reflect.TypeFor[api.Status]())
	for _, at := range []apiextensionsv1.JSONSchemaProps{status.Properties["phase"],
		status.Properties["nodes"].Items.Schema.Properties["phase"]} {
		var phases []string
		for _, p := range []api.Phase{api.Pending, api.Running, api.Done, api.Refused, api.Failed} {
			phases = append(phases, `"`+string(p)+`"`)
		}
		var has []string
		for _, e := range at.Enum {
			has = append(has, string(e.Raw))
		}
		if !slices.Equal(phases, has) {
			t.Errorf("phases %v, in Go %v", has, phases)
		}
	}
}

func TestWrite(t *testing.T) {
	for _, url := range []string{"", "https://10.1.2.3:9443"} {
		var out bytes.Buffer
		o := Options{Namespace: "fleet", Agents: "agents", Image: "images.example/gostap:1.0", Replicas: 2, URL: url,
			Valid: time.Hour, Exports: command.Exports{"otel": `otlp://h:1?"`, "a": "otlp://h:2"}}
		if err := Write(&out, o); err != nil {
			t.Fatal(err)
		}
		if i := strings.Index(out.String(), "{{"); i >= 0 {
			t.Errorf("left: %.40s", out.String()[i:])
		}
		if !strings.Contains(out.String(),
			`--certs, /tls, "--export", "a=otlp://h:2", "--export", "otel=otlp://h:1?\""]`) {
			t.Error("the destinations are not there")
		}
		kinds := map[string]int{}
		var secret corev1.Secret
		var guard admissionregistrationv1.ValidatingWebhookConfiguration
		for _, doc := range strings.Split(out.String(), "\n---\n") {
			var m metav1.TypeMeta
			if err := yaml.Unmarshal([]byte(doc), &m); err != nil {
				t.Fatal(err)
			}
			kinds[m.Kind]++
			into := map[string]any{"Secret": &secret, "ValidatingWebhookConfiguration": &guard,
				"MutatingWebhookConfiguration": new(admissionregistrationv1.MutatingWebhookConfiguration),
				"Deployment":                   new(appsv1.Deployment), "Service": new(corev1.Service),
				"ClusterRole": new(rbacv1.ClusterRole), "Role": new(rbacv1.Role), "Namespace": new(corev1.Namespace),
				"RoleBinding": new(rbacv1.RoleBinding), "ClusterRoleBinding": new(rbacv1.ClusterRoleBinding),
				"ServiceAccount":           new(corev1.ServiceAccount),
				"CustomResourceDefinition": new(apiextensionsv1.CustomResourceDefinition)}[m.Kind]
			if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
				t.Errorf("%s: %v\n%s", m.Kind, err, doc)
			}
		}
		if kinds["ClusterRole"] != 5 || kinds["Deployment"] != 1 || kinds["CustomResourceDefinition"] != 1 {
			t.Errorf("%v", kinds)
		}
		pair, err := tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"])
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		hook := guard.Webhooks[0].ClientConfig
		if !pool.AppendCertsFromPEM(hook.CABundle) {
			t.Fatal("no CA")
		}
		host := "gostap-fleet.fleet.svc"
		if url != "" {
			host = "10.1.2.3"
			if hook.Service != nil || hook.URL == nil || *hook.URL != url+"/validate" {
				t.Errorf("%+v", hook)
			}
		} else if hook.URL != nil || hook.Service == nil || *hook.Service.Path != "/validate" ||
			hook.Service.Namespace != "fleet" {
			t.Errorf("%+v", hook)
		}
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: host}); err != nil {
			t.Error(err)
		}
	}
	for _, o := range []Options{
		{Namespace: "a b", Agents: "x", Image: "i"}, {Namespace: "a", Agents: "", Image: "i"},
		{Namespace: "a", Agents: "b", Image: "i\"\nx: y"}, {Namespace: "a", Agents: "b", Image: "i", Replicas: -1},
		{Namespace: "a", Agents: "b", Image: "i", URL: "http://h"},
		{Namespace: "a", Agents: "b", Image: "i", URL: "https://h/path"},
	} {
		var out bytes.Buffer
		if err := Write(&out, o); err == nil || out.Len() > 0 {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
