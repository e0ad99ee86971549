package tests

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPageFar: in a browser what gostap kube page shows of a Trace, whose states come once a second, moves as the page
// of a session here does, with what can be done there and nothing else; nothing of it is wrong, or more than text.
func TestPageFar(t *testing.T) {
	needRoot(t)
	prog := looks(t)
	_, look := browser(t)
	s := begin(t, "--http", "0", "-e", `global calls, lat, stacks
probe process("`+prog+`").function("leaf") { calls++ stacks[ustack()]++ }
probe process("`+prog+`").function("top").return { lat <<< gettimeofday_ns() - @entry(gettimeofday_ns()) }
probe timer.ms(200) { printf("<b>%d</b> calls </script><script>document.title = 'bad'</script>\n", calls) }
probe end { print(@hist_log(lat)) println("the end") }`)
	here := address(t, s)

	// A kubectl tells what a file has, which gets the states of the session above.
	dir := t.TempDir()
	events := filepath.Join(dir, "events")
	trace := func(page string) string {
		return fmt.Sprintf(`{"kind":"Trace","metadata":{"name":"looks","namespace":"shop"},"spec":{"page":true},`+
			`"status":{"phase":"Running","page":%q}}`, page)
	}
	write(t, filepath.Join(dir, "trace"), trace(""))
	write(t, filepath.Join(dir, "kubectl"), "#!/bin/sh\ncase \"$*\" in *--watch*) exec tail -n +1 -f "+events+
		";; esac\ncat "+dir+"/trace\n")
	if err := os.Chmod(filepath.Join(dir, "kubectl"), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(events)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	end, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		for {
			if page, err := packedState(here + "state?keeps"); err == nil {
				fmt.Fprintf(file, "{\"type\":\"MODIFIED\",\"object\":%s}\n", trace(page))
			}
			select {
			case <-end:
				return
			case <-time.After(time.Second):
			}
		}
	}()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	far := begin(t, "kube", "page", "looks")
	got := look(address(t, far), "far")
	close(end)
	<-told
	far.signal(syscall.SIGINT)
	if status := far.end(); status != 0 {
		t.Errorf("status %d\n%s", status, far.stderr())
	}
	if len(got.Errors)+len(got.Elsewhere)+len(got.Violations) > 0 {
		t.Errorf("errors %q, elsewhere %q, violations %q", got.Errors, got.Elsewhere, got.Violations)
	}
	for _, what := range []string{"hits", "histogram", "heat", "flame", "log"} {
		if !got.Moved[what] {
			t.Errorf("%s does not move", what)
		}
	}
	if !strings.HasPrefix(got.Log, "<b>") || got.Bold != 0 || got.Title != "looks - gostap" || !got.Filtered {
		t.Errorf("what the program says is not text: %+v", got)
	}
	if !slices.Equal(got.Shown, []string{"hold", "download", "theme"}) || got.Enabled > 0 || got.Overflow > 0 {
		t.Errorf("%+v", got)
	}
}

// packedState is a state as it is in a Trace.
func packedState(url string) (string, error) {
	r, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || !json.Valid(b) {
		return "", fmt.Errorf("%v: %.100s", err, b)
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}
