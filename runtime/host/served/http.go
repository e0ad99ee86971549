package served

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
)

// mostWritten is the most bytes that one request writes.
const mostWritten = 1 << 20

const (
	reading = 0o444
	writing = 0o222
)

// ServeHTTP answers one request: GET reads the file that the path names, PUT and POST write it, GET of / lists them.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	peer, _ := r.Context().Value(peerKey{}).(Peer)
	if why := foreign(r, &peer); why != "" {
		refuse(w, http.StatusForbidden, why)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if path == "" && reads {
		s.list(w)
		return
	}
	i := s.find(path)
	if i < 0 {
		refuse(w, http.StatusNotFound, "the script has no file "+path)
		return
	}
	switch f := &s.cfg.Files[i]; {
	case reads:
		s.read(w, i, peer)
	case r.Method != http.MethodPut && r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, PUT, POST")
		refuse(w, http.StatusMethodNotAllowed, "GET reads a file, PUT and POST write it")
	case !f.Writes:
		refuse(w, http.StatusMethodNotAllowed, fmt.Sprintf("the script has no probe procfs(%q).write", f.Path))
	case !peer.may(f.Mode, writing, os.Geteuid(), os.Getegid()):
		refuse(w, http.StatusForbidden, "the file's mask (.umask) does not let you write it")
	default:
		s.write(w, r, i, peer)
	}
}

// find gives the index of a file, -1 if there is none. Where Prometheus asks unless it is told otherwise, it gets what
// is for it.
func (s *Server) find(path string) int {
	at := func(path string) int {
		return slices.IndexFunc(s.cfg.Files, func(f File) bool { return f.Path == path })
	}
	if i := at(path); i >= 0 || path != "metrics" {
		return i
	}
	return at("prometheus")
}

// foreign says why a request is not answered that a page in somebody's browser may have made, "" for others. Such a
// page reaches the loopback address too, by its name for it.
func foreign(r *http.Request, peer *Peer) string {
	if r.Header.Get("Origin") != "" && r.Method != http.MethodGet {
		return "pages of a browser do not write files"
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if peer.Known || local == nil || !local.IP.IsLoopback() {
		return ""
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if ip := net.ParseIP(strings.Trim(host, "[]")); host == "localhost" || ip != nil {
		return ""
	}
	return "this machine is asked by the name " + host
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, why+"\n")
}

// failed answers with an error of Config.Run.
func failed(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, ErrEnded) {
		status = http.StatusServiceUnavailable
	}
	refuse(w, status, err.Error())
}

// list tells which files there are.
func (s *Server) list(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, f := range s.cfg.Files {
		fmt.Fprintf(w, "%s %s\n", fs.FileMode(f.Mode), f.Path)
	}
}

// read answers with what the handler gives.
func (s *Server) read(w http.ResponseWriter, i int, peer Peer) {
	f := &s.cfg.Files[i]
	switch {
	case !f.Reads:
		refuse(w, http.StatusMethodNotAllowed, fmt.Sprintf("the script has no probe procfs(%q).read", f.Path))
		return
	case peer.Known && !peer.may(f.Mode, reading, os.Geteuid(), os.Getegid()):
		refuse(w, http.StatusForbidden, "the file's mask (.umask) does not let you read it")
		return
	}
	text, err := s.cfg.Run(&Request{File: i, Peer: peer})
	if err != nil {
		failed(w, err)
		return
	}
	kind := "text/plain; charset=utf-8"
	switch {
	case f.Path == "prometheus":
		kind = "text/plain; version=0.0.4; charset=utf-8"
	case strings.HasSuffix(f.Path, ".json"):
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	w.Header().Set("Cache-Control", "no-store")
	io.WriteString(w, text)
}

// write has the handler run for what is written, a piece at a time.
func (s *Server) write(w http.ResponseWriter, r *http.Request, i int, peer Peer) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostWritten))
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("one request writes %d bytes at most", mostWritten))
			return
		}
		refuse(w, http.StatusBadRequest, "the text did not come to its end")
		return
	}
	for first := true; first || len(text) > 0; first = false {
		n := min(len(text), s.cfg.Piece)
		if _, err := s.cfg.Run(&Request{File: i, Write: true, Text: string(text[:n]), Peer: peer}); err != nil {
			failed(w, err)
			return
		}
		text = text[n:]
	}
	w.WriteHeader(http.StatusNoContent)
}
