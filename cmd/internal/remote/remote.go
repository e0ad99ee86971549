// Package remote has a session run on other machines and brings here what it prints.
//
// In: hosts as --remote names them, a Request with everything of this machine that the session needs. Out: what each
// host printed, whole lines with the host's name in front where there are several, and an exit status.
//
// The other machine needs nothing but a shell: gostap copies its own executable there, into a directory of the user's,
// and starts it as "gostap remote-session". The script is translated there, with that machine's kernel, programs and
// debug information, so the answer is what the same command gives when it is typed there. Nothing listens unless
// somebody starts "gostap remote-session --listen PATH", or an agent (package agent), which is met by TLS.
package remote

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/cmd/internal/remote/mtls"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// Host is where a session is to run.
type Host struct {
	// Name stands in front of lines. It is what the user typed, without scheme.
	Name string
	// URI is what the user typed.
	URI string
	// Socket is the path of unix:PATH, "" for others.
	Socket string
	// User and Port are "" where they were not said. Address is "" for a socket and for this machine.
	User, Address, Port string
	// Direct is this machine, by a process of its own.
	Direct bool
	// Pod is that of kube://NAMESPACE/POD[/CONTAINER], in which gostap is. Behind ?pods= are the UIDs of those that are
	// traced there, with commas between.
	Namespace, Pod, Container, Pods string
	// TLS: an agent is at Address and Port, which is met with Keys (UseKeys).
	TLS  bool
	Keys *mtls.Keys
	// Follow is nil where the pods are those of the beginning.
	Follow *Follow
}

// ParseHost reads what stands behind --remote: ssh://[USER@]HOST[:PORT], [USER@]HOST, tls://HOST[:PORT], unix:PATH,
// kube://NAMESPACE/POD[/CONTAINER] or direct.
func ParseHost(s string) (Host, error) {
	bad := func(why string) (Host, error) {
		return Host{}, slip.New(fmt.Sprintf("--remote %s: %s", s, why),
			"it takes ssh://[USER@]HOST[:PORT], [USER@]HOST, tls://HOST[:PORT], unix:PATH or "+
				"kube://NAMESPACE/POD[/CONTAINER]")
	}
	switch path, unix := strings.CutPrefix(s, "unix:"); {
	case s == "":
		return bad("no host is named")
	case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return bad("there are spaces or control characters in it")
	case s == "direct":
		return Host{Name: s, URI: s, Direct: true}, nil
	case unix:
		path = strings.TrimPrefix(path, "//")
		if path == "" {
			return bad("there is no path behind unix:")
		}
		if len(path) > 107 {
			return bad("the path of a socket has at most 107 bytes")
		}
		return Host{Name: path, URI: s, Socket: path}, nil
	case strings.HasPrefix(s, "ssh://"):
		u, err := url.Parse(s)
		if err != nil {
			return bad("it is no URL")
		}
		if _, has := u.User.Password(); has {
			return bad("a password does not belong into a command line")
		}
		if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
			return bad("nothing goes behind the host and its port")
		}
		h := Host{Name: strings.TrimSuffix(strings.TrimPrefix(s, "ssh://"), "/"), URI: s, User: u.User.Username(),
			Address: u.Hostname(), Port: u.Port()}
		return h, h.check(bad)
	case strings.HasPrefix(s, "tls://"):
		u, err := url.Parse(s)
		if err != nil {
			return bad("it is no URL")
		}
		if u.User != nil {
			return bad("a certificate says who asks, and no name of a user")
		}
		if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
			return bad("nothing goes behind the host and its port")
		}
		h := Host{Name: strings.TrimSuffix(strings.TrimPrefix(s, "tls://"), "/"), URI: s, TLS: true,
			Address: u.Hostname(), Port: cmp.Or(u.Port(), mtls.Port)}
		if n, err := strconv.ParseUint(h.Port, 10, 16); err != nil || n == 0 {
			return bad("a port is a number from 1 to 65535")
		}
		return h, h.check(bad)
	case strings.HasPrefix(s, "kube://"):
		way, pods, asked := strings.Cut(strings.TrimPrefix(s, "kube://"), "?pods=")
		w := strings.Split(way, "/")
		if len(w) < 2 || len(w) > 3 || slices.ContainsFunc(w, func(n string) bool { return !kubeName.MatchString(n) }) {
			return bad("it names no pod of Kubernetes")
		}
		if asked && !kubePods.MatchString(pods) {
			return bad("behind ?pods= stand UIDs of pods with commas between")
		}
		h := Host{Name: w[1], URI: s, Namespace: w[0], Pod: w[1], Pods: pods}
		if len(w) == 3 {
			h.Container = w[2]
		}
		return h, nil
	case strings.Contains(s, "://"):
		return bad("only ssh, tls and kube are known as ways to a host")
	}
	h := Host{Name: s, URI: s, Address: s}
	if user, addr, ok := strings.Cut(s, "@"); ok {
		h.User, h.Address = user, addr
	}
	return h, h.check(bad)
}

// kubeName is a name of a namespace, a pod or a container (RFC 1123).
var kubeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

// kubePods are UIDs of pods, or UID/ID for a container of one.
var kubePods = regexp.MustCompile(`^[0-9a-f-]+(/[0-9a-f]+)?(,[0-9a-f-]+(/[0-9a-f]+)?)*$`)

// check refuses names that ssh would take for options.
func (h Host) check(bad func(string) (Host, error)) (err error) {
	if h.Address == "" {
		_, err = bad("no host is named")
	} else if strings.HasPrefix(h.Address, "-") || strings.HasPrefix(h.User, "-") {
		_, err = bad("names of hosts and users do not begin with -")
	}
	return err
}

// UseKeys has the hosts of tls:// met with the certificates in dir, or where those of the user are if that is "".
func UseKeys(hosts []Host, dir string, env []string) error {
	if !slices.ContainsFunc(hosts, func(h Host) bool { return h.TLS }) {
		if dir != "" {
			return slip.New("--tls has certificates for hosts of tls://, and no --remote is one", "--remote tls://HOST")
		}
		return nil
	}
	dir, err := mtls.ClientDir(dir, env)
	if err != nil {
		return err
	}
	keys, err := mtls.Load(dir, mtls.Client)
	for i := range hosts {
		if hosts[i].TLS {
			hosts[i].Keys = keys
		}
	}
	return err
}

// names gives each host a name of its own: hosts that are named twice get a number.
type names map[string]int

func (seen names) of(h Host) string {
	if seen[h.Name]++; seen[h.Name] > 1 {
		return fmt.Sprintf("%s#%d", h.Name, seen[h.Name])
	}
	return h.Name
}
