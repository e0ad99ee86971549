package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/cmd/internal/fleet/manifests"
)

// free are addresses of this machine at which nobody listens.
func free(t *testing.T, n int) (out []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().String())
	}
	return out
}

// get asks until there is an answer of the status that is wanted.
func get(t *testing.T, url string, want int) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		r, err := http.Get(url)
		if err == nil {
			text, _ := io.ReadAll(r.Body)
			r.Body.Close()
			if r.StatusCode == want {
				return string(text)
			}
			err = fmt.Errorf("%s: %s", r.Status, text)
		}
		if time.Now().After(end) {
			t.Fatal(url, ": ", err)
		}
	}
}

// TestWatched: a controller that does not lead, since the API server has no lease for it, lives, is ready since it
// answers webhooks, and tells metrics, whose labels name nobody.
func TestWatched(t *testing.T) {
	const env = "GOSTAP_TEST_FLEET"
	if args := os.Getenv(env); args != "" {
		if err := do(strings.Fields(args), os.Stdout); err != nil {
			t.Fatal(err)
		}
		return
	}
	cluster := httptest.NewServer(http.NotFoundHandler())
	defer cluster.Close()
	dir := t.TempDir()
	made, err := manifests.NewCertificate("gostap-fleet.gostap.svc", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"tls.crt": string(made.Cert), "tls.key": string(made.Key), "gostap": "", "config": `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}],
			clusters: [{name: c, cluster: {server: "` + cluster.URL + `"}}]}`}
	for name, text := range files {
		text = strings.ReplaceAll(text, "\t", " ")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := free(t, 3)
	cmd := exec.Command(os.Args[0], "-test.run=^TestWatched$")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+dir+"/config", env+"=run --certs "+dir+" --gostap "+dir+
		"/gostap --listen "+at[0]+" --metrics "+at[1]+" --health "+at[2])
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	get(t, "http://"+at[2]+"/healthz", 200)
	get(t, "http://"+at[2]+"/readyz", 200)
	text := get(t, "http://"+at[1]+"/metrics", 200)
	for _, want := range []string{"\ngostap_fleet_leader 0\n", "\ngostap_fleet_sessions_limit 32\n",
		"\ngostap_fleet_status_writes_total 0\n", "\nprocess_resident_memory_bytes "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if m := regexp.MustCompile(`.*[{,](namespace|user|trace|pod|node)=.*`).FindString(text); m != "" {
		t.Errorf("somebody is named: %s", m)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, said.String())
	}
}
