// Package page is --http: a session in a browser, while it runs. It shows the probes with what they took, the globals
// as tables, histograms, heat maps and flame graphs, what the script prints, and the script.
//
// In: a session, or states of one that is elsewhere (Far); an address. Out: pages at that address, for who has the
// token in their URL, and what the script prints.
package page

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/page/state"
)

//go:embed static vendored/uPlot.iife.min.js vendored/uPlot.min.css
var files embed.FS

// assets are the files of the page, by their names in its folder.
var assets = map[string]struct{ path, kind string }{
	"":          {"static/index.html", "text/html; charset=utf-8"},
	"app.js":    {"static/app.js", "text/javascript; charset=utf-8"},
	"views.js":  {"static/views.js", "text/javascript; charset=utf-8"},
	"style.css": {"static/style.css", "text/css; charset=utf-8"},
	"uplot.js":  {"vendored/uPlot.iife.min.js", "text/javascript; charset=utf-8"},
	"uplot.css": {"vendored/uPlot.min.css", "text/css; charset=utf-8"},
}

// policy lets the page load what is in its own folder, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Page is a page that is served.
type Page struct {
	listener net.Listener
	token    string
	host     string // as asked for
	look     *look
	from     source // of states: look, or a Far
	stop     context.CancelFunc
	server   *http.Server
}

// source is where a page has its states from, and what its buttons act on.
type source interface {
	// state gives how the session is, with at most most lines behind one. Who asks keeps what it gets, also the end.
	state(since uint64, most int, keeps bool) *state.State
	// seen waits until those who look on have seen the end, at most for a time.
	seen(most time.Duration)
	// flip switches a probe, or all that can be switched for -1.
	flip(on bool, probe int) error
	// reset gives globals the values that they began with.
	reset() error
}

// Listen takes an address: PORT of the loopback address, :PORT likewise, or HOST:PORT.
func Listen(address string) (*Page, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = "", address
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return nil, fmt.Errorf("--http takes PORT or HOST:PORT, not %q", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return nil, fmt.Errorf("--http %s: %w", address, err)
	}
	secret := make([]byte, 24)
	rand.Read(secret)
	p := &Page{listener: l, host: host, token: base64.RawURLEncoding.EncodeToString(secret), look: newLook()}
	p.from = p.look
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	return p, nil
}

// URL is where the page is.
func (p *Page) URL() string { return "http://" + p.listener.Addr().String() + "/" + p.token + "/" }

// Messages puts what else is to be said onto the page.
func (p *Page) Messages() io.Writer { return p.look.log.writer(true) }

// Close ends a page whose session is not run.
func (p *Page) Close() error { return p.listener.Close() }

// Config is a session with what the page says of it.
type Config struct {
	Session  *gostap.Session
	Name     string
	Sources  []state.Source
	Out, Err io.Writer
	// Started is called when the probes are there.
	Started func() error
}

// Keeps, as in state?keeps, is for who keeps the states, also the last one.
const Keeps = "keeps"

// afterEnd is how long the page is there when the session has ended, for who looks at it to see that.
const afterEnd = 5 * time.Second

// Run runs the session to its end and serves the page meanwhile.
func (p *Page) Run(ctx context.Context, c Config) error {
	ctx, p.stop = context.WithCancel(ctx)
	defer p.stop()
	p.look.begin(c.Session, c.Name, c.Sources)
	shut := p.serve()
	err := c.Session.Print(ctx, io.MultiWriter(c.Out, p.look.log.writer(false)),
		io.MultiWriter(c.Err, p.look.log.writer(true)), c.Started)
	p.look.end(err)
	shut()
	return err
}

// serve answers until what it gives is called, which waits for who looks on.
func (p *Page) serve() (shut func()) {
	served := make(chan struct{})
	go func() {
		defer close(served)
		p.server.Serve(p.listener)
	}()
	return func() {
		p.from.seen(afterEnd)
		most, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if p.server.Shutdown(most) != nil {
			p.server.Close()
		}
		<-served
	}
}

// named reports whether a Host header names the page as one types it: by an address, which no name server can give
// somebody else's page (DNS rebinding), localhost, or as it was asked for.
func (p *Page) named(header string) bool {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = header
	}
	host = strings.Trim(host, "[]")
	_, err = netip.ParseAddr(host)
	return err == nil || strings.EqualFold(host, "localhost") || strings.EqualFold(host, p.host)
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	token, name, folder := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	same := subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) == 1
	if same && !folder && p.named(r.Host) && r.Method == http.MethodGet {
		http.Redirect(w, r, "/"+p.token+"/", http.StatusPermanentRedirect)
		return
	}
	if !same || !folder || !p.named(r.Host) {
		http.Error(w, "403: the whole address of the page is needed, as gostap has printed it", http.StatusForbidden)
		return
	}
	if a, ok := assets[name]; ok && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		b, err := files.ReadFile(a.path)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		h.Set("Content-Type", a.kind)
		w.Write(b)
		return
	}
	switch {
	case r.Method == http.MethodGet && name == "state":
		since, _ := strconv.ParseUint(r.URL.Query().Get("since"), 10, 64)
		p.answer(w, p.from.state(since, shownLines, r.URL.Query().Has(Keeps)))
	case r.Method == http.MethodGet && name == "download":
		h.Set("Content-Disposition", `attachment; filename="gostap.json"`)
		p.answer(w, p.from.state(0, keptLines, false))
	case r.Method == http.MethodPost:
		if from := r.Header.Get("Origin"); from != "" && from != "http://"+r.Host {
			http.Error(w, "403: this is asked by another page", http.StatusForbidden)
			return
		}
		p.act(w, name, r.URL.Query().Get("probe"))
	default:
		http.NotFound(w, r)
	}
}

func (p *Page) answer(w http.ResponseWriter, now *state.State) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(now)
}

// act does what a button says.
func (p *Page) act(w http.ResponseWriter, what, probe string) {
	var err error
	switch what {
	case "stop":
		if p.stop == nil {
			http.Error(w, errFar.Error(), http.StatusConflict)
			return
		}
		p.stop()
	case "on", "off":
		i := -1
		if probe != "" {
			if i, err = strconv.Atoi(probe); err != nil || i < 0 {
				http.Error(w, "there is no such probe", http.StatusBadRequest)
				return
			}
		}
		err = p.from.flip(what == "on", i)
	case "reset":
		err = p.from.reset()
	default:
		http.Error(w, "there is nothing of that name", http.StatusNotFound)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
