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
	"strings"
	"syscall"
	"time"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// Dial connects to an agent. What it gives is the link to a session.
func (k *Keys) Dial(ctx context.Context, host, port string) (net.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(limited, "tcp", net.JoinHostPort(host, port))
	if err == nil {
		c, err = k.enter(limited, c, host)
	}
	if ctx.Err() != nil {
		if err == nil {
			c.Close()
		}
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, k.words(err, host, port)
	}
	return c, nil
}

// enter has both sides prove who they are, and waits for the agent's word. It closes c if it fails.
func (k *Keys) enter(ctx context.Context, c net.Conn, host string) (net.Conn, error) {
	t := tls.Client(c, k.asClient(host))
	err := t.HandshakeContext(ctx)
	// The agent looks at our certificate after our part of the handshake is over.
	defer context.AfterFunc(ctx, func() { c.Close() })()
	line := ""
	if err == nil {
		line, err = readLine(t)
	}
	if why, refused := strings.CutPrefix(line, refusal); refused {
		err = slip.New(why, "")
	} else if err == nil && line != welcome {
		err = errOther
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return &steady{Conn: t}, nil
}

// asClient is how the agent at host is met.
func (k *Keys) asClient(host string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: k.authority, ServerName: host, NextProtos: []string{protocol},
		Time: k.clock, SessionTicketsDisabled: true,
		// Also where the agent asks for another authority: then it is the one to say so.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &k.cert, nil },
		VerifyConnection: func(s tls.ConnectionState) error {
			if s.NegotiatedProtocol != protocol {
				return errOther
			}
			if why := unfit(s.PeerCertificates[0], Agent); why != "" {
				return slip.New("its certificate "+why, "")
			}
			return nil
		},
	}
}

// What an agent says first, in a line: that a session begins, or why none does.
const (
	welcome = "gostap"
	refusal = "no: "
)

// mostLine is how long that may be.
const mostLine = 500

// readLine reads up to the end of a line, and nothing behind it.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) <= mostLine; {
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[0])
	}
	return "", errOther
}

var errOther = slip.New("what answers there is no agent of gostap", "is that the port of one? It is "+Port+
	" if none is said")

// alerts are what the other side says in TLS, by the words that crypto/tls has for them.
var alerts = map[string]string{
	"tls: unknown certificate authority": "our certificate %s is of an authority that the agent does not know",
	"tls: certificate required":          "the agent says that no certificate was shown to it",
	"tls: bad certificate":               "the agent refuses our certificate %s",
	"tls: unsupported certificate":       "the agent refuses our certificate %s",
}

// words says what went wrong, and what can be done about it.
func (k *Keys) words(err error, host, port string) error {
	again := "certificates of both sides are made by one authority: gostap agent keys"
	var (
		said    *slip.Error
		op      *net.OpError
		name    *net.DNSError
		sys     syscall.Errno
		record  tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		other   x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &said):
		return said
	case errors.As(err, &other) && unfit(other.Certificate, Agent) != "":
		return slip.New("its certificate "+unfit(other.Certificate, Agent), "gostap agent keys DIR "+host+
			" makes one for an agent")
	case errors.As(err, &other):
		return slip.New(fmt.Sprintf("its certificate is for %s, and not for %s", namesOf(other.Certificate), host),
			"name the host as its certificate does, or make another: gostap agent keys DIR "+host)
	case errors.As(err, &unknown):
		return slip.New("its certificate is not of the authority in "+k.path(AuthorityFile), again)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		why := untimely(invalid.Cert, k.clock())
		return slip.New("its certificate "+why, "is the clock right here? Else the agent needs a new certificate: "+
			"gostap agent keys")
	case errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage && invalid.Cert != nil:
		return slip.New("its certificate "+unfit(invalid.Cert, Agent), "gostap agent keys DIR "+host+
			" makes one for an agent")
	case errors.As(err, &record):
		return slip.New("what answers there does not speak TLS", errOther.Hint)
	case errors.As(err, &op) && op.Op == "remote error":
		return k.alert(op.Err.Error(), again)
	case errors.As(err, &name):
		if name.IsNotFound {
			return slip.New("no host of this name is known", "")
		}
		return slip.New("its address was not found: "+name.Err, "")
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, net.ErrClosed):
		return slip.New(fmt.Sprintf("nothing answers at port %s within %v", port, within),
			"is an agent running there, and does a firewall let its port through?")
	case errors.Is(err, syscall.ECONNREFUSED):
		return slip.New("nobody listens at port "+port, "gostap agent --listen :"+port+" --tls DIR is to run there")
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE):
		return slip.New("the connection was cut before there was an answer",
			"the agent's messages say why; or is it no agent that listens at port "+port+"?")
	case errors.As(err, &sys):
		return slip.New(sys.Error(), "")
	case strings.Contains(err.Error(), "protocol version"):
		return slip.New("what answers there does not speak TLS 1.3", errOther.Hint)
	}
	return slip.New(err.Error(), "")
}

// alert says what the agent has against us.
func (k *Keys) alert(text, again string) error {
	switch text {
	case "tls: expired certificate":
		c := k.cert.Leaf
		return slip.New(fmt.Sprintf("the agent takes our certificate %s, valid from %s to %s, for one out of time; "+
			"the clock here says %s", k.path(CertFile), stamp(c.NotBefore), stamp(c.NotAfter), stamp(k.clock())),
			"is the clock right there?")
	case "tls: no application protocol":
		return errOther
	case "tls: protocol version not supported":
		return slip.New("what answers there does not speak TLS 1.3", errOther.Hint)
	}
	if words := alerts[text]; words != "" {
		if strings.Contains(words, "%s") {
			words = fmt.Sprintf(words, k.path(CertFile))
		}
		return slip.New(words, again)
	}
	return slip.New("the agent ends the connection: "+text, "its messages say why")
}

// namesOf are the hosts that a certificate is for.
func namesOf(c *x509.Certificate) string {
	var names []string
	names = append(names, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no host"
	}
	return strings.Join(names[:min(len(names), 10)], ", ")
}

// steady is a connection that is lost if it takes nothing for a time: else who writes waits for ever for a machine
// that is gone.
type steady struct{ net.Conn }

// stuck is that time. A session has given its peer up by then.
const stuck = 30 * time.Second

func (s *steady) Write(b []byte) (int, error) {
	if err := s.SetWriteDeadline(time.Now().Add(stuck)); err != nil {
		return 0, err
	}
	return s.Conn.Write(b)
}
