package tests

import (
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// helmRelease is the release of Helm that is built.
const helmRelease = "v3.22.0"

// realHelm is Helm.
func realHelm(t *testing.T) string {
	return realProgram(t, "GOSTAP_HELM", "helm-"+helmRelease, func(to string) *exec.Cmd {
		return exec.Command("sh", "-ec", `GOBIN="$1" go install helm.sh/helm/v3/cmd/helm@"$2"
			mv "$1/helm" "$3"`, "sh", filepath.Dir(to), helmRelease, to)
	})
}

// printed runs a command and gives its output; errors are the test's.
func printed(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, &errs)
	}
	return string(out)
}

// secrets are what differs each time: certificates, and when they end.
var secrets = regexp.MustCompile(`"?(ca\.crt|tls\.crt|tls\.key|caBundle|gostap\.dev/renew|gostap\.dev/certificate)"?: ` +
	`"[^"]+"`)

// objectsIn are those of a text of YAML, by kind, namespace and name. What differs each time is left out.
func objectsIn(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, doc := range strings.Split("\n"+secrets.ReplaceAllString(text, `"$1": x`), "\n---\n") {
		var x struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		var all map[string]any
		if err := yaml.Unmarshal([]byte(doc), &x); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if err := yaml.Unmarshal([]byte(doc), &all); err != nil {
			t.Fatal(err)
		}
		if len(all) > 0 {
			out[x.Kind+" "+x.Metadata.Namespace+"/"+x.Metadata.Name] = all
		}
	}
	return out
}

// TestHelm: a real Helm finds nothing to complain of in the chart, and makes the objects of it that gostap-fleet and
// gostap print.
func TestHelm(t *testing.T) {
	helm, fleet := realHelm(t), bin(t, "gostap-fleet")
	dir := filepath.Join(t.TempDir(), "gostap-fleet")
	printed(t, fleet, "chart", dir)
	if out := printed(t, helm, "lint", "--strict", "--kube-version", "1.37", dir); !strings.Contains(out,
		" 0 chart(s) failed") {
		t.Errorf("%s", out)
	}
	for name, c := range map[string]struct{ helm, fleet, kube []string }{
		"defaults": {[]string{"-n", "gostap"}, nil, nil},
		"all": {[]string{"-n", "fleet", "--set", "image=images.example/a:1,agents.image=images.example/b:2," +
			"replicas=3,agents.namespace=nodes"}, []string{"-n", "fleet", "--image", "images.example/a:1",
			"--replicas", "3", "--agents", "nodes"}, []string{"--image", "images.example/b:2", "--agents", "nodes"}},
		"outside": {[]string{"-n", "fleet", "--set", "url=https://10.1.2.3:9443"}, []string{"-n", "fleet", "--agents",
			"fleet", "--url", "https://10.1.2.3:9443"}, []string{"--agents", "fleet"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := objectsIn(t, printed(t, fleet, append([]string{"manifests"}, c.fleet...)...)+"---\n"+
				printed(t, bin(t, "gostap"), append([]string{"kube", "manifest"}, c.kube...)...))
			text := printed(t, helm, append([]string{"template", "x", dir, "--include-crds", "--kube-version", "1.37"},
				c.helm...)...)
			got := objectsIn(t, text)
			delete(want, "Namespace /"+c.helm[1]) // Helm makes it
			for title := range want {
				if !reflect.DeepEqual(got[title], want[title]) {
					t.Errorf("%s: %v\nnot %v", title, got[title], want[title])
				}
				delete(got, title)
			}
			if len(got) > 0 || len(want) < 18 {
				t.Errorf("%d objects, and of the chart alone %v", len(want), got)
			}
			sums := regexp.MustCompile(`(caBundle|ca\.crt): "([^"]+)"`).FindAllStringSubmatch(text, -1)
			if len(sums) != 3 || sums[0][2] != sums[1][2] || sums[1][2] != sums[2][2] {
				t.Errorf("not one authority for all: %.300q", sums)
			}
		})
	}
	for _, bad := range []string{"image=Foo/Bar", "imag=a", "replicas=-1", "url=http://h", "agents.namespace=A",
		"export.a=prometheus://:1", "export.A=otlp://h:1"} {
		out, err := exec.Command(helm, "template", "x", dir, "--kube-version", "1.37", "--set", bad).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "values don't meet the specifications of the schema") {
			t.Errorf("%s: %v: %s", bad, err, out)
		}
	}
}

// TestFleetHelm: in a real cluster what Helm installs runs, keeps its certificate and its pods on an upgrade, and goes.
func TestFleetHelm(t *testing.T) {
	c := upCluster(t)
	helm, image := realHelm(t), c.fleetImage()
	chart := filepath.Join(c.dir, "gostap-fleet")
	c.run(bin(t, "gostap-fleet"), "chart", chart)
	t.Cleanup(func() {
		c.try(helm, "uninstall", "-n", "gostap", "traces", "--wait")
		c.try("kubectl", "delete", "crd", "traces.gostap.dev")
		c.try("kubectl", "delete", "namespace", "gostap")
	})
	install := func(more ...string) string {
		return c.run(append([]string{helm, "upgrade", "--install", "traces", chart, "-n", "gostap",
			"--create-namespace", "--wait", "--timeout", "2m", "--set",
			"image=" + image + ",agents.namespace=gostap-agents"}, more...)...)
	}
	tls := func() string {
		return c.run("kubectl", "get", "secret", "-n", "gostap", "gostap-fleet-tls", "-o", "jsonpath={.data.tls\\.crt}")
	}
	if out := install(); !strings.Contains(out, "kubectl create rolebinding -n NAMESPACE ann") {
		t.Errorf("%s", out)
	}
	first, pods := tls(), c.podNames("gostap")+c.podNames("gostap-agents")
	if strings.Count(pods, "\n") != 4 {
		t.Errorf("%s", pods)
	}
	install()
	if now := c.podNames("gostap") + c.podNames("gostap-agents"); tls() != first || now != pods {
		t.Errorf("an upgrade without a change: another certificate, or other pods than\n%s\n%s", pods, now)
	}
	install("--set", "replicas=1")
	n := c.run("kubectl", "get", "deploy", "-n", "gostap", "gostap-fleet", "-o", "jsonpath={.spec.replicas}")
	if n != "1" || tls() != first {
		t.Errorf("an upgrade: another certificate, or %s replicas", n)
	}
	// What is to be renewed is.
	c.run("kubectl", "annotate", "--overwrite", "secret", "-n", "gostap", "gostap-fleet-tls",
		"gostap.dev/renew=2020-01-01T00:00:00Z")
	install()
	if tls() == first {
		t.Error("an old certificate was kept")
	}
	if out := c.run("kubectl", "logs", "-n", "gostap", "deploy/gostap-fleet"); strings.Contains(out, "level=ERROR") {
		t.Errorf("%s", out)
	}
	c.aTrace("helm")
	c.run("kubectl", "delete", "traces", "-A", "--all", "--timeout=60s")
	c.run(helm, "uninstall", "-n", "gostap", "traces", "--wait")
	for _, left := range c.installed() {
		if !strings.HasSuffix(left, "/traces.gostap.dev") && !strings.HasPrefix(left, "namespace/") {
			t.Errorf("left: %s", left)
		}
	}
}
