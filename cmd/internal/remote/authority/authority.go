// Package authority is the command "gostap agent keys": it makes certificates for agents and clients, and the
// authority that vouches for them.
//
// In: the command's arguments. Out: a directory with the authority, and one with ca.crt, tls.crt and tls.key for each
// name. Nothing that is there is written to.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/remote/mtls"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/foreign"
)

const (
	own     = "authority" // the directory of the authority
	ownCert = "ca.crt"
	ownKey  = "ca.key"
)

const day = 24 * time.Hour

// ownTime is how long an authority is valid.
const ownTime = 3652 * day

// early is how long before now certificates are valid: clocks differ.
const early = time.Hour

// wanted is a certificate that is asked for.
type wanted struct {
	dir, name string
	hosts     []string // of an agent
	client    bool
}

// Run runs the command. usage is what --help prints.
func Run(args []string, out, errw io.Writer, usage string) int {
	f := pflag.NewFlagSet("agent keys", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	clients := f.StringArray("client", nil, "")
	valid := f.String("valid", "365d", "")
	err := f.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(out, usage)
		return 0
	}
	if err != nil {
		return slip.Failed(errw, slip.New("agent keys: "+err.Error(), "gostap agent --help tells how it is called"))
	}
	if f.NArg() == 0 || f.NArg() == 1 && len(*clients) == 0 {
		return slip.Failed(errw, slip.New("agent keys: a directory is missing, or who gets certificates",
			"gostap agent keys DIR HOST --client NAME"))
	}
	lasts, err := duration(*valid)
	if err == nil {
		err = makeAll(f.Arg(0), f.Args()[1:], *clients, lasts, time.Now(), out)
	}
	if err != nil {
		return slip.Failed(errw, err)
	}
	return 0
}

// duration reads --valid: 90d, or what Go takes.
func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if days, is := strings.CutSuffix(s, "d"); is {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 15)
		d = time.Duration(n) * day
	}
	if err != nil || d <= 0 {
		return 0, slip.New(fmt.Sprintf("--valid takes a time such as 90d or 12h, not %q", s), "")
	}
	return d, nil
}

// makeAll makes what is asked for, and nothing if one of it cannot be.
func makeAll(dir string, agents, clients []string, lasts time.Duration, now time.Time, out io.Writer) error {
	var all []wanted
	for _, a := range agents {
		hosts := strings.Split(a, ",")
		all = append(all, wanted{dir: filepath.Join(dir, hosts[0]), name: hosts[0], hosts: hosts})
	}
	for _, c := range clients {
		all = append(all, wanted{dir: filepath.Join(dir, c), name: c, client: true})
	}
	seen := map[string]bool{}
	for _, w := range all {
		if err := w.check(); err != nil {
			return err
		}
		if err := absent(w.dir, "remove it, or name another directory, to have new ones"); err != nil {
			return err
		}
		if seen[w.name] {
			return slip.New(w.name+" is named twice", "an agent and a client have names of their own")
		}
		seen[w.name] = true
	}
	ca, err := open(dir, now, out)
	if err != nil {
		return err
	}
	if until := now.Add(lasts); until.After(ca.cert.NotAfter) {
		return slip.New(fmt.Sprintf("--valid: the authority in %s ends before that, at %s", filepath.Join(dir, own),
			ca.cert.NotAfter.UTC().Format("2006-01-02")), "a shorter time, or a new authority in another directory")
	}
	for _, w := range all {
		if err := ca.make(w, now, now.Add(lasts)); err != nil {
			return err
		}
		kind := "an agent"
		if w.client {
			kind = "a client"
		}
		fmt.Fprintf(out, "%s: of %s, valid until %s\n", w.dir, kind, now.Add(lasts).UTC().Format("2006-01-02"))
	}
	return nil
}

var (
	hostName   = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*$`)
	clientName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,62}$`)
)

func (w *wanted) check() error {
	if w.name == own {
		return slip.New("the name "+own+" is that of the authority's directory", "")
	}
	if w.client {
		if !clientName.MatchString(w.name) {
			return slip.New(fmt.Sprintf("--client: %q is no name", w.name),
				"a name has up to 63 letters, digits and . _ @ + -")
		}
		return nil
	}
	for _, h := range w.hosts {
		if net.ParseIP(h) == nil && (!hostName.MatchString(h) || len(h) > 253) {
			return slip.New(fmt.Sprintf("%q is neither the name of a host nor an address", h),
				"an agent has the name by which clients name its host; --client NAME makes one for a client")
		}
	}
	return nil
}

// absent makes sure that nothing is at a path.
func absent(path, hint string) error {
	if _, err := os.Lstat(path); err == nil {
		return slip.New(path+" is there already, and is not written over", hint)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return slip.Plain(err)
	}
	return nil
}

// maker is an authority.
type maker struct {
	cert *x509.Certificate
	pem  []byte
	key  *ecdsa.PrivateKey
}

// open reads the authority in dir, or makes it.
func open(dir string, now time.Time, out io.Writer) (*maker, error) {
	at := filepath.Join(dir, own)
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		return create(dir, now, out)
	}
	text, err := foreign.ReadFile(filepath.Join(at, ownCert), 1<<20)
	if err != nil {
		return nil, slip.Plain(err)
	}
	key, err := foreign.ReadFile(filepath.Join(at, ownKey), 1<<20)
	if err != nil {
		return nil, slip.New(slip.Plain(err).Error(), "the key of the authority is needed to make certificates")
	}
	bad := func() error { return fmt.Errorf("%s: its files are not those of an authority", at) }
	c, k := block(text), block(key)
	if c == nil || k == nil {
		return nil, bad()
	}
	m := &maker{pem: text}
	if m.cert, err = x509.ParseCertificate(c.Bytes); err != nil {
		return nil, bad()
	}
	parsed, err := x509.ParsePKCS8PrivateKey(k.Bytes)
	if err != nil {
		return nil, bad()
	}
	var is bool
	if m.key, is = parsed.(*ecdsa.PrivateKey); !is || !m.key.PublicKey.Equal(m.cert.PublicKey) {
		return nil, bad()
	}
	return m, nil
}

func block(text []byte) *pem.Block {
	b, _ := pem.Decode(text)
	return b
}

// create makes an authority.
func create(dir string, now time.Time, out io.Writer) (*maker, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "gostap authority " + now.UTC().Format("2006-01-02")},
		NotBefore: now.Add(-early), NotAfter: now.Add(ownTime), IsCA: true, BasicConstraintsValid: true,
		MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return nil, err
	}
	m := &maker{key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
	if m.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	secret, err := secretOf(key)
	if err != nil {
		return nil, err
	}
	at := filepath.Join(dir, own)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, slip.Plain(err)
	}
	if err := appear(at, map[string][]byte{ownCert: m.pem, ownKey: secret}); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%s: the authority, valid until %s; who has its key can make certificates\n", at,
		c.NotAfter.UTC().Format("2006-01-02"))
	return m, nil
}

// make makes the directory of an agent or a client.
func (m *maker) make(w wanted, now, until time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	from := now.Add(-early)
	if from.Before(m.cert.NotBefore) {
		from = m.cert.NotBefore
	}
	c := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: w.name}, NotBefore: from, NotAfter: until,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if w.client {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	for _, h := range w.hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, m.cert, key.Public(), m.key)
	if err != nil {
		return err
	}
	secret, err := secretOf(key)
	if err != nil {
		return err
	}
	return appear(w.dir, map[string][]byte{mtls.AuthorityFile: m.pem, mtls.KeyFile: secret,
		mtls.CertFile: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})})
}

// appear makes a directory with files, whole or not at all.
func appear(dir string, files map[string][]byte) error {
	made, err := os.MkdirTemp(filepath.Dir(dir), ".gostap-")
	if err != nil {
		return slip.Plain(err)
	}
	defer os.RemoveAll(made) // nothing, once it has its name
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(made, name), text, 0o600); err != nil {
			return slip.Plain(err)
		}
	}
	// Rename puts nothing in the place of a directory that has something in it; an empty one is no loss.
	if err := os.Rename(made, dir); err != nil {
		return fmt.Errorf("%s: %w", dir, errors.Unwrap(err))
	}
	return nil
}

func secretOf(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

func serial() *big.Int {
	b := make([]byte, 16)
	rand.Read(b)
	b[0] = b[0]&0x7f | 0x40 // positive, and always of one length
	return new(big.Int).SetBytes(b)
}
