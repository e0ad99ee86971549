package cli

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/cmd/internal/ready"
)

// TestReady: who started the command by the protocol of sd_notify is told once that the probes are in place, behind the
// begin probes, and not of a script that never gets there.
func TestReady(t *testing.T) {
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	env := append(os.Environ(), ready.Variable+"="+c.LocalAddr().String())
	run := func(script string) (status int, messages []string) {
		var out, errs bytes.Buffer
		status = Run([]string{"-e", script}, Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, env)
		const last = "that is all"
		if err := ready.Tell(env, last); err != nil {
			t.Fatal(err)
		}
		for b := make([]byte, 1000); ; {
			n, err := c.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			if string(b[:n]) == last {
				return status, messages
			}
			messages = append(messages, string(b[:n]))
		}
	}
	if status, got := run(`probe begin { println("begun") } probe timer.ms(1) { exit() }`); status != 0 ||
		len(got) != 1 || got[0] != "READY=1\nSTATUS=the probes are in place" {
		t.Errorf("a session: status %d, %q", status, got)
	}
	if status, got := run(`probe begin { println(nothing_of_that_name()) }`); status == 0 || len(got) != 0 {
		t.Errorf("a script that does not translate: status %d, %q", status, got)
	}
	if status, got := run(`probe begin { error("no") } probe timer.ms(1) { exit() }`); status == 0 || len(got) != 0 {
		t.Errorf("a begin probe that fails: status %d, %q", status, got)
	}
}
