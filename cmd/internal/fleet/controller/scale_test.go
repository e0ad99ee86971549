package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/page/state"
	"github.com/gostap/gostap/tests/patience"
)

// mostObject is what an API server takes of one object (etcd's limit of a request).
const mostObject = 1536 << 10

// largePage is a page whose state is larger each time, and always than a status has room for.
func largePage(t *testing.T) (address string) {
	t.Helper()
	rnd, n := rand.New(rand.NewPCG(1, 2)), 0
	word := func() string { return fmt.Sprintf("%x%x%x%x", rnd.Uint64(), rnd.Uint64(), rnd.Uint64(), rnd.Uint64()) }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		now := state.State{State: state.Running, Now: int64(n), Last: uint64(n) * 500}
		for i := range 500 {
			now.Lines = append(now.Lines, state.Line{Number: uint64(n-1)*500 + uint64(i) + 1, Text: word()})
		}
		for i := range 20 {
			g := state.Global{Name: fmt.Sprint("a", i), Keys: 1, Of: 1000 + n}
			for range 200 {
				g.Rows = append(g.Rows, state.Row{Key: []string{word()}, Value: fmt.Sprint(n)})
			}
			for range 500 {
				g.Stacks = append(g.Stacks, state.Stack{Functions: word() + ";" + word(), Value: float64(n)})
			}
			now.Globals = append(now.Globals, g)
		}
		json.NewEncoder(w).Encode(&now)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/token/"
}

// TestScale: a session over many nodes writes its status as often as one over few, and the status stays an object that
// an API server takes, whatever the nodes say, the script prints and the page shows.
func TestScale(t *testing.T) {
	for _, c := range []struct {
		nodes int
		says  string // each node's warning, of shell's printf
	}{{3, "a warning"}, {1000, "a warning"}, {1000, "%08000d"}, {5000, "%0200d"},
		{20000, "%0100d"}} {
		t.Run(fmt.Sprintf("%d/%s", c.nodes, c.says), func(t *testing.T) {
			l := newLab(t, `echo '{"at":"2026-01-02T03:04:05Z","page":"`+largePage(t)+`"}' >&2
			`+fmt.Sprintf(`awk 'BEGIN {
				for (i = 0; i < %d; i++) {
					at = "{\"at\":\"2026-01-02T03:04:05Z\",\"node\":\"node-" i "\""
					pod = ",\"pod\":\"cart-" i "\",\"state\":\"traced\"}"; who = ",\"agent\":\"agent-" i "\""
					print at who ",\"state\":\"begins\"}"; print at who ",\"state\":\"runs\"}"; print at pod
					print at who ",\"said\":\"WARNING: 1 " sprintf(%q, i) "\"}"
				}
			}' >&2
			trap 'echo done; exit 0' INT
			while :; do head -c 100000 /dev/zero | tr '\0' x; sleep 0.05; done`, c.nodes, c.says),
				trace("x", func(x *api.Trace) { x.Spec.Limits.Bytes, x.Spec.Page = 262144, true }))
			writes, most, bytes := 0, 0, 0
			l.c.Client = interceptor.NewClient(l.Client.(client.WithWatch), interceptor.Funcs{
				SubResourceUpdate: func(ctx context.Context, cl client.Client, sub string, o client.Object,
					opts ...client.SubResourceUpdateOption) error {
					b, err := json.Marshal(o)
					if err != nil {
						t.Fatal(err)
					}
					writes, most, bytes = writes+1, max(most, len(b)), bytes+len(b)
					return cl.SubResource(sub).Update(ctx, o, opts...)
				}})
			l.c.Every = 200 * time.Millisecond
			begun, over := time.Now(), patience.After(time.Minute)
			for page := 0; writes < 6 || page == 0; { // a busy machine takes longer for the page
				x, r := l.step("x")
				page = len(x.Status.Page)
				select {
				case <-over:
					t.Fatalf("%d writes, and a page of %d bytes", writes, page)
				case <-time.After(r.RequeueAfter):
				}
			}
			took := time.Since(begun)
			x, _ := l.step("x")
			total := x.Status.Totals
			if total.Nodes != int32(c.nodes) || total.Lost != int64(c.nodes) || total.Pods != total.Nodes ||
				total.Running != total.Nodes || int(total.Left)+len(x.Status.Nodes) != c.nodes {
				t.Errorf("%d nodes are listed, %+v", len(x.Status.Nodes), total)
			}
			l.c.run(x.UID).Stop()
			l.until("x", finished)
			t.Logf("%d nodes: %.1f writes/s, of %d KB in the mean and %d KB at most", c.nodes,
				float64(writes)/took.Seconds(), bytes/writes>>10, most>>10)
			// A moment may be missed, none is written twice.
			if limit := took.Seconds()/l.c.Every.Seconds() + 3; float64(writes) > limit {
				t.Errorf("%d writes in %v", writes, took)
			}
			if most > mostObject {
				t.Errorf("an object of %d bytes", most)
			}
			if page := len(x.Status.Page); page > 192<<10 || page < 128<<10 {
				t.Errorf("a page of %d bytes", page)
			}
		})
	}
}
