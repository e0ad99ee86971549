// Package mtls connects gostap with agents on other machines by TLS: both sides show certificates of one authority.
//
// In: a directory with ca.crt, tls.crt and tls.key; an address. Out: connections whose other end has proved who it is,
// and reasons in plain words why there is none.
//
// TLS 1.3 alone is spoken. A certificate is for agents or for clients (extended key usage), never for both, so that
// one that is stolen from an agent asks no other agent. The other end's certificate, its name included, is looked at
// before a byte of it is taken for anything but TLS.
package mtls

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/environ"
	"github.com/gostap/gostap/compiler/foreign"
)

// Port is where agents listen if nothing is said.
const Port = "7478"

// protocol is what the two sides agree on within TLS, so that neither takes another server or client for gostap.
const protocol = "gostap"

// within bounds the time from a connection to a session.
const within = 10 * time.Second

// The files of a directory.
const (
	AuthorityFile = "ca.crt"
	CertFile      = "tls.crt"
	KeyFile       = "tls.key"
)

var files = []string{AuthorityFile, CertFile, KeyFile}

// mostBytes is how long a file can be.
const mostBytes = 1 << 20

// Role is what a certificate is for.
type Role string

// The roles.
const (
	Agent  Role = "an agent"
	Client Role = "a client"
)

// Keys are the files of a directory.
type Keys struct {
	Dir       string
	cert      tls.Certificate
	authority *x509.CertPool
	clock     func() time.Time
}

// ClientDir is where the certificates of a client are: where it was said, or gostap/tls of the user's configuration.
func ClientDir(said string, env []string) (string, error) {
	if said != "" {
		return said, nil
	}
	dir := environ.Get(env, "XDG_CONFIG_HOME")
	if home := environ.Get(env, "HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if dir != "" {
		dir = filepath.Join(dir, "gostap", "tls")
		if _, err := os.Stat(dir); err == nil {
			return dir, nil
		}
	}
	return "", slip.New("tls:// needs a certificate of a client, and there are neither --tls DIR nor "+
		"~/.config/gostap/tls", "gostap agent keys --help tells how certificates are made")
}

// Load reads the files of a directory and looks whether they are good for a role now.
func Load(dir string, role Role) (*Keys, error) { return load(dir, role, time.Now) }

func load(dir string, role Role, clock func() time.Time) (*Keys, error) {
	k := &Keys{Dir: dir, clock: clock}
	var text [3][]byte
	for i, name := range files {
		var err error
		if text[i], err = foreign.ReadFile(filepath.Join(dir, name), mostBytes); err != nil {
			hint := ""
			if errors.Is(err, fs.ErrNotExist) {
				hint = "gostap agent keys makes ca.crt, tls.crt and tls.key"
			}
			return nil, slip.New(slip.Plain(err).Error(), hint)
		}
	}
	if st, err := os.Stat(k.path(KeyFile)); err != nil {
		return nil, slip.Plain(err)
	} else if st.Mode()&0o007 != 0 {
		return nil, slip.New(k.path(KeyFile)+": everybody may read it, so it proves nothing",
			"chmod 600 "+k.path(KeyFile)+", or better: a new key")
	}
	if err := k.trust(text[0]); err != nil {
		return nil, err
	}
	var err error
	if k.cert, err = tls.X509KeyPair(text[1], text[2]); err != nil {
		return nil, slip.New(fmt.Sprintf("%s and %s: %v", k.path(CertFile), KeyFile, err),
			"the two are made together: gostap agent keys")
	}
	if k.cert.Leaf == nil { // as GODEBUG may have it
		if k.cert.Leaf, err = x509.ParseCertificate(k.cert.Certificate[0]); err != nil {
			return nil, fmt.Errorf("%s: %w", k.path(CertFile), err)
		}
	}
	if err := k.check(role); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *Keys) path(name string) string { return filepath.Join(k.Dir, name) }

// trust reads the certificates of the authority. There may be several, while one is being replaced by another.
func (k *Keys) trust(text []byte) error {
	k.authority = x509.NewCertPool()
	n := 0
	for b, rest := pem.Decode(text); b != nil; b, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return fmt.Errorf("%s: %w", k.path(AuthorityFile), err)
		}
		k.authority.AddCert(c)
		n++
	}
	if n == 0 {
		return slip.New(k.path(AuthorityFile)+" has no certificate in it", "")
	}
	return nil
}

// check looks whether the own certificate can be shown by who has the role.
func (k *Keys) check(role Role) error {
	c, path := k.cert.Leaf, k.path(CertFile)
	again := "gostap agent keys makes a new one"
	if why := untimely(c, k.clock()); why != "" {
		return slip.New(path+" "+why, again+"; or is the clock wrong?")
	}
	if why := unfit(c, role); why != "" {
		return slip.New(path+" "+why, again)
	}
	err := k.verify(c, k.cert.Certificate[1:])
	if late, is := errors.AsType[x509.CertificateInvalidError](err); is && late.Reason == x509.Expired {
		return slip.New(fmt.Sprintf("%s: the certificate of its authority %s", path, untimely(late.Cert, k.clock())),
			"a new authority makes new certificates: gostap agent keys, with another directory")
	}
	if err != nil {
		return slip.New(fmt.Sprintf("%s is not of the authority in %s", path, AuthorityFile),
			"the three files of a directory belong together")
	}
	return nil
}

// verify follows the signatures of a certificate to the authority.
func (k *Keys) verify(c *x509.Certificate, between [][]byte) error {
	pool := x509.NewCertPool()
	for _, der := range between {
		if c, err := x509.ParseCertificate(der); err == nil {
			pool.AddCert(c)
		}
	}
	_, err := c.Verify(x509.VerifyOptions{Roots: k.authority, Intermediates: pool, CurrentTime: k.clock(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err
}

// Until is when the own certificate ends, and Name whose it is.
func (k *Keys) Until() time.Time { return k.cert.Leaf.NotAfter }

// Name is the common name of the own certificate.
func (k *Keys) Name() string { return k.cert.Leaf.Subject.CommonName }

// unfit says why a certificate is not for a role, "" if it is.
func unfit(c *x509.Certificate, role Role) string {
	has := func(u x509.ExtKeyUsage) bool {
		return slices.Contains(c.ExtKeyUsage, u) || slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageAny)
	}
	agent, client := has(x509.ExtKeyUsageServerAuth), has(x509.ExtKeyUsageClientAuth)
	switch {
	case agent && client:
		return "is for agents and for clients, which are to be kept apart (extended key usage)"
	case role == Agent && client:
		return "is one of a client, not of an agent"
	case role == Client && agent:
		return "is one of an agent, not of a client"
	case !agent && !client:
		return "does not say that it is for " + string(role) + " (extended key usage)"
	}
	return ""
}

// untimely says why a certificate is not valid at a time, "" if it is.
func untimely(c *x509.Certificate, now time.Time) string {
	switch {
	case now.After(c.NotAfter):
		return fmt.Sprintf("was valid until %s, and the clock here says %s", stamp(c.NotAfter), stamp(now))
	case now.Before(c.NotBefore):
		return fmt.Sprintf("is valid from %s on, and the clock here says %s", stamp(c.NotBefore), stamp(now))
	}
	return ""
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
