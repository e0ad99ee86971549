package manifests

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"reflect"
	"regexp"
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

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/fleet/api"
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
	if err := yaml.UnmarshalStrict([]byte(CRD), &d); err != nil {
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
			Valid: time.Hour, Metrics: 9478, Exports: asked.Exports{"otel": `otlp://h:1?"`, "a": "otlp://h:2"}}
		if err := Write(&out, o); err != nil {
			t.Fatal(err)
		}
		if i := strings.Index(out.String(), "{{"); i >= 0 {
			t.Errorf("left: %.40s", out.String()[i:])
		}
		if !strings.Contains(out.String(),
			`--certs, /tls, --health, ":9440", --metrics, ":9478", `+
				`"--export", "a=otlp://h:2", "--export", "otel=otlp://h:1?\""]`) {
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
	good := Options{Namespace: "a", Agents: "b", Image: "i", Valid: time.Hour}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(o *Options){
		"namespace": func(o *Options) { o.Namespace = "a b" }, "agents": func(o *Options) { o.Agents = "" },
		"image": func(o *Options) { o.Image = "i\"\nx: y" }, "replicas": func(o *Options) { o.Replicas = -1 },
		"replicas too": func(o *Options) { o.Replicas = 101 }, "http": func(o *Options) { o.URL = "http://h" },
		"metrics": func(o *Options) { o.Metrics = 80 }, "metrics taken": func(o *Options) { o.Metrics = 9443 },
		"agents' metrics": func(o *Options) { o.AgentMetrics = -1 },
		"path":            func(o *Options) { o.URL = "https://h/path" }, "valid": func(o *Options) { o.Valid = 0 },
	} {
		var out bytes.Buffer
		o := good
		change(&o)
		if err := Write(&out, o); err == nil || out.Len() > 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestKept: a certificate is kept as long as it is good for its name, and another one begins the pods anew.
func TestKept(t *testing.T) {
	const host, valid = "gostap-fleet.fleet.svc", 300 * time.Hour
	c, err := NewCertificate(host, valid)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewCertificate(host, valid)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for what, x := range map[string]struct {
		c    Certificate
		host string
		at   time.Time
		want bool
	}{
		"new":             {*c, host, now, true},
		"before a third":  {*c, host, now.Add(valid*2/3 - 2*time.Hour), true},
		"after a third":   {*c, host, now.Add(valid*2/3 + 2*time.Hour), false},
		"old":             {*c, host, now.Add(valid + time.Hour), false},
		"not yet":         {*c, host, now.Add(-2 * time.Hour), false},
		"another name":    {*c, "gostap-fleet.other.svc", now, false},
		"another's key":   {Certificate{c.CA, c.Cert, other.Key}, host, now, false},
		"another's maker": {Certificate{other.CA, c.Cert, c.Key}, host, now, false},
		"no maker":        {Certificate{nil, c.Cert, c.Key}, host, now, false},
		"nothing":         {Certificate{}, host, now, false},
		"no PEM":          {Certificate{[]byte("a"), []byte("b"), []byte("c")}, host, now, false},
	} {
		if got := x.c.Good(x.host, x.at); got != x.want {
			t.Errorf("%s: %v", what, got)
		}
	}
	o := Options{Namespace: "fleet", Agents: "agents", Image: "i", Valid: valid, Keep: c}
	write := func() string {
		var out strings.Builder
		if err := Write(&out, o); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	first := write()
	if write() != first {
		t.Error("the same certificate gives other objects")
	}
	if at := now.Add(-time.Hour).Add((valid + time.Hour) * 2 / 3); !strings.Contains(first,
		`gostap.dev/renew: "`+at.UTC().Format("2006-01-02T15:")) {
		t.Errorf("not made anew at %v:\n%s", at, first)
	}
	digest := regexp.MustCompile(`gostap.dev/certificate: "(\w{64})"`)
	o.Keep = other
	if a, b := digest.FindStringSubmatch(first), digest.FindStringSubmatch(write()); a == nil || b == nil ||
		a[1] == b[1] {
		t.Errorf("%v, %v", a, b)
	}
	o.Keep = &Certificate{} // what nobody asks for
	write()
}
