// Package manifests is what a cluster needs of gostap-fleet, as YAML: the definition of Trace, the controller with its
// rights, roles for users, webhooks with a certificate that is made for them.
//
// In: names of namespaces and an image. Out: text for kubectl apply. There is a private key in it.
package manifests

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/cmd/internal/fleet/command"
	"github.com/gostap/gostap/cmd/internal/fleet/gate"
	"github.com/gostap/gostap/cmd/internal/slip"
)

var (
	//go:embed crd.yaml
	crd string
	//go:embed roles.yaml
	roles string
	//go:embed controller.yaml
	controller string
	//go:embed hooks.yaml
	hooks string
)

// Options say what is installed.
type Options struct {
	Namespace string // of the controller
	Agents    string // the namespace of the agents
	Image     string
	Replicas  int
	// URL is where the API server reaches a controller outside of the cluster, https://HOST:PORT; "" for the Service.
	URL string
	// Exports are where Traces can be delivered to.
	Exports command.Exports
	// Valid is how long the certificate holds.
	Valid time.Duration
}

var (
	name  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	image = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)
)

// Write writes all of it.
func Write(w io.Writer, o Options) error {
	for _, n := range []string{o.Namespace, o.Agents} {
		if !name.MatchString(n) {
			return slip.New(fmt.Sprintf("%q is no name of a namespace", n), "")
		}
	}
	if !image.MatchString(o.Image) {
		return slip.New(fmt.Sprintf("%q is no name of an image", o.Image), "")
	}
	if o.Replicas < 0 || o.Replicas > 100 {
		return slip.New("--replicas is a number from 0 to 100", "")
	}
	service := "gostap-fleet." + o.Namespace + ".svc"
	host := service
	way := func(path string) string {
		return fmt.Sprintf("service: {namespace: %q, name: gostap-fleet, path: %s}", o.Namespace, path)
	}
	if o.URL != "" {
		u, err := url.Parse(o.URL)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Path != "" ||
			u.RawQuery != "" || u.Fragment != "" {
			return slip.New(fmt.Sprintf("--url takes https://HOST:PORT, not %q", o.URL), "")
		}
		host = u.Hostname()
		way = func(path string) string { return "url: " + quoted(o.URL+path) }
	}
	ca, cert, key, err := certificate(host, o.Valid)
	if err != nil {
		return err
	}
	text := strings.Join([]string{crd, roles, controller, hooks}, "---\n")
	_, err = strings.NewReplacer("{{NAMESPACE}}", o.Namespace, "{{AGENTS}}", o.Agents, "{{IMAGE}}", o.Image,
		"{{REPLICAS}}", strconv.Itoa(o.Replicas), "{{CA}}", encoded(ca), "{{CERT}}", encoded(cert),
		"{{KEY}}", encoded(key), "{{EXPORTS}}", words(o.Exports.Words()),
		"{{MUTATE}}", way(gate.MutatePath), "{{VALIDATE}}", way(gate.ValidatePath)).WriteString(w, text)
	return err
}

func encoded(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

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

// certificate makes a server's certificate, and the one of an authority that has made this one and no other: its key
// is not kept.
func certificate(host string, valid time.Duration) (ca, cert, key []byte, err error) {
	make := func(t, by *x509.Certificate, pub *ecdsa.PublicKey, with *ecdsa.PrivateKey) ([]byte, error) {
		serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
		if err != nil {
			return nil, err
		}
		t.SerialNumber, t.NotBefore, t.NotAfter = serial, time.Now().Add(-time.Hour), time.Now().Add(valid)
		der, err := x509.CreateCertificate(rand.Reader, t, by, pub, with)
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
	}
	above, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	authority := &x509.Certificate{Subject: pkix.Name{CommonName: "gostap-fleet webhooks"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	if ca, err = make(authority, authority, &above.PublicKey, above); err != nil {
		return nil, nil, nil, err
	}
	server := &x509.Certificate{Subject: pkix.Name{CommonName: "gostap-fleet"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true}
	if ip := net.ParseIP(host); ip != nil {
		server.IPAddresses = []net.IP{ip}
	} else {
		server.DNSNames = []string{host}
	}
	if cert, err = make(server, authority, &own.PublicKey, above); err != nil {
		return nil, nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(own)
	return ca, cert, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), err
}
