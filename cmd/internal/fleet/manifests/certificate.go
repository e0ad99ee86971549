package manifests

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// The Secret with the certificate, and what it has.
const (
	SecretName = "gostap-fleet-tls"
	CAKey      = "ca.crt"
	CertKey    = "tls.crt"
	KeyKey     = "tls.key"
)

// Certificate is the webhooks', in the form of PEM, and that of the authority which has made it.
type Certificate struct{ CA, Cert, Key []byte }

// NewCertificate makes a server's certificate, and the one of an authority that has made this one and no other: its key
// is not kept.
func NewCertificate(host string, valid time.Duration) (*Certificate, error) {
	now := time.Now()
	make := func(t, by *x509.Certificate, pub *ecdsa.PublicKey, with *ecdsa.PrivateKey) ([]byte, error) {
		serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
		if err != nil {
			return nil, err
		}
		t.SerialNumber, t.NotBefore, t.NotAfter = serial, now.Add(-time.Hour), now.Add(valid)
		der, err := x509.CreateCertificate(rand.Reader, t, by, pub, with)
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
	}
	above, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	authority := &x509.Certificate{Subject: pkix.Name{CommonName: "gostap-fleet webhooks"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	var c Certificate
	if c.CA, err = make(authority, authority, &above.PublicKey, above); err != nil {
		return nil, err
	}
	server := &x509.Certificate{Subject: pkix.Name{CommonName: "gostap-fleet"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true}
	if ip := net.ParseIP(host); ip != nil {
		server.IPAddresses = []net.IP{ip}
	} else {
		server.DNSNames = []string{host}
	}
	if c.Cert, err = make(server, authority, &own.PublicKey, above); err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(own)
	c.Key = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return &c, err
}

// Good says that webhooks can be reached by it under a name, now and for more than a third of all its time.
func (c *Certificate) Good(host string, now time.Time) bool {
	pair, err := tls.X509KeyPair(c.Cert, c.Key)
	if err != nil {
		return false
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(c.CA) {
		return false
	}
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: host, CurrentTime: now})
	return err == nil && now.Before(renewal(pair.Leaf))
}

// renewal is when a third of its time is left.
func renewal(c *x509.Certificate) time.Time {
	return c.NotAfter.Add(-c.NotAfter.Sub(c.NotBefore) / 3)
}

// renew is from when on another one is made: what the chart for Helm, which cannot read certificates, keeps it by.
func (c *Certificate) renew() string {
	var at time.Time // of what is none, which Good refuses
	if block, _ := pem.Decode(c.Cert); block != nil {
		if leaf, err := x509.ParseCertificate(block.Bytes); err == nil {
			at = renewal(leaf)
		}
	}
	return at.UTC().Format(time.RFC3339)
}

// digest is in the pods' template, so that another certificate begins them anew.
func (c *Certificate) digest() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(encoded(c.Cert))))
}

func encoded(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
