package page

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gostap/gostap"
)

func listen(t *testing.T, address string) *Page {
	t.Helper()
	p, err := Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// ask asks the page for a path behind its token.
func ask(p *Page, method, path string, change func(*http.Request)) *http.Response {
	r := httptest.NewRequest(method, "/"+p.token+"/"+path, nil)
	r.Host = p.listener.Addr().String()
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Result()
}

// TestAccess: without the whole token, by a name that could be anybody's, and from another page nothing is told or
// done.
func TestAccess(t *testing.T) {
	p := listen(t, "0")
	p.stop = func() { t.Error("stopped by somebody else") }
	if !strings.HasPrefix(p.URL(), "http://127.0.0.1:") || len(p.token) < 30 {
		t.Error(p.URL())
	}
	for _, path := range []string{"/", "/state", "/x/state", "//state", "/" + p.token[:31] + "/state",
		"/" + p.token + "x/", "/x" + p.token + "/state", "/%2e/" + p.token + "/state"} {
		r := httptest.NewRequest("GET", "http://127.0.0.1"+path, nil)
		w := httptest.NewRecorder()
		if p.ServeHTTP(w, r); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), p.token) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for host, want := range map[string]int{"127.0.0.1:80": 200, "localhost": 200, "LOCALHOST:1": 200, "[::1]:9": 200,
		"10.0.0.7:80": 200, "evil.example": 403, "evil.example:80": 403, "127.0.0.1.evil.example": 403, "": 403,
		"localhost.evil.example": 403} {
		if got := ask(p, "GET", "state", func(r *http.Request) { r.Host = host }).StatusCode; got != want {
			t.Errorf("by the name %q: %d, not %d", host, got, want)
		}
	}
	for _, from := range []string{"http://evil.example", "null", "https://" + p.listener.Addr().String()} {
		got := ask(p, "POST", "stop", func(r *http.Request) { r.Header.Set("Origin", from) })
		if got.StatusCode != 403 {
			t.Errorf("from %s: %d", from, got.StatusCode)
		}
	}
	stopped := false
	p.stop = func() { stopped = true }
	own := "http://" + p.listener.Addr().String()
	if got := ask(p, "POST", "stop", func(r *http.Request) { r.Header.Set("Origin", own) }).StatusCode; got != 204 ||
		!stopped {
		t.Errorf("from the page itself: %d, %v", got, stopped)
	}
	for path, want := range map[string]int{"GET nothing": 404, "POST nothing": 404, "GET ../../etc/passwd": 404,
		"GET stop": 404, "PUT state": 404, "POST on?probe=-1": 400, "POST off?probe=x": 400, "GET app.js": 200,
		"GET ": 200} {
		method, path, _ := strings.Cut(path, " ")
		if got := ask(p, method, path, nil); got.StatusCode != want {
			t.Errorf("%s %s: %d, not %d", method, path, got.StatusCode, want)
		}
	}
}

// TestPolicy: every answer forbids what the page has no use for, and the page has nothing that would be forbidden.
func TestPolicy(t *testing.T) {
	p := listen(t, "127.0.0.1:0")
	for name, a := range assets {
		r := ask(p, "GET", name, nil)
		body, _ := io.ReadAll(r.Body)
		csp := r.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") ||
			r.Header.Get("Referrer-Policy") != "no-referrer" || r.Header.Get("Content-Type") != a.kind {
			t.Errorf("%q: %v", name, r.Header)
		}
		if name == "" && (strings.Contains(string(body), "<script>") || strings.Contains(string(body), "style=") ||
			strings.Contains(string(body), " on") && strings.Contains(string(body), "onclick")) {
			t.Error("the page has code in itself")
		}
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
			"http://", "https://"} {
			if name != "uplot.js" && strings.Contains(string(body), bad) {
				t.Errorf("%q has %s", name, bad)
			}
		}
	}
}

// TestAddress: what --http does not take, and addresses that cannot be had, are told by name.
func TestAddress(t *testing.T) {
	taken := listen(t, ":0").listener.Addr().String()
	for address, want := range map[string]string{"": "takes PORT or HOST:PORT", "x": "takes PORT or HOST:PORT",
		"1.2.3.4:99999": "takes PORT or HOST:PORT", "@": "takes PORT", taken: "address already in use",
		"192.0.2.1:80": "cannot assign requested address", "-1": "takes PORT"} {
		p, err := Listen(address)
		if err == nil {
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--http") {
			t.Errorf("%q: %v, not %s", address, err, want)
		}
	}
}

// TestLines: the last lines are kept, whatever their length and bytes, and readers are told how many there were.
func TestLines(t *testing.T) {
	var l lines
	w := l.writer(false)
	for i := range keptLines + 100 {
		fmt.Fprintf(w, "line %d\nhalf of ", i)
	}
	io.WriteString(w, "<b>\xff\x00</b>\n")
	io.WriteString(l.writer(true), strings.Repeat("x", 3*mostLine)+"\nbad\n")
	all, last := l.after(0, 1<<30)
	if len(all) != keptLines || all[0].Number != last-keptLines+1 || all[len(all)-1].Text != "bad" ||
		!all[len(all)-1].Message || all[keptLines-3].Text != "half of <b>\uFFFD\x00</b>" ||
		len(all[keptLines-2].Text) != mostLine+3 || last != keptLines+103 {
		t.Errorf("%d lines to %d: %+v", len(all), last, all[keptLines-4:])
	}
	if some, _ := l.after(0, 2); len(some) != 2 || some[1].Text != "bad" {
		t.Errorf("%+v", some)
	}
	if none, _ := l.after(last, 10); len(none) != 0 {
		t.Errorf("%+v", none)
	}
	if none, _ := l.after(1<<40, 10); len(none) != 0 {
		t.Errorf("%+v", none)
	}
	b, err := json.Marshal(all[keptLines-3])
	if err != nil || strings.ContainsAny(string(b), "<>") {
		t.Errorf("%s: %v", b, err)
	}
}

// TestGlobals: rows are bounded and the greatest come first; large numbers keep all digits, and fractions that are no
// numbers are told.
func TestGlobals(t *testing.T) {
	l := newLook()
	odd := func(f float64) gostap.Element {
		return gostap.Element{Key: []gostap.Value{{Text: fmt.Sprint(f), IsText: true}},
			Value: gostap.Value{Float: f, IsFloat: true}}
	}
	many := gostap.Global{Keys: 1}
	for i := range 1000 {
		many.Elements = append(many.Elements, gostap.Element{Key: []gostap.Value{{Text: fmt.Sprint(i), IsText: true}},
			Value: gostap.Value{Int: int64(i)}})
	}
	out := l.globals(gostap.Globals{"many": many,
		"odd": {Keys: 1, Elements: []gostap.Element{odd(math.Inf(-1)), odd(math.NaN()), odd(math.Inf(1)), odd(3)}},
		"big": {Elements: []gostap.Element{{Value: gostap.Value{Int: 1<<62 + 1}}}},
		"stat": {Elements: []gostap.Element{{Stats: &gostap.Stats{Count: 2, Sum: 1<<60 + 1, Min: -5, Max: 1 << 60,
			Histograms: []gostap.Histogram{{Buckets: []gostap.Bucket{{From: 0, To: 0, Count: 3}}}}}}}}})
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"value":"4611686018427387905"`, `"sum":"1152921504606846977"`, `"buckets":[[0,0,3]]`,
		`"of":1000`, `"key":["999"]`, `"value":"NaN","number":0`, `"key":["3"],"value":"3"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s", want)
		}
	}
	if len(out[1].Rows) != mostRows || out[1].Rows[0].Value != "999" {
		t.Errorf("%d rows, the first %+v", len(out[1].Rows), out[1].Rows[0])
	}
}
