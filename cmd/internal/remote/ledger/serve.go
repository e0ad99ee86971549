package ledger

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gostap/gostap/cmd/internal/remote/crowd"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// Address is the error of an address that is not [HOST]:PORT.
func Address(option, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return slip.New(fmt.Sprintf("%s takes [HOST]:PORT, not %q", option, address), option+" :9478")
	}
	return nil
}

// Listen listens at such an address.
func Listen(option, address string) (net.Listener, error) {
	if err := Address(option, address); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, slip.New(fmt.Sprintf("%s %s: %v", option, address, err), "")
	}
	return l, nil
}

// mostConns is how many connections there are at a time.
const mostConns = 64

// Serve answers at l until that is closed, and gives nil then. Who connects has a few seconds to ask, and to take the
// answer.
func (l *Ledger) Serve(at net.Listener) error {
	s := &http.Server{Handler: l, ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		// What it has to say is about connections that end in the middle.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	err := s.Serve(&bounded{Listener: at, crowd: crowd.Crowd[*conn]{Most: mostConns}})
	s.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ServeHTTP implements http.Handler.
func (l *Ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET is answered", http.StatusMethodNotAllowed)
		return
	}
	h.Set("Cache-Control", "no-store")
	switch r.URL.Path {
	case "/metrics":
		h.Set("Content-Type", contentType)
		w.Write(l.metrics())
	case "/healthz":
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte("ok\n"))
	case "/readyz":
		if err := l.Ready(); err != nil {
			http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte("ok\n"))
	default:
		http.Error(w, "there are /metrics, /healthz and /readyz", http.StatusNotFound)
	}
}

// bounded is a listener with so many connections at a time: of more, one has to go.
type bounded struct {
	net.Listener
	crowd crowd.Crowd[*conn]
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	n := &conn{Conn: c, of: b}
	if late, full := b.crowd.Add(n, crowd.Address(c)); full {
		late.Close()
	}
	return n, nil
}

type conn struct {
	net.Conn
	of   *bounded
	once sync.Once
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() { c.of.crowd.Remove(c) })
	return c.Conn.Close()
}
