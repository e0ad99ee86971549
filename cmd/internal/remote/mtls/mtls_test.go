package mtls_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gostap/gostap/cmd/internal/remote/authority"
	"github.com/gostap/gostap/cmd/internal/remote/mtls"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// keys makes certificates below a directory.
func keys(t *testing.T, dir string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	if authority.Run(append([]string{dir}, args...), &out, &out, "") != 0 {
		t.Fatalf("%q: %s", args, &out)
	}
}

// after gives a clock that is off.
func after(d time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(d) } }

const days = 24 * time.Hour

// host is an agent that gives back what it gets.
type host struct {
	t       *testing.T
	at      string
	mu      sync.Mutex
	refused []string
	who     []string
	close   func()
}

func serve(t *testing.T, dir string, clock func() time.Time, allow ...string) *host {
	t.Helper()
	h := &host{t: t}
	source, err := mtls.OpenAt(dir, mtls.Agent, func(text string) { h.note(&h.refused, text) }, clock)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	h.at = l.Addr().String()
	door := &mtls.Door{Keys: source, Allow: allow,
		Refused: func(from, why string) { h.note(&h.refused, why) },
		Enter: func(p *mtls.Peer) {
			defer p.Close()
			h.note(&h.who, p.Name)
			if p.Welcome() == nil {
				io.Copy(p, p)
			}
		}}
	go door.Serve(l)
	return h
}

func (h *host) note(list *[]string, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*list = append(*list, text)
}

func (h *host) told() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.refused)
}

// awaits waits until somebody was refused with these words.
func (h *host) awaits(words string) {
	h.t.Helper()
	for range 2000 {
		if slices.ContainsFunc(h.told(), func(s string) bool { return strings.Contains(s, words) }) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	h.t.Errorf("nobody was refused with %q: %q", words, h.told())
}

// ask has a client say something and hear it again.
func (h *host) ask(k *mtls.Keys, name string) error {
	_, port, _ := net.SplitHostPort(h.at)
	c, err := k.Dial(context.Background(), name, port)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute)) // what answers may be no agent
	b := make([]byte, 5)
	if _, err = io.WriteString(c, "hello"); err == nil {
		_, err = io.ReadFull(c, b)
	}
	if err == nil && string(b) != "hello" {
		err = fmt.Errorf("%q came back", b)
	}
	return err
}

func words(err error) string {
	if err == nil {
		return "served"
	}
	var s *slip.Error
	if errors.As(err, &s) {
		return s.Text + " | " + s.Hint
	}
	return err.Error()
}

func load(t *testing.T, dir string, clock func() time.Time) *mtls.Keys {
	t.Helper()
	k, err := mtls.LoadAt(dir, mtls.Client, clock)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestDial: who is of the authority comes in; who is not, or meets another, is told what is wrong in plain words, and
// the agent goes on.
func TestDial(t *testing.T) {
	dir := t.TempDir()
	keys(t, dir+"/a", "localhost,127.0.0.1", "--client", "ann", "--client", "bob")
	keys(t, dir+"/a", "--client", "old", "--valid", "1h")
	keys(t, dir+"/a", "--client", "long", "--valid", "3000d")
	keys(t, dir+"/b", "localhost", "--client", "eve")
	now := after(0)
	h, late := serve(t, dir+"/a/localhost", now), serve(t, dir+"/a/localhost", after(2*time.Hour))
	picky, other := serve(t, dir+"/a/localhost", now, "bob"), serve(t, dir+"/b/localhost", now)
	ann := load(t, dir+"/a/ann", now)
	mixed := dir + "/mixed" // takes the agent of b for one of ours, and is not taken by it
	if err := os.CopyFS(mixed, os.DirFS(dir+"/a/ann")); err != nil {
		t.Fatal(err)
	}
	os.Chmod(mixed+"/tls.key", 0o600)
	ca, _ := os.ReadFile(dir + "/a/ann/ca.crt")
	theirs, _ := os.ReadFile(dir + "/b/eve/ca.crt")
	if err := os.WriteFile(mixed+"/ca.crt", append(ca, theirs...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		h    *host
		k    *mtls.Keys
		name string
		want string
	}{
		{h, ann, "localhost", "served"},
		{h, ann, "127.0.0.1", "served"},
		{h, load(t, dir+"/a/old", now), "localhost", "served"},
		{h, load(t, dir+"/a/long", after(2000*days)), "localhost", "its certificate was valid until "},
		{h, load(t, dir+"/a/long", after(2000*days)), "localhost", "is the clock right here?"},
		{h, load(t, dir+"/b/eve", now), "localhost", "its certificate is not of the authority in " + dir + "/b/eve/ca"},
		{other, load(t, mixed, now), "localhost", "is of an authority that the agent does not know"},
		{late, load(t, dir+"/a/old", now), "localhost", "for one out of time; the clock here says "},
		{late, load(t, dir+"/a/old", now), "localhost", "is the clock right there?"},
		{picky, ann, "localhost", "ann is not among those that the agent is told to --allow"},
		{picky, load(t, dir+"/a/bob", now), "localhost", "served"},
	} {
		if got := words(c.h.ask(c.k, c.name)); !strings.Contains(got, c.want) {
			t.Errorf("want %q: %s", c.want, got)
		}
	}
	keys(t, dir+"/a", "web1", "10.0.0.7")
	named := serve(t, dir+"/a/web1", now)
	if got := words(named.ask(ann, "localhost")); got != "its certificate is for web1, and not for localhost | name "+
		"the host as its certificate does, or make another: gostap agent keys DIR localhost" {
		t.Error(got)
	}
	if got := words(serve(t, dir+"/a/10.0.0.7", now).ask(ann, "127.0.0.1")); !strings.Contains(got,
		"its certificate is for 10.0.0.7, and not for 127.0.0.1") {
		t.Error(got)
	}
	picky.awaits("ann (certificate ")
	other.awaits("its certificate is of another authority")
	late.awaits("its certificate was valid until ")
	if got := words(h.ask(ann, "localhost")); got != "served" {
		t.Error(got)
	}
}

// TestOthers: what answers at the port is something else.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	keys(t, dir, "localhost", "--client", "ann")
	ann := load(t, dir+"/ann", after(0))
	pair, err := tls.LoadX509KeyPair(dir+"/localhost/tls.crt", dir+"/localhost/tls.key")
	if err != nil {
		t.Fatal(err)
	}
	client, err := tls.LoadX509KeyPair(dir+"/ann/tls.crt", dir+"/ann/tls.key")
	if err != nil {
		t.Fatal(err)
	}
	hello, agent := []string{"gostap"}, []tls.Certificate{pair}
	for want, answer := range map[string]func(net.Conn){
		"does not speak TLS |":               func(c net.Conn) { io.WriteString(c, "SSH-2.0-x\r\n"); c.Close() },
		"was cut before there was an answer": func(c net.Conn) { c.Read(make([]byte, 10)); c.Close() },
		"is no agent of gostap |":            tlsServer(&tls.Config{Certificates: agent}, ""),
		"is no agent of gostap | is that the port": tlsServer(&tls.Config{NextProtos: hello, Certificates: agent},
			"220 hello\n"),
		"what answers there is no agent of gostap": tlsServer(&tls.Config{NextProtos: hello, Certificates: agent},
			strings.Repeat("x", 5000)),
		"does not speak TLS 1.3": tlsServer(&tls.Config{MaxVersion: tls.VersionTLS12, Certificates: agent}, ""),
		"its certificate is one of a client, not of": tlsServer(&tls.Config{
			Certificates: []tls.Certificate{client}}, ""),
	} {
		h := listen(t, answer)
		if got := words(h.ask(ann, "localhost")); !strings.Contains(got, want) {
			t.Errorf("want %q: %s", want, got)
		}
	}
	gone := listen(t, func(net.Conn) {})
	gone.close()
	if got := words(gone.ask(ann, "localhost")); !strings.Contains(got, "nobody listens at port ") {
		t.Error(got)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the user's signal"))
	if _, err := ann.Dial(ctx, "localhost", "1"); err == nil || err.Error() != "the user's signal" {
		t.Error(err)
	}
	if _, err := ann.Dial(context.Background(), "no-such-host.invalid", "1"); err == nil {
		t.Error("there is a host that there is not")
	}
}

// listen is another server than an agent.
func listen(t *testing.T, answer func(net.Conn)) *host {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			answer(c)
		}
	}()
	return &host{t: t, at: l.Addr().String(), close: func() { l.Close() }}
}

func tlsServer(c *tls.Config, says string) func(net.Conn) {
	return func(raw net.Conn) {
		t := tls.Server(raw, c)
		defer t.Close()
		if t.Handshake() == nil {
			io.WriteString(t, says)
			io.Copy(io.Discard, t)
		}
	}
}

// TestStrangers: clients that are none of ours come no further than the handshake.
func TestStrangers(t *testing.T) {
	dir := t.TempDir()
	keys(t, dir, "localhost", "web2", "--client", "ann")
	h := serve(t, dir+"/localhost", after(0))
	ann := load(t, dir+"/ann", after(0))
	agent, err := tls.LoadX509KeyPair(dir+"/web2/tls.crt", dir+"/web2/tls.key")
	if err != nil {
		t.Fatal(err)
	}
	good, err := tls.LoadX509KeyPair(dir+"/ann/tls.crt", dir+"/ann/tls.key")
	if err != nil {
		t.Fatal(err)
	}
	hello := []string{"gostap"}
	for _, c := range []struct {
		name, want string
		config     *tls.Config
	}{
		{"no certificate", "client didn't provide a certificate", &tls.Config{NextProtos: hello}},
		{"an agent's certificate", "its certificate is one of an agent, not of a client",
			&tls.Config{NextProtos: hello, Certificates: []tls.Certificate{agent}}},
		{"TLS 1.2", "unsupported versions", &tls.Config{NextProtos: hello, MaxVersion: tls.VersionTLS12,
			Certificates: []tls.Certificate{good}}},
		{"another protocol", "it speaks TLS, but is no gostap", &tls.Config{NextProtos: []string{"h2"},
			Certificates: []tls.Certificate{good}}},
	} {
		c.config.InsecureSkipVerify = true
		conn, err := tls.Dial("tcp", h.at, c.config)
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		if err == nil {
			t.Errorf("%s: something was said", c.name)
		}
		h.awaits(c.want)
		if got := words(h.ask(ann, "localhost")); got != "served" {
			t.Errorf("after %s: %s", c.name, got)
		}
	}
	for _, garbage := range []string{"GET / HTTP/1.1\r\n\r\n", "H\x00\x00\x00\x05hello", strings.Repeat("\xff", 100000),
		"\x16\x03\x01\x40\x00" + strings.Repeat("\x01", 20000), "\x16\x03\x01\x00\x04\x01\xff\xff\xff",
		strings.Repeat("\x16\x03\x01\x40\x00\x01\xff\xff\xff"+strings.Repeat("z", 1<<14-4), 10)} {
		c, err := net.Dial("tcp", h.at)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, garbage)
		io.Copy(io.Discard, c)
		c.Close()
	}
	h.awaits("it does not speak TLS")
	if got := words(h.ask(ann, "localhost")); got != "served" {
		t.Error(got)
	}
	if !slices.Equal(slices.Compact(h.who), []string{"ann"}) {
		t.Errorf("came in: %q", h.who)
	}
}

// TestCrowd: connections that say nothing keep nobody out, and the oldest of them make place.
func TestCrowd(t *testing.T) {
	dir := t.TempDir()
	keys(t, dir, "localhost", "--client", "ann")
	h := serve(t, dir+"/localhost", after(0))
	ann := load(t, dir+"/ann", after(0))
	for range 1000 {
		c, err := net.Dial("tcp", h.at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	for range 3 {
		if got := words(h.ask(ann, "localhost")); got != "served" {
			t.Error(got)
		}
	}
	h.awaits("it had to make place for others that wait")
	for range 3000 {
		if len(h.told()) >= 1000-mtls.MostWaiting {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := len(h.told()); n < 1000-mtls.MostWaiting {
		t.Errorf("%d were sent away", n)
	}
}

// TestRenewal: new files are used without a restart, and files that are no good are told and leave those of before.
func TestRenewal(t *testing.T) {
	dir := t.TempDir()
	keys(t, dir+"/a", "localhost", "--client", "ann")
	keys(t, dir+"/b", "localhost", "--client", "bob")
	h := serve(t, dir+"/a/localhost", after(0))
	ann, bob := load(t, dir+"/a/ann", after(0)), load(t, dir+"/b/bob", after(0))
	if got := words(h.ask(ann, "localhost")); got != "served" {
		t.Error(got)
	}
	crt := filepath.Join(dir, "a/localhost/tls.crt")
	if err := os.WriteFile(crt, []byte("-----BEGIN CERT"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := words(h.ask(ann, "localhost")); got != "served" {
		t.Error(got)
	}
	h.awaits("the certificates of before stay, until ")
	for _, name := range []string{"ca.crt", "tls.crt", "tls.key"} {
		if err := os.Rename(dir+"/b/localhost/"+name, dir+"/a/localhost/"+name); err != nil {
			t.Fatal(err)
		}
	}
	if got := words(h.ask(bob, "localhost")); got != "served" {
		t.Error(got)
	}
	if got := words(h.ask(ann, "localhost")); !strings.Contains(got, "is not of the authority") {
		t.Error(got)
	}
	h.awaits("have changed; now it is localhost, valid until ")
}

// TestLoad: what is wrong with files is said before anybody is asked.
func TestLoad(t *testing.T) {
	top := t.TempDir()
	keys(t, top, "web1", "--client", "ann")
	keys(t, top+"/b", "--client", "ann")
	other, _ := os.ReadFile(top + "/b/ann/tls.key")
	otherCA, _ := os.ReadFile(top + "/b/ann/ca.crt")
	for _, c := range []struct {
		name, want string
		spoil      func(dir string) error
		clock      func() time.Time
	}{
		{"good", "served", nil, after(0)},
		{"too late", "tls.crt was valid until ", nil, after(366 * days)},
		{"too early", "tls.crt is valid from ", nil, after(-2 * days)},
		{"no key", "tls.key: no such file", func(d string) error { return os.Remove(d + "/tls.key") }, after(0)},
		{"nothing", "ca.crt: no such file", os.RemoveAll, after(0)},
		{"open", "everybody may read it", func(d string) error { return os.Chmod(d+"/tls.key", 0o644) }, after(0)},
		{"another's key", "private key does not match", func(d string) error {
			return os.WriteFile(d+"/tls.key", other, 0o600)
		}, after(0)},
		{"another's authority", "tls.crt is not of the authority in ca.crt", func(d string) error {
			return os.WriteFile(d+"/ca.crt", otherCA, 0o600)
		}, after(0)},
		{"no authority", "ca.crt has no certificate in it", func(d string) error {
			return os.WriteFile(d+"/ca.crt", []byte("x"), 0o600)
		}, after(0)},
		{"half an authority", "ca.crt: ", func(d string) error {
			b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})
			return os.WriteFile(d+"/ca.crt", b, 0o600)
		}, after(0)},
		{"no certificate", "failed to find any PEM data", func(d string) error {
			return os.WriteFile(d+"/tls.crt", nil, 0o600)
		}, after(0)},
	} {
		dir := filepath.Join(t.TempDir(), "k")
		if err := os.CopyFS(dir, os.DirFS(top+"/ann")); err != nil {
			t.Fatal(err)
		}
		os.Chmod(dir+"/tls.key", 0o600)
		if c.spoil != nil {
			if err := c.spoil(dir); err != nil {
				t.Fatal(err)
			}
		}
		_, err := mtls.LoadAt(dir, mtls.Client, c.clock)
		if got := words(err); !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q: %s", c.name, c.want, got)
		}
	}
	for want, got := range map[string]error{
		"is one of an agent, not of a client": second(mtls.Load(top+"/web1", mtls.Client)),
		"is one of a client, not of an agent": second(mtls.Load(top+"/ann", mtls.Agent)),
	} {
		if !strings.Contains(words(got), want) {
			t.Errorf("want %q: %v", want, got)
		}
	}
	b, _ := os.ReadFile(top + "/web1/tls.crt")
	block, _ := pem.Decode(b)
	if c, err := x509.ParseCertificate(block.Bytes); err != nil || c.IsCA || len(c.ExtKeyUsage) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestClientDir: where a client's certificates are looked for.
func TestClientDir(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home}
	if _, err := mtls.ClientDir("", env); err == nil || !strings.Contains(err.Error(), "neither --tls DIR nor") {
		t.Error(err)
	}
	want := home + "/.config/gostap/tls"
	if err := os.MkdirAll(want, 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, e := range map[string][]string{want: env, "x": nil} {
		said := ""
		if e == nil {
			said = "x"
		}
		if got, err := mtls.ClientDir(said, e); got != dir || err != nil {
			t.Errorf("%s: %s, %v", dir, got, err)
		}
	}
}
