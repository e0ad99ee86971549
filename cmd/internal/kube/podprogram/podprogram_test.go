package podprogram

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap"
)

func TestChoose(t *testing.T) {
	app, app2 := gostap.PodProgram{Name: "/app", PID: 1}, gostap.PodProgram{Name: "/app", PID: 2}
	proxy := gostap.PodProgram{Name: "/usr/bin/envoy", PID: 3}
	for _, c := range []struct {
		list []gostap.PodProgram
		name string
		pid  int
		want string // of the error
	}{
		{[]gostap.PodProgram{app}, "", 1, ""}, {[]gostap.PodProgram{app, app2}, "", 1, ""},
		{[]gostap.PodProgram{app, proxy}, "", 0, "several programs run in the pod (/app, /usr/bin/envoy)"},
		{[]gostap.PodProgram{app, proxy}, "envoy", 3, ""}, {[]gostap.PodProgram{proxy, app}, "/app", 1, ""},
		{[]gostap.PodProgram{proxy, app}, "shop", 0, "no program shop runs in the pod: there are /app, /usr/bin/envoy"},
		{nil, "", 0, "no program runs in the pod yet"},
	} {
		p, err := choose(c.list, c.name)
		if p.PID != c.pid || (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %q: %+v %v", c.list, c.name, p, err)
		}
	}
}

// transfer has one end send a text, and the other receive it.
func transfer(t *testing.T, dir, name, text string) (path string, sent int, err error) {
	t.Helper()
	there, here := io.Pipe()
	in, out := io.Pipe()
	var n counter
	done := make(chan error)
	go func() {
		err := send(strings.NewReader(text), name, there, io.MultiWriter(out, &n))
		out.Close()
		done <- err
	}()
	path, err = Receive(in, here, dir)
	if serr := <-done; serr != nil {
		t.Error(serr)
	}
	return path, int(n), err
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// TestTransfer: a file comes whole, once for each content; old copies go.
func TestTransfer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "programs")
	text := strings.Repeat("0123456789abcdef", 10000)
	path, n, err := transfer(t, dir, "/usr/bin/shop", text)
	if b, rerr := os.ReadFile(path); err != nil || rerr != nil || string(b) != text || filepath.Base(path) != "shop" {
		t.Fatalf("%s %v %v", path, err, rerr)
	}
	again, m, err := transfer(t, dir, "/usr/bin/shop", text)
	if err != nil || again != path || m >= 300 || n < m+100 {
		t.Errorf("%s %v: %d bytes, %d at first", again, err, m, n)
	}
	old := time.Now().Add(-2 * keptFor)
	if err := os.Chtimes(filepath.Dir(path), old, old); err != nil {
		t.Fatal(err)
	}
	other, _, err := transfer(t, dir, "/../x y\n", "text")
	if err != nil || filepath.Base(other) != "program" || !strings.HasPrefix(other, dir+"/") {
		t.Errorf("%s %v", other, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("an old copy is still there")
	}
}

type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Close() error                { return nil }

func TestReceiveRefuses(t *testing.T) {
	var good bytes.Buffer
	if err := send(strings.NewReader("text"), "/app", strings.NewReader("s"), &good); err != nil {
		t.Fatal(err)
	}
	zeros := strings.Repeat("0", 64)
	for _, c := range []struct{ text, want string }{
		{"", "did not answer"}, {"no JSON\n", "same version"}, {strings.Repeat("x", 1<<20), "did not answer"},
		{`{"error":"several programs"}` + "\n", "several programs"},
		{`{"name":"/a","sha256":"../../x","size":1}` + "\n", "described no program"},
		{`{"name":"/a","sha256":"` + zeros + `","size":-1}` + "\n", "described no program"},
		{`{"name":"/a","sha256":"` + zeros + `","size":4}` + "\nno gzip", "copying /a"},
		{strings.Replace(good.String(), `"size":4`, `"size":3`, 1), "not what was announced"},
		{strings.Replace(good.String(), `"size":4`, `"size":5`, 1), "not what was announced"},
		{good.String()[:good.Len()-9], "copying /app"},
	} {
		dir := t.TempDir()
		if path, err := Receive(strings.NewReader(c.text), nowhere{}, dir); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %s %v", c.text, path, err)
		}
		if left, _ := filepath.Glob(dir + "/*/*"); len(left) > 0 {
			t.Errorf("%.60q: left %v", c.text, left)
		}
	}
	if path, err := Receive(strings.NewReader(good.String()), nowhere{}, t.TempDir()); err != nil {
		t.Errorf("%s %v", path, err)
	}
}

// FuzzReceive: whatever an agent answers, nothing is written outside of the folder, and no other text than announced.
func FuzzReceive(f *testing.F) {
	var good bytes.Buffer
	if err := send(strings.NewReader("text"), "/app", strings.NewReader("s"), &good); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte(`{"name":"/a","sha256":"` + strings.Repeat("0", 64) + `","size":0}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		path, err := Receive(bytes.NewReader(b), nowhere{}, filepath.Join(dir, "programs"))
		if err == nil && !strings.HasPrefix(path, dir+"/programs/") {
			t.Errorf("%q", path)
		}
		if left, _ := filepath.Glob(dir + "/*"); len(left) > 1 {
			t.Errorf("%v", left)
		}
	})
}
