package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// kubeconfigText says where the API server is, and who asks.
const kubeconfigText = `apiVersion: v1
kind: Config
clusters: [{name: kubelab, cluster: {server: "https://%[1]s", certificate-authority: %[2]s/ca.crt}}]
users: [{name: %[3]s, user: {client-certificate: %[2]s/%[3]s.crt, client-key: %[2]s/%[3]s.key}}]
contexts: [{name: kubelab, context: {cluster: kubelab, user: %[3]s}}]
current-context: kubelab
`

func (l *lab) keys() string { return filepath.Join(l.run, "keys") }

// makeKeys makes the keys that are not there, of the control plane, the administrator, and nodes.
func (l *lab) makeKeys(nodes []string) error {
	a, err := openAuthority(l.keys())
	if err != nil {
		return err
	}
	missing := func(name string) bool {
		_, err := os.Stat(a.file(name + ".crt"))
		return err != nil
	}
	if missing("apiserver") {
		if err := a.issueServer("apiserver", net.ParseIP(l.api())); err != nil {
			return err
		}
	}
	clients := [][]string{{"admin", "admin", "system:masters"}, {"to-kubelets", "apiserver", "system:masters"},
		{"controller-manager", "system:kube-controller-manager"}, {"scheduler", "system:kube-scheduler"}}
	for _, n := range nodes {
		clients = append(clients, []string{n, "system:node:" + n, "system:nodes"})
	}
	for _, c := range clients {
		if !missing(c[0]) {
			continue
		}
		text := fmt.Sprintf(kubeconfigText, l.api(), l.keys(), c[0])
		if err := errors.Join(a.issueClient(c[0], c[1], c[2:]...),
			os.WriteFile(l.kubeconfig(c[0]), []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// startPlane starts etcd and the control plane, and waits until that answers.
func (l *lab) startPlane() error {
	key := func(name string) string { return filepath.Join(l.keys(), name) }
	etcd, peers := "http://"+l.api()+":2379", "http://"+l.api()+":2380"
	err := l.start("etcd", "", "etcd", "--name=kubelab", "--data-dir="+filepath.Join(l.run, "etcd"),
		"--unsafe-no-fsync", "--log-level=warn", "--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=kubelab="+peers)
	if err != nil {
		return err
	}
	_, same := l.running("apiserver")
	// Pods reach it at the address of its service without anything that forwards, since it listens there.
	err = l.start("apiserver", "", "kube-apiserver", "--etcd-servers="+etcd,
		"--bind-address="+l.api(), "--advertise-address="+l.api(), "--secure-port=443",
		"--service-cluster-ip-range="+l.net+".0.0/24", "--authorization-mode=Node,RBAC", "--allow-privileged",
		"--tls-cert-file="+key("apiserver.crt"), "--tls-private-key-file="+key("apiserver.key"),
		"--client-ca-file="+key("ca.crt"), "--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate="+key("to-kubelets.crt"), "--kubelet-client-key="+key("to-kubelets.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+key("tokens.key"), "--service-account-signing-key-file="+key("tokens.key"))
	if err != nil {
		return err
	}
	if err := l.until(2*time.Minute, "apiserver", "the API server is ready", func() bool {
		return l.get("/readyz", nil) == nil
	}); err != nil {
		return err
	}
	if !same {
		// Whoever was connected to one before waits for up to half a minute until it asks again.
		l.kill("controller-manager")
		l.kill("scheduler")
	}
	common := func(name string) []string {
		config := l.kubeconfig(name)
		return []string{"kube-" + name, "--kubeconfig=" + config, "--authentication-kubeconfig=" + config,
			"--authorization-kubeconfig=" + config, "--bind-address=" + l.api(), "--leader-elect=false"}
	}
	return errors.Join(
		l.start("controller-manager", "", append(common("controller-manager"), "--use-service-account-credentials",
			"--root-ca-file="+key("ca.crt"), "--service-account-private-key-file="+key("tokens.key"))...),
		l.start("scheduler", "", common("scheduler")...))
}

// awaitNodes waits until pods can be made, and run on nodes.
func (l *lab) awaitNodes(names []string) error {
	if err := l.until(time.Minute, "controller-manager", "there are service accounts", func() bool {
		return l.get("/api/v1/namespaces/default/serviceaccounts/default", nil) == nil
	}); err != nil {
		return err
	}
	for _, name := range names {
		if err := l.until(90*time.Second, name+"-kubelet", "the node is ready", func() bool {
			var n struct {
				Status struct {
					Conditions []struct{ Type, Status string }
				}
				Spec struct{ Taints []struct{ Key string } }
			}
			ready := l.get("/api/v1/nodes/"+name, &n) == nil && len(n.Spec.Taints) == 0
			for _, c := range n.Status.Conditions {
				ready = ready && (c.Type != "Ready" || c.Status == "True")
			}
			return ready
		}); err != nil {
			return err
		}
	}
	return nil
}

// get asks the API server as the administrator.
func (l *lab) get(path string, into any) error {
	pair, err := tls.LoadX509KeyPair(filepath.Join(l.keys(), "admin.crt"), filepath.Join(l.keys(), "admin.key"))
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(filepath.Join(l.keys(), "ca.crt"))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}}}
	answer, err := client.Get("https://" + l.api() + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(into)
}
