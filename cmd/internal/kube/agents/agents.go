// Package agents is what a cluster needs of gostap's agents, as YAML: a pod on each node, which waits.
//
// In: a namespace, an image, a port for metrics. Out: text for kubectl apply; whether names are ones that a cluster
// takes.
package agents

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// Source is the text, with {{NAMESPACE}} and {{IMAGE}} in the places of these, and Metrics and Ports in those of
// {{METRICS}} and {{PORTS}} where metrics are told.
//
//go:embed agent.yaml
var Source string

// Name is that of the DaemonSet.
const Name = "gostap-agent"

// NamespacePattern and ImagePattern are what names have to match, as regular expressions of Go and of ECMAScript.
const (
	NamespacePattern = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	ImagePattern     = `^(` + host + `/)?` + part + `(/` + part + `)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?` +
		`(@[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`

	part = `[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*`
	// A registry: a name with dots or a port, or an address of IPv6.
	host = `([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(:[0-9]+)?`
)

var (
	namespaces = regexp.MustCompile(NamespacePattern)
	images     = regexp.MustCompile(ImagePattern)
)

// Namespace is the error of a name that no namespace can have.
func Namespace(name string) error {
	if namespaces.MatchString(name) {
		return nil
	}
	return slip.New(fmt.Sprintf("%q is no name of a namespace", name),
		"small letters, digits and dashes between them, 63 at most")
}

// Image is the error of a name that no image can have. Nodes would tell of it much later, by pods that never run.
func Image(name string) error {
	if images.MatchString(name) && len(name) < 1024 {
		return nil
	}
	return slip.New(fmt.Sprintf("%q is no name of an image", name),
		"[HOST[:PORT]/]NAME[:TAG][@DIGEST], with small letters in NAME: images.example/gostap:1.0")
}

// Words on a list of arguments, and a field of a container behind a line, for metrics at the port {{PORT}}.
const (
	Metrics = `, --metrics, ":{{PORT}}"`
	Ports   = "\n        ports: [{name: metrics, containerPort: {{PORT}}}]"
)

// LowestPort and HighestPort are those at which metrics can be told, by processes without rights for lower ones.
const (
	LowestPort  = 1024
	HighestPort = 65535
)

// Port is the error of an option that names no port for metrics; 0 is none, and some are taken.
func Port(option string, port int, taken ...int) error {
	if port == 0 || port >= LowestPort && port <= HighestPort && !slices.Contains(taken, port) {
		return nil
	}
	if slices.Contains(taken, port) {
		return slip.New(fmt.Sprintf("%s: the port %d is taken", option, port), option+" 9478")
	}
	return slip.New(fmt.Sprintf("%s takes a port from %d to %d, or 0 for none, not %d", option, LowestPort, HighestPort,
		port), option+" 9478")
}

// At is a text about a port, such as Metrics, for one; nothing for 0.
func At(text string, port int) string {
	if port == 0 {
		return ""
	}
	return strings.ReplaceAll(text, "{{PORT}}", strconv.Itoa(port))
}

// Manifest is the text for a namespace and an image, and a port for metrics, 0 for none.
func Manifest(namespace, image string, port int) (string, error) {
	if err := Namespace(namespace); err != nil {
		return "", err
	}
	if err := Image(image); err != nil {
		return "", err
	}
	return strings.NewReplacer("{{NAMESPACE}}", namespace, "{{IMAGE}}", image, "{{METRICS}}", At(Metrics, port),
		"{{PORTS}}", At(Ports, port)).Replace(Source), nil
}
