// Package agents is what a cluster needs of gostap's agents, as YAML: a pod on each node, which waits.
//
// In: a namespace, an image. Out: text for kubectl apply; whether names are ones that a cluster takes.
package agents

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// Source is the text, with {{NAMESPACE}} and {{IMAGE}} in the places of these.
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

// Manifest is the text for a namespace and an image.
func Manifest(namespace, image string) (string, error) {
	if err := Namespace(namespace); err != nil {
		return "", err
	}
	if err := Image(image); err != nil {
		return "", err
	}
	return strings.NewReplacer("{{NAMESPACE}}", namespace, "{{IMAGE}}", image).Replace(Source), nil
}
