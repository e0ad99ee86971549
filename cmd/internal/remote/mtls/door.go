package mtls

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gostap/gostap/cmd/internal/remote/crowd"
)

// Peer is a client that has proved who it is.
type Peer struct {
	// Name is the common name of its certificate, Serial the number of that, From its address.
	Name, Serial, From string
	conn               *tls.Conn
	raw                net.Conn
}

// Door lets clients in.
type Door struct {
	// Keys are those of the agent.
	Keys *Source
	// Allow are the common names that may enter, none for all that the authority vouches for.
	Allow []string
	// Enter is called for each who may, in a goroutine of its own. It says Welcome or Refuse, and Close.
	Enter func(*Peer)
	// Refused is told why somebody did not come in. It may be called from any goroutine.
	Refused func(from, why string)
	waiting crowd.Crowd[*guest]
}

// Serve lets in who connects to l, until that is closed.
func (d *Door) Serve(l net.Listener) {
	d.waiting.Most = mostWaiting
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			d.Refused("", err.Error())
			time.Sleep(100 * time.Millisecond) // too many open files, perhaps
			continue
		}
		g := &guest{Conn: c, left: mostUnproved}
		if late, full := d.waiting.Add(g, crowd.Address(c)); full {
			late.dropped.Store(true)
			late.Close()
		}
		go d.meet(g)
	}
}

// meet has a guest prove who it is.
func (d *Door) meet(g *guest) {
	from := g.RemoteAddr().String()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	t := tls.Server(g, d.asAgent())
	err := t.HandshakeContext(ctx)
	if d.waiting.Remove(g); err != nil {
		g.Close()
		d.Refused(from, g.why(err, d.Keys.clock()))
		return
	}
	g.proved = true
	c := t.ConnectionState().PeerCertificates[0]
	p := &Peer{Name: c.Subject.CommonName, Serial: fmt.Sprintf("%x", c.SerialNumber), From: from, conn: t, raw: g.Conn}
	switch {
	case p.Name == "":
		p.Refuse("your certificate has no common name")
		d.Refused(from, "its certificate has no common name")
	case len(d.Allow) > 0 && !slices.Contains(d.Allow, p.Name):
		p.Refuse(fmt.Sprintf("%s is not among those that the agent is told to --allow", p.Name))
		d.Refused(from, fmt.Sprintf("%s (certificate %s) is not allowed", p.Name, p.Serial))
	default:
		d.Enter(p)
		return
	}
	p.Close()
}

// asAgent is how clients are met, with the certificates of the moment.
func (d *Door) asAgent() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			if !slices.Contains(h.SupportedProtos, protocol) {
				return nil, errStranger
			}
			k := d.Keys.Keys()
			return &tls.Config{
				MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{k.cert}, Time: k.clock,
				ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: k.authority, NextProtos: []string{protocol},
				SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true,
				VerifyConnection: func(s tls.ConnectionState) error {
					if why := unfit(s.PeerCertificates[0], Client); why != "" {
						return errors.New("its certificate " + why)
					}
					return nil
				},
			}, nil
		},
	}
}

// errStranger refuses who wants something else than gostap.
var errStranger = errors.New("it speaks TLS, but is no gostap")

// Welcome says that a session begins.
func (p *Peer) Welcome() error { return p.say(welcome) }

// Refuse says why none does.
func (p *Peer) Refuse(why string) { p.say(refusal + why[:min(len(why), mostLine-len(refusal))]) }

func (p *Peer) say(line string) error {
	if err := p.conn.SetDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	_, err := io.WriteString(p.conn, line+"\n")
	if err == nil {
		err = p.conn.SetDeadline(time.Time{})
	}
	return err
}

// Read gives what the client says. Who says something is there: that it takes nothing at the time, since nobody reads
// what it prints, is no reason to cut it off.
func (p *Peer) Read(b []byte) (int, error) {
	n, err := p.conn.Read(b)
	if n > 0 {
		p.conn.SetWriteDeadline(time.Now().Add(stuck))
	}
	return n, err
}

// Write is for the client. Its error is final.
func (p *Peer) Write(b []byte) (int, error) { return (&steady{p.conn}).Write(b) }

// Done says that nothing more is written. What the client still says can be read, for a short time.
func (p *Peer) Done() {
	p.conn.SetDeadline(time.Now().Add(within))
	p.conn.CloseWrite()
	if t, ok := p.raw.(*net.TCPConn); ok {
		t.CloseWrite()
	}
}

// Close cuts the connection.
func (p *Peer) Close() {
	p.conn.SetDeadline(time.Now().Add(time.Second)) // for the word that it is over
	p.conn.Close()
}

// mostUnproved is how much is read of a guest before it has proved who it is: some certificates.
const mostUnproved = 64 << 10

// guest is a connection of somebody unknown.
type guest struct {
	net.Conn
	left    int         // bytes that may come
	proved  bool        // that is over
	dropped atomic.Bool // it had to go for another
}

var errTalks = fmt.Errorf("it sent %d KB and had not proved who it is", mostUnproved>>10)

func (g *guest) Read(b []byte) (int, error) {
	if g.proved {
		return g.Conn.Read(b)
	}
	if g.left <= 0 {
		return 0, errTalks
	}
	n, err := g.Conn.Read(b[:min(len(b), g.left)])
	g.left -= n
	return n, err
}

// why says what came of a handshake.
func (g *guest) why(err error, now time.Time) string {
	var (
		invalid *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		expired x509.CertificateInvalidError
		record  tls.RecordHeaderError
	)
	switch {
	case g.dropped.Load():
		return "it had to make place for others that wait"
	case errors.As(err, &invalid) && errors.As(err, &unknown):
		return "its certificate is of another authority"
	case errors.As(err, &expired) && expired.Reason == x509.Expired && expired.Cert != nil:
		return "its certificate " + untimely(expired.Cert, now)
	case errors.As(err, &expired) && expired.Reason == x509.IncompatibleUsage && expired.Cert != nil:
		return "its certificate " + unfit(expired.Cert, Client)
	case errors.As(err, &record):
		return "it does not speak TLS"
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("it did not prove who it is within %v", within)
	case errors.Is(err, io.EOF):
		return "it went before it had proved who it is"
	}
	return err.Error()
}

// mostWaiting is how many guests are met at a time.
const mostWaiting = 256
