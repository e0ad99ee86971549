// Package manifests is what a cluster needs of gostap-fleet, as YAML: the definition of Trace, the controller with its
// rights, roles for users, webhooks with a certificate that is made for them.
//
// In: names of namespaces and an image. Out: text for kubectl apply. There is a private key in it.
package manifests

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/kube/agents"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// The texts, in the order in which they are applied. {{NAMESPACE}} and others like it stand for what Write knows.
var (
	//go:embed crd.yaml
	CRD string
	//go:embed roles.yaml
	Roles string
	//go:embed controller.yaml
	Controller string
	//go:embed hooks.yaml
	Hooks string
)

// Where the webhooks listen.
const (
	MutatePath   = "/mutate"
	ValidatePath = "/validate"
)

// Taken are the ports of the controller: for the webhooks, and for who asks whether it lives.
var Taken = [...]int{9443, 9440}

// Ports is that of metrics on a list of them, {{PORT}} its number.
const Ports = ", {name: metrics, containerPort: {{PORT}}}"

// Name is that of all objects of which there is one.
const Name = "gostap-fleet"

// URLPattern is what the URL of a controller outside of the cluster has to match, as a regular expression of Go and of
// ECMAScript.
const URLPattern = `^https://[^/?#@\s"{}]+$`

var urls = regexp.MustCompile(URLPattern)

// MaxReplicas is how many controllers are worth asking for.
const MaxReplicas = 100

// Options say what is installed.
type Options struct {
	Namespace string // of the controller
	Agents    string // the namespace of the agents
	Image     string
	Replicas  int
	// URL is where the API server reaches a controller outside of the cluster, https://HOST:PORT; "" for the Service.
	URL string
	// Exports are where Traces can be delivered to.
	Exports asked.Exports
	// Metrics is the port at which the controller tells metrics, AgentMetrics that of the agents; 0: none.
	Metrics, AgentMetrics int
	// Valid is how long a certificate holds that is made.
	Valid time.Duration
	// Keep is one to take in place of a new one.
	Keep *Certificate
}

// Check says what cannot be.
func (o *Options) Check() error {
	for _, n := range []string{o.Namespace, o.Agents} {
		if err := agents.Namespace(n); err != nil {
			return err
		}
	}
	if err := agents.Image(o.Image); err != nil {
		return err
	}
	if o.Replicas < 0 || o.Replicas > MaxReplicas {
		return slip.New(fmt.Sprintf("--replicas is a number from 0 to %d", MaxReplicas), "")
	}
	if err := agents.Port("--metrics", o.Metrics, Taken[:]...); err != nil {
		return err
	}
	if err := agents.Port("--agent-metrics", o.AgentMetrics); err != nil {
		return err
	}
	if o.Valid < time.Hour { // less would be made anew each time
		return slip.New("--valid is a time from 1h", "")
	}
	_, err := o.Host()
	return err
}

// Host is the name that the certificate has to have.
func (o *Options) Host() (string, error) {
	if o.URL == "" {
		return Name + "." + o.Namespace + ".svc", nil
	}
	u, err := url.Parse(o.URL)
	if err != nil || !urls.MatchString(o.URL) || u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", slip.New(fmt.Sprintf("--url takes https://HOST:PORT, not %q", o.URL), "")
	}
	return u.Hostname(), nil
}

// Write writes all of it.
func Write(w io.Writer, o Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	host, err := o.Host()
	if err != nil {
		return err
	}
	way := func(path string) string {
		if o.URL != "" {
			return "url: " + quoted(o.URL+path)
		}
		return fmt.Sprintf("service: {namespace: %q, name: %s, path: %s}", o.Namespace, Name, path)
	}
	c := o.Keep
	if c == nil {
		if c, err = NewCertificate(host, o.Valid); err != nil {
			return err
		}
	}
	text := strings.Join([]string{CRD, Roles, Controller, Hooks}, "---\n")
	_, err = strings.NewReplacer("{{NAMESPACE}}", o.Namespace, "{{AGENTS}}", o.Agents, "{{IMAGE}}", o.Image,
		"{{REPLICAS}}", strconv.Itoa(o.Replicas), "{{CA}}", encoded(c.CA), "{{CERT}}", encoded(c.Cert),
		"{{KEY}}", encoded(c.Key), "{{HOST}}", host, "{{RENEW}}", c.renew(), "{{DIGEST}}", c.digest(),
		"{{EXPORTS}}", words(o.Exports.Words()), "{{METRICS}}", agents.At(agents.Metrics, o.Metrics),
		"{{PORTS}}", agents.At(Ports, o.Metrics),
		"{{MUTATE}}", way(MutatePath), "{{VALIDATE}}", way(ValidatePath)).WriteString(w, text)
	return err
}

// words go on a list of YAML.
func words(list []string) string {
	var b strings.Builder
	for _, w := range list {
		b.WriteString(", " + quoted(w))
	}
	return b.String()
}

// quoted is a string of YAML, in the form that it has in common with JSON.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always can be
	return string(b)
}
