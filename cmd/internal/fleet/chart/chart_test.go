package chart

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/fleet/manifests"
	"github.com/gostap/gostap/cmd/internal/kube/agents"
)

// pair is what Helm's functions for certificates give.
type pair struct{ Cert, Key string }

// helm renders a chart as Helm does, with as many of its functions as there are in it.
type helm struct {
	t       *testing.T
	values  map[string]any
	release string // the namespace
	old     map[string]any
	made    *manifests.Certificate
	asked   []any // of genSignedCert
}

func empty(x any) bool {
	v := reflect.ValueOf(x)
	return !v.IsValid() || v.IsZero() || v.Kind() == reflect.Map && v.Len() == 0
}

func (h *helm) functions() template.FuncMap {
	return template.FuncMap{
		"default": func(d, x any) any {
			if empty(x) {
				return d
			}
			return x
		},
		"get": func(m map[string]any, key string) any {
			if x, ok := m[key]; ok {
				return x
			}
			return ""
		},
		"hasKey": func(m map[string]any, key string) bool { _, ok := m[key]; return ok },
		"dict": func(args ...any) map[string]any {
			out := map[string]any{}
			for i := 0; i+1 < len(args); i += 2 {
				out[args[i].(string)] = args[i+1]
			}
			return out
		},
		"list":     func(args ...any) []any { return args },
		"toString": func(x any) string { return fmt.Sprint(x) },
		"int":      func(x any) int { return int(reflect.ValueOf(x).Convert(reflect.TypeFor[float64]()).Float()) },
		"mul":      func(a, b int) int64 { return int64(a) * int64(b) },
		"now":      time.Now,
		"dateInZone": func(layout string, t time.Time, zone string) string {
			if zone != "UTC" {
				h.t.Error(zone)
			}
			return t.UTC().Format(layout)
		},
		"dateModify": func(by string, t time.Time) time.Time {
			d, err := time.ParseDuration(strings.TrimPrefix(by, "+"))
			if err != nil {
				h.t.Error(err)
			}
			return t.Add(d)
		},
		"quote":      func(x any) string { return fmt.Sprintf("%q", x) },
		"b64enc":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"sha256sum":  func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
		"regexMatch": func(re, s string) bool { return regexp.MustCompile(re).MatchString(s) },
		"urlParse": func(s string) map[string]any {
			u, _ := url.Parse(s)
			return map[string]any{"hostname": u.Hostname()}
		},
		"lookup": func(version, kind, namespace, name string) map[string]any { return h.old },
		"genCA":  func(name string, days int) pair { return pair{Cert: string(h.made.CA)} },
		"genSignedCert": func(name string, ips, names []any, days int, ca pair) pair {
			h.asked = append(append(append(h.asked, days), ips...), names...)
			return pair{string(h.made.Cert), string(h.made.Key)}
		},
	}
}

// render gives the objects of the chart, with its definitions.
func (h *helm) render() map[string]map[string]any {
	h.t.Helper()
	files, err := Files("v1.2.3")
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]map[string]any{}
	for _, f := range files {
		text := f.Text
		if strings.HasPrefix(f.Name, "templates/") {
			t, err := template.New(f.Name).Option("missingkey=error").Funcs(h.functions()).Parse(f.Text)
			if err != nil {
				h.t.Fatal(err)
			}
			var b strings.Builder
			if err := t.Execute(&b, map[string]any{"Values": h.values,
				"Release": map[string]any{"Namespace": h.release}, "Chart": map[string]any{
					"AppVersion": "v1.2.3"}}); err != nil {
				h.t.Fatal(err)
			}
			text = b.String()
		}
		if strings.HasSuffix(f.Name, ".yaml") && strings.Contains(f.Name, "/") {
			maps.Copy(out, parse(h.t, text))
		}
	}
	return out
}

// parse gives the objects of a text by what they are.
func parse(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for _, doc := range strings.Split("\n"+text, "\n---\n") {
		var x map[string]any
		if err := yaml.Unmarshal([]byte(doc), &x); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if x == nil {
			continue
		}
		m := x["metadata"].(map[string]any)
		title := fmt.Sprint(x["kind"], " ", m["namespace"], "/", m["name"])
		if out[title] != nil {
			t.Errorf("%s is there twice", title)
		}
		out[title] = x
	}
	return out
}

// values are those that a chart has if nobody says otherwise.
func defaults(t *testing.T) map[string]any {
	t.Helper()
	files, err := Files("v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := yaml.UnmarshalStrict([]byte(files[len(files)-1].Text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestChart: what Helm makes of the chart are the objects that manifests prints, but for the namespace of the release.
func TestChart(t *testing.T) {
	for name, c := range map[string]struct {
		agents, url, host string
		metrics           [2]int // of the controller, of agents
	}{
		"in one namespace":   {"", "", "gostap-fleet.fleet.svc", [2]int{}},
		"in two":             {"nodes", "", "gostap-fleet.fleet.svc", [2]int{9478, 0}},
		"outside":            {"", "https://10.1.2.3:9443", "10.1.2.3", [2]int{0, 9479}},
		"outside, by a name": {"", "https://fleet.example:9443", "fleet.example", [2]int{1024, 65535}},
		"outside, by IPv6":   {"", "https://[fd00::1]:9443", "fd00::1", [2]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := manifests.NewCertificate(c.host, days*24*time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			h := &helm{t: t, values: defaults(t), release: "fleet", made: made}
			h.values["url"] = c.url
			exports := asked.Exports{"otel": `otlp://h:1?temporality=delta`, "a": `remote-write+http://h"`}
			h.values["export"] = map[string]string(exports)
			h.values["agents"].(map[string]any)["namespace"] = c.agents
			h.values["metrics"], h.values["agents"].(map[string]any)["metrics"] = c.metrics[0], c.metrics[1]
			got := h.render()
			if !slices.Equal(h.asked, []any{days, c.host}) {
				t.Errorf("a certificate of %v", h.asked)
			}
			o := manifests.Options{Exports: exports, Namespace: "fleet",
				Agents: c.agents, Image: image, Replicas: replicas, URL: c.url,
				Valid: time.Hour, Keep: made, Metrics: c.metrics[0], AgentMetrics: c.metrics[1]}
			if o.Agents == "" {
				o.Agents = o.Namespace
			}
			var text strings.Builder
			if err := manifests.Write(&text, o); err != nil {
				t.Fatal(err)
			}
			want := parse(t, text.String())
			nodes, err := agents.Manifest(o.Agents, image, o.AgentMetrics)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(want, parse(t, nodes))
			delete(want, "Namespace <nil>/fleet")
			// When it is renewed is known to the hour: Helm makes no certificates of an hour ago.
			notes := func(x map[string]map[string]any) map[string]any {
				return x["Secret fleet/gostap-fleet-tls"]["metadata"].(map[string]any)["annotations"].(map[string]any)
			}
			a, _ := time.Parse(time.RFC3339, notes(got)["gostap.dev/renew"].(string))
			b, _ := time.Parse(time.RFC3339, notes(want)["gostap.dev/renew"].(string))
			if d := a.Sub(b); d > time.Hour || d < -time.Hour {
				t.Errorf("renewed at %v, not %v", a, b)
			}
			notes(got)["gostap.dev/renew"] = notes(want)["gostap.dev/renew"]
			for _, title := range slices.Sorted(maps.Keys(want)) {
				if !reflect.DeepEqual(got[title], want[title]) {
					t.Errorf("%s: %v\nnot %v", title, got[title], want[title])
				}
				delete(got, title)
			}
			if len(got) > 0 || len(want) < 18 {
				t.Errorf("%d objects, and of the chart alone %v", len(want), got)
			}
		})
	}
}

// TestKept: an upgrade keeps the certificate while it is good.
func TestKept(t *testing.T) {
	made, err := manifests.NewCertificate("x", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	secret := func(host, renew string, keys ...string) map[string]any {
		data := map[string]any{}
		for _, k := range keys {
			data[k] = base64.StdEncoding.EncodeToString([]byte("old " + k))
		}
		return map[string]any{"data": data, "metadata": map[string]any{"annotations": map[string]any{
			"gostap.dev/host": host, "gostap.dev/renew": renew}}}
	}
	const host = "gostap-fleet.fleet.svc"
	later, before := time.Now().Add(time.Hour).UTC().Format(time.RFC3339), time.Now().Add(-time.Minute).UTC().Format(
		time.RFC3339)
	all := []string{"ca.crt", "tls.crt", "tls.key"}
	for name, c := range map[string]struct {
		old  map[string]any
		kept bool
	}{
		"good":         {secret(host, later, all...), true},
		"old":          {secret(host, before, all...), false},
		"another name": {secret("gostap-fleet.other.svc", later, all...), false},
		"no maker":     {secret(host, later, all[1:]...), false},
		"no notes":     {map[string]any{"data": map[string]any{}, "metadata": map[string]any{}}, false},
		"nothing":      {nil, false},
	} {
		h := &helm{t: t, values: defaults(t), release: "fleet", made: made, old: c.old}
		x := h.render()["Secret fleet/gostap-fleet-tls"]
		old := x["data"].(map[string]any)["tls.crt"] == base64.StdEncoding.EncodeToString([]byte("old tls.crt"))
		if old != c.kept || (len(h.asked) == 0) != c.kept {
			t.Errorf("%s: kept %v, made %v", name, old, h.asked)
		}
	}
}

// TestSchema: the schema names the values that there are, and takes what the commands take.
func TestSchema(t *testing.T) {
	text, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		Type, Pattern    string
		Minimum, Maximum *int
		Properties       map[string]*node
	}
	var root node
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	delete(root.Properties, "global")
	var check func(at string, n *node, value any)
	check = func(at string, n *node, value any) {
		switch v := value.(type) {
		case map[string]any:
			if !slices.Equal(slices.Sorted(maps.Keys(n.Properties)), slices.Sorted(maps.Keys(v))) {
				t.Errorf("%s: %v in the schema, %v in the values", at, n.Properties, v)
				return
			}
			for k, x := range v {
				check(at+"."+k, n.Properties[k], x)
			}
		case string:
			if n.Type != "string" || !regexp.MustCompile(n.Pattern).MatchString(v) {
				t.Errorf("%s: %q does not match %q", at, v, n.Pattern)
			}
		case float64:
			if n.Type != "integer" || v < float64(*n.Minimum) || v > float64(*n.Maximum) {
				t.Errorf("%s: %v", at, v)
			}
		default:
			t.Errorf("%s: %T", at, v)
		}
	}
	check("", &root, defaults(t))
	o := manifests.Options{Namespace: "a", Agents: "a", Image: "a", Valid: time.Hour}
	for _, u := range []string{"", "https://h", "https://h:1", "https://10.1.2.3:9443", "https://[fd00::1]:9443",
		"http://h", "https://", "https://h/x", "https://h?x", "https://h#x", "https://u@h", "https://h\"", "h",
		"https://h\ny: z"} {
		o.URL = u
		matches := regexp.MustCompile(root.Properties["url"].Pattern).MatchString(u)
		if err := o.Check(); (err == nil) != matches {
			t.Errorf("%q: the schema says %v, and the command %v", u, matches, err)
		}
	}
}

// TestPorts: the schema takes the ports for metrics that the commands take.
func TestPorts(t *testing.T) {
	text, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	type port struct {
		Minimum, Maximum int
		Not              struct {
			AnyOf []struct {
				Minimum, Maximum int
				Enum             []int
			}
		}
	}
	var root struct {
		Properties struct {
			Metrics port
			Agents  struct{ Properties struct{ Metrics port } }
		}
	}
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	takes := func(p port, n int) bool {
		for _, x := range p.Not.AnyOf {
			if x.Enum == nil && n >= x.Minimum && n <= x.Maximum || slices.Contains(x.Enum, n) {
				return false
			}
		}
		return len(p.Not.AnyOf) > 0 && n >= p.Minimum && n <= p.Maximum
	}
	for _, n := range []int{-1, 0, 1, 80, 1023, 1024, 9440, 9443, 9478, 65535, 65536} {
		o := manifests.Options{Namespace: "a", Agents: "a", Image: "a", Valid: time.Hour, Metrics: n}
		if got, err := takes(root.Properties.Metrics, n), o.Check(); got != (err == nil) {
			t.Errorf("metrics %d: %v, %v", n, got, err)
		}
		o.Metrics, o.AgentMetrics = 0, n
		if got, err := takes(root.Properties.Agents.Properties.Metrics, n), o.Check(); got != (err == nil) {
			t.Errorf("agents.metrics %d: %v, %v", n, got, err)
		}
	}
}

func TestSemver(t *testing.T) {
	// As https://semver.org has it.
	valid := regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)` +
		`(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)
	for described, want := range map[string]string{
		"v1.2.3":                   "1.2.3",
		"v1.2":                     "1.2.0",
		"2":                        "2.0.0",
		"v1.02.0":                  "1.2.0",
		"v1.2.0-rc1":               "1.2.0-rc1",
		"v1.2.0-rc.01":             "1.2.0-rc.1",
		"v1.2.0-rc.0":              "1.2.0-rc.0",
		"v1.2.0-beta_2..x":         "1.2.0-beta-2.x",
		"v1.2.3-14-gabcdef01":      "1.2.3+14.gabcdef01",
		"v1.2.0-rc1-2-g0123456":    "1.2.0-rc1+2.g0123456",
		"v1.2.3-1-g0123456-dirty":  "1.2.3+1.g0123456.dirty",
		"abcdef01":                 "0.0.0-gabcdef01",
		"0123456-dirty":            "0.0.0-g0123456+dirty",
		"unknown":                  "0.0.0-unknown",
		"":                         "0.0.0-unknown",
		"v1; rm -r x":              "0.0.0-unknown",
		"v1.2.3.4-0-g\n: {{ 1 }}}": "0.0.0-unknown",
	} {
		got := Semver(described)
		if got != want || !valid.MatchString(got) {
			t.Errorf("%q: %q, not %q", described, got, want)
		}
	}
}

// TestWrite: a chart is written into a new folder, and over nothing.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "chart")
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	files, err := Files(Version)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(filepath.Join(dir, f.Name)); err != nil || string(b) != f.Text {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	var c struct{ Name, Version, AppVersion string }
	if err := yaml.Unmarshal([]byte(files[0].Text), &c); err != nil || c.Name != Name ||
		c.Version != "0.0.0-unknown" || c.AppVersion != "unknown" {
		t.Errorf("%+v, %v", c, err)
	}
	if err := Write(dir); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("%v", err)
	}
	if err := Write(filepath.Join(dir, "Chart.yaml")); err == nil {
		t.Error("into a file")
	}
}
