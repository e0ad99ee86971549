package mtls_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/cmd/internal/remote/mtls"
)

// issuer is an authority of somebody's own.
type issuer struct {
	t    *testing.T
	cert *x509.Certificate
	key  crypto.Signer
	root []byte // PEM
	way  []byte // PEM of those between it and the root
}

var (
	both   = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	client = both[1:]
)

// sign makes a certificate. ca: of an authority.
func (i *issuer) sign(key crypto.Signer, ca bool, until time.Duration, usage []x509.ExtKeyUsage) *x509.Certificate {
	i.t.Helper()
	c := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "ann"},
		DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(until),
		ExtKeyUsage: usage, BasicConstraintsValid: true, IsCA: ca}
	if ca {
		c.KeyUsage, c.Subject.CommonName = x509.KeyUsageCertSign, "an authority"
	}
	by, with := i.cert, i.key
	if by == nil {
		by, with = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, key.Public(), with)
	if err != nil {
		i.t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		i.t.Fatal(err)
	}
	return c
}

func text(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

func newKey(t *testing.T) crypto.Signer {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// dir makes a directory with a key and its certificate.
func (i *issuer) dir(key crypto.Signer, until time.Duration, usage ...x509.ExtKeyUsage) string {
	i.t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		i.t.Fatal(err)
	}
	dir := i.t.TempDir()
	for name, b := range map[string][]byte{"ca.crt": i.root,
		"tls.crt": append(text(i.sign(key, false, until, usage)), i.way...),
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			i.t.Fatal(err)
		}
	}
	return dir
}

// TestUsage: with an authority of one's own, too, a certificate is for one of the two roles alone, on both sides;
// other keys, and certificates between, are as good.
func TestUsage(t *testing.T) {
	root := &issuer{t: t}
	root.key = newKey(t)
	root.cert = root.sign(root.key, true, 40*days, nil)
	root.root = text(root.cert)
	between := &issuer{t: t, key: newKey(t), root: root.root}
	between.cert = root.sign(between.key, true, 20*days, nil)
	between.way = text(between.cert)
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, between.dir(big, 10*days, x509.ExtKeyUsageServerAuth), after(0))
	for _, dir := range []string{root.dir(big, 10*days, client...), between.dir(newKey(t), 10*days, client...)} {
		if got := words(h.ask(load(t, dir, after(0)), "localhost")); got != "served" {
			t.Error(got)
		}
	}
	good := load(t, root.dir(newKey(t), 10*days, client...), after(0))
	for want, usage := range map[string][]x509.ExtKeyUsage{
		"is for agents and for clients, which are to be kept apart": both,
		"does not say that it is for ":                              nil,
		"which are to be kept apart":                                {x509.ExtKeyUsageAny},
		"extended key usage":                                        {x509.ExtKeyUsageCodeSigning},
	} {
		dir := root.dir(newKey(t), 10*days, usage...)
		for _, role := range []mtls.Role{mtls.Agent, mtls.Client} {
			if _, err := mtls.Load(dir, role); !strings.Contains(words(err), want) {
				t.Errorf("%s: want %q: %s", role, want, words(err))
			}
		}
		pair, err := tls.LoadX509KeyPair(dir+"/tls.crt", dir+"/tls.key")
		if err != nil {
			t.Fatal(err)
		}
		before := len(h.who)
		conn, err := tls.Dial("tcp", h.at, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"gostap"},
			Certificates: []tls.Certificate{pair}})
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		if err == nil || len(h.who) != before {
			t.Errorf("%s: came in", want)
		}
		h.awaits(want)
		other := listen(t, tlsServer(&tls.Config{NextProtos: []string{"gostap"}, Certificates: []tls.Certificate{pair}},
			"gostap\n"))
		if got := words(other.ask(good, "localhost")); !strings.Contains(got, "its certificate "+want) &&
			!strings.Contains(got, want) {
			t.Errorf("want %q: %s", want, got)
		}
	}
	if got := words(h.ask(good, "localhost")); got != "served" {
		t.Error(got)
	}
	// An authority that has ended.
	dir := between.dir(newKey(t), 30*days, client...)
	_, err = mtls.LoadAt(dir, mtls.Client, after(25*days))
	if got := words(err); !strings.Contains(got, "tls.crt: the certificate of its authority was valid until ") {
		t.Error(got)
	}
}
