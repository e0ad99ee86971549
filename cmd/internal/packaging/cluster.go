package main

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gostap/gostap/cmd/internal/fleet/chart"
)

// chartArchive is the chart for Helm, as helm package makes it but for times and owners, and its name.
func chartArchive(described string, at time.Time) (name string, data []byte, err error) {
	parts, err := chart.Files(described)
	if err != nil {
		return "", nil, err
	}
	var files []file
	for _, p := range parts {
		files = append(files, file{p.Name, 0o644, []byte(p.Text)})
	}
	data, err = tarball(files, chart.Name+"/", at)
	return chart.Name + "-" + chart.Semver(described) + ".tgz", data, err
}

// archive is a tar ball of a machine.
type archive struct {
	machine, name string
	data          []byte
}

// krewHead is what a manifest for Krew says of gostap, of any machine.
const krewHead = `# For Krew: kubectl krew install --manifest gostap.krew.yaml
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: gostap
spec:
  version: %q
  homepage: https://github.com/gostap/gostap
  shortDescription: Trace Go, C, C++ and Rust in running pods
  description: |
    Traces the programs that run in pods, and the kernel below them, by scripts
    in the language of SystemTap and by ready tools. One answer of all pods on
    all nodes, also of those that come meanwhile:

      kubectl gostap run -n shop -l app=cart go-errors --for 60s
  caveats: |
    Agents on the nodes, and a controller, have to be in the cluster: whoever
    administers it installs them by gostap-fleet install, or by its chart for
    Helm. Who may trace which pods is then said by roles.
  platforms:
`

// krewPlatform is one machine. gostap knows by its name kubectl-gostap, which Krew gives it, what it is to do; what
// delivers results is found beside it.
const krewPlatform = `  - selector: {matchLabels: {os: linux, arch: %[1]s}}
    uri: %[2]q
    sha256: %[3]x
    files:
    - {from: %[4]q, to: .}
    - {from: %[5]q, to: .}
    - {from: %[6]q, to: .}
    bin: gostap
`

// krewManifest is what Krew, which installs plugins of kubectl, wants to know of archives that lie below a URL.
func krewManifest(described, base string, archives []archive) ([]byte, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("-url takes the https URL of the folder where archives will be, not %q", base)
	}
	var b strings.Builder
	fmt.Fprintf(&b, krewHead, "v"+chart.Semver(described))
	for _, a := range archives {
		in := strings.TrimSuffix(a.name, ".tar.gz") + "/"
		fmt.Fprintf(&b, krewPlatform, a.machine, u.JoinPath(a.name).String(), sha256.Sum256(a.data), in+"bin/gostap",
			in+"bin/gostap-export", in+"LICENSE")
	}
	return []byte(b.String()), nil
}
