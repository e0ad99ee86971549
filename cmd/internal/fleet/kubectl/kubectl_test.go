package kubectl

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

func TestParse(t *testing.T) {
	r, err := parse([]string{"exec", "-i", "-q", "--namespace", "a", "p", "--container", "c", "--", "gostap", "-x"})
	if err != nil || r.namespace != "a" || r.pod != "p" || r.container != "c" ||
		!slices.Equal(r.command, []string{"gostap", "-x"}) {
		t.Errorf("%+v %v", r, err)
	}
	for _, words := range []string{"get pods --namespace a --selector x=y --output json",
		"get pods --namespace a --selector x=y --watch --output-watch-events --output json"} {
		r, err := parse(strings.Fields(words))
		if err != nil || r.selector != "x=y" || r.watch != strings.Contains(words, "watch") || r.pod != "" {
			t.Errorf("%+v %v", r, err)
		}
	}
	r, err = parse(strings.Fields("get node lab1 --output json"))
	if err != nil || r.node != "lab1" {
		t.Errorf("%+v %v", r, err)
	}
	for _, words := range []string{"", "get pods", "get node --output json", "get node a", "get nodes a --output json",
		"get node a --output json --watch", "get secrets --namespace a --selector x --output json",
		"get pods --selector x --output json", "get pods --namespace a --output json", "delete pod x --namespace a",
		"exec -i p -- sh", "exec --namespace a p -- sh", "exec -i --namespace a p sh", "get pods --namespace a -l x",
		"get pods p --namespace a -l x -o json", "get pods --namespace a -l x -o json -w"} {
		if r, err := parse(strings.Fields(words)); err == nil {
			t.Errorf("%q: %+v", words, r)
		}
	}
}

// TestGet: the API server is asked for the pods of one namespace with a selector, for JSON, and its answer passed on.
func TestGet(t *testing.T) {
	var asked *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked = r; r.URL.Path != "/api/v1/namespaces/shop/pods" {
			http.Error(w, `{"kind":"Status","status":"Failure","message":"pods is forbidden"}`,
				http.StatusForbidden)
			return
		}
		w.Write([]byte("{\"kind\":\"PodList\",\"items\":[]}\n"))
	}))
	defer s.Close()
	for _, watch := range []bool{false, true} {
		var out bytes.Buffer
		r := request{namespace: "shop", selector: "app=cart,x", watch: watch}
		if err := r.get(t.Context(), &rest.Config{Host: s.URL}, &out); err != nil {
			t.Fatal(err)
		}
		q := asked.URL.Query()
		if q.Get("labelSelector") != "app=cart,x" || (q.Get("watch") != "") != watch ||
			asked.Header.Get("Accept") != "application/json" || !strings.Contains(out.String(), `"PodList"`) {
			t.Errorf("%v %v %q", asked.URL, asked.Header, out.String())
		}
	}
	r := request{node: "lab1"}
	if err := r.get(t.Context(), &rest.Config{Host: s.URL}, new(bytes.Buffer)); err == nil ||
		asked.URL.Path != "/api/v1/nodes/lab1" {
		t.Errorf("%v: %s", err, asked.URL.Path)
	}
	r = request{namespace: "other", selector: "x"}
	if err := r.get(t.Context(), &rest.Config{Host: s.URL}, new(bytes.Buffer)); err == nil {
		t.Error("a refusal is no error")
	}
}
