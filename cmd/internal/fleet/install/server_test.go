package install

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/gostap/gostap/cmd/internal/fleet/manifests"
)

// kinds are what the server below knows: group and version, plural, whether it is in namespaces.
var kinds = map[string]struct {
	gv, plural string
	spaced     bool
}{
	"Namespace": {"v1", "namespaces", false}, "Secret": {"v1", "secrets", true}, "Service": {"v1", "services", true},
	"ServiceAccount": {"v1", "serviceaccounts", true}, "Pod": {"v1", "pods", true}, "Event": {"v1", "events", true},
	"ConfigMap": {"v1", "configmaps", true}, "Lease": {"coordination.k8s.io/v1", "leases", true},
	"Deployment": {"apps/v1", "deployments", true}, "DaemonSet": {"apps/v1", "daemonsets", true},
	"ClusterRole":              {"rbac.authorization.k8s.io/v1", "clusterroles", false},
	"ClusterRoleBinding":       {"rbac.authorization.k8s.io/v1", "clusterrolebindings", false},
	"Role":                     {"rbac.authorization.k8s.io/v1", "roles", true},
	"RoleBinding":              {"rbac.authorization.k8s.io/v1", "rolebindings", true},
	"CustomResourceDefinition": {"apiextensions.k8s.io/v1", "customresourcedefinitions", false},
	"MutatingWebhookConfiguration": {"admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations",
		false},
	"ValidatingWebhookConfiguration": {"admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", false},
	"Trace":                          {"gostap.dev/v1alpha1", "traces", true},
}

func root(gv string) string {
	if strings.Contains(gv, "/") {
		return "/apis/" + gv
	}
	return "/api/" + gv
}

// server is as much of an API server as is asked here: applying replaces, and what is deleted is gone.
type server struct {
	t       *testing.T
	mu      sync.Mutex
	objects map[string]map[string]any // by their paths
	asked   []string                  // what would change something: verb, path, query
	version int
	// answer may answer in place of the server.
	answer func(verb, path string) *metav1.Status
	// stuck says that no pod gets ready, kept that no Trace ends.
	stuck, kept bool
	url         string
}

func newServer(t *testing.T) *server {
	s := &server{t: t, objects: map[string]map[string]any{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// put has an object there.
func (s *server) put(text string) {
	s.t.Helper()
	var x map[string]any
	if err := yaml.Unmarshal([]byte(text), &x); err != nil {
		s.t.Fatal(err)
	}
	m := x["metadata"].(map[string]any)
	k := kinds[x["kind"].(string)]
	at := root(k.gv)
	if n, _ := m["namespace"].(string); n != "" {
		at += "/namespaces/" + n
	}
	s.objects[at+"/"+k.plural+"/"+m["name"].(string)] = x
}

func status(code int, reason metav1.StatusReason, format string, args ...any) *metav1.Status {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure",
		Code: int32(code), Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	verb := strings.ToLower(r.Method)
	var out any
	if s.answer != nil {
		if st := s.answer(verb, r.URL.Path); st != nil {
			out = st
		}
	}
	if verb != "get" {
		s.asked = append(s.asked, verb+" "+r.URL.Path+"?"+r.URL.RawQuery)
	}
	body, _ := io.ReadAll(r.Body)
	dry := strings.Contains(r.URL.RawQuery, "dryRun=All") || bytes.Contains(body, []byte(`"dryRun":["All"]`))
	if out == nil {
		out = s.serve(verb, r.URL.Path, body, dry)
	}
	w.Header().Set("Content-Type", "application/json")
	if st, ok := out.(*metav1.Status); ok {
		w.WriteHeader(int(st.Code))
	}
	json.NewEncoder(w).Encode(out)
}

func (s *server) serve(verb, at string, body []byte, dry bool) any {
	if out := discover(at); out != nil {
		return out
	}
	there := s.objects[at]
	missing := status(404, metav1.StatusReasonNotFound, "%s not found", path.Base(at))
	switch {
	case verb == "get" && there != nil:
		return there
	case verb == "get":
		for _, k := range kinds {
			if path.Base(at) == k.plural {
				return s.list(at, k.plural)
			}
		}
		return missing
	case verb == "delete" && there == nil:
		return missing
	case verb == "delete":
		if !dry && !(s.kept && strings.Contains(at, "/traces/")) {
			delete(s.objects, at)
		}
		return map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Success"}
	case verb != "patch":
		return status(405, metav1.StatusReasonMethodNotAllowed, "%s", verb)
	}
	if i := strings.Index(at, "/namespaces/"); i >= 0 && path.Base(path.Dir(at)) != "namespaces" {
		space, _, _ := strings.Cut(at[i+len("/namespaces/"):], "/")
		if s.objects["/api/v1/namespaces/"+space] == nil {
			return status(404, metav1.StatusReasonNotFound, "namespaces %q not found", space)
		}
	}
	var x map[string]any
	if err := yaml.Unmarshal(body, &x); err != nil {
		return status(400, metav1.StatusReasonBadRequest, "%v", err)
	}
	m := x["metadata"].(map[string]any)
	m["generation"], m["uid"] = 1, "u"
	st := map[string]any{"observedGeneration": 1, "desiredNumberScheduled": 2, "updatedNumberScheduled": 2,
		"updatedReplicas": 2, "replicas": 2}
	if !s.stuck {
		st["numberAvailable"], st["availableReplicas"] = 2, 2
	}
	if k := x["kind"]; k == "Deployment" || k == "DaemonSet" {
		x["status"] = st
	}
	s.version++
	m["resourceVersion"] = fmt.Sprint(s.version)
	if !dry {
		s.objects[at] = x
	}
	return x
}

func (s *server) list(at, plural string) any {
	items := []any{}
	for _, p := range slices.Sorted(maps.Keys(s.objects)) {
		all := strings.HasSuffix(p, "/"+plural+"/"+path.Base(p)) && strings.HasPrefix(p, path.Dir(at)+"/")
		if path.Dir(p) == at || all && !strings.Contains(at, "/namespaces/") {
			items = append(items, s.objects[p])
		}
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": items}
}

// discover says which kinds there are.
func discover(at string) any {
	switch at {
	case "/version":
		return map[string]any{"major": "1", "minor": "37"}
	case "/api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "/apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		seen := map[string]bool{"v1": true}
		for _, k := range kinds {
			if group, version, _ := strings.Cut(k.gv, "/"); !seen[k.gv] {
				seen[k.gv] = true
				v := metav1.GroupVersionForDiscovery{GroupVersion: k.gv, Version: version}
				list.Groups = append(list.Groups, metav1.APIGroup{Name: group, PreferredVersion: v,
					Versions: []metav1.GroupVersionForDiscovery{v}})
			}
		}
		return list
	}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}}
	for kind, k := range kinds {
		if root(k.gv) == at {
			list.GroupVersion = k.gv
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: k.plural, Kind: kind,
				Namespaced: k.spaced, Verbs: metav1.Verbs{"get", "list", "delete", "patch"}})
		}
	}
	if list.GroupVersion == "" {
		return nil
	}
	return list
}

// options are those of tests.
func options() Options {
	return Options{Options: manifests.Options{Namespace: "gostap", Agents: "gostap", Image: "images.example/fleet:1",
		Replicas: 2, Valid: 1000 * time.Hour}, AgentImage: "images.example/gostap:1", Wait: time.Minute}
}

// run installs or uninstalls, and gives what is printed and asked.
func (s *server) run(do func(context.Context, *Cluster, Options) error, o Options) (out string, asked []string,
	err error) {
	s.t.Helper()
	var b strings.Builder
	c, err := New(&rest.Config{Host: s.url}, &b, io.Discard)
	if err != nil {
		s.t.Fatal(err)
	}
	c.between = 5 * time.Millisecond
	s.asked = nil
	err = do(context.Background(), c, o)
	return b.String(), s.asked, err
}
