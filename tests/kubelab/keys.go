package main

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
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority signs the cluster's certificates.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// openAuthority reads the authority in a folder, or makes one, with a key that signs the tokens of service accounts.
func openAuthority(dir string) (*authority, error) {
	a := &authority{dir: dir}
	if pair, err := tls.LoadX509KeyPair(a.file("ca.crt"), a.file("ca.key")); err == nil {
		a.cert, a.key = pair.Leaf, pair.PrivateKey.(crypto.Signer)
		return a, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	tokens, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(tokens)})
	if err := os.WriteFile(a.file("tokens.key"), text, 0o600); err != nil {
		return nil, err
	}
	return a, a.issue("ca", &x509.Certificate{Subject: pkix.Name{CommonName: "kubelab"}, IsCA: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature})
}

// issue makes a key and a certificate in files of that name. The first is the authority's own.
func (a *authority) issue(name string, c *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if c.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return err
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
	c.BasicConstraintsValid = true
	if a.cert == nil {
		a.cert, a.key = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("certificate %s: %w", name, err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
	if err := os.WriteFile(a.file(name+".key"), text, 0o600); err != nil {
		return err
	}
	text = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if c.IsCA { // with what was filled in
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			return err
		}
	}
	return os.WriteFile(a.file(name+".crt"), text, 0o644)
}

// issueClient makes a certificate that says who asks the API server.
func (a *authority) issueClient(name, user string, groups ...string) error {
	return a.issue(name, &x509.Certificate{Subject: pkix.Name{CommonName: user, Organization: groups},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
}

// issueServer makes a certificate of the API server.
func (a *authority) issueServer(name string, address net.IP) error {
	return a.issue(name, &x509.Certificate{Subject: pkix.Name{CommonName: "kube-apiserver"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{address},
		DNSNames:    []string{"kubernetes.default.svc", "kubernetes.default", "kubernetes"}})
}
