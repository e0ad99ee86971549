package ready

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTell: the states come in one datagram, at a path and at an abstract name.
func TestTell(t *testing.T) {
	for _, address := range []string{filepath.Join(t.TempDir(), "notify"), "@gostap-ready-" + t.TempDir()} {
		c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := Tell([]string{"A=b", Variable + "=" + address}, "READY=1", "STATUS=as it\nis"); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		n, err := c.Read(b)
		if err != nil || string(b[:n]) != "READY=1\nSTATUS=as it is" {
			t.Errorf("%s: %q, %v", address, b[:n], err)
		}
	}
}

// TestNobody: nothing is told where nobody has asked, and what does not arrive is an error.
func TestNobody(t *testing.T) {
	for _, env := range [][]string{nil, {"A=b"}, {Variable + "="}, {"X" + Variable + "=/nowhere"}} {
		if err := Tell(env, "READY=1"); err != nil {
			t.Errorf("%q: %v", env, err)
		}
	}
	nobody := filepath.Join(t.TempDir(), "nobody")
	for _, address := range []string{nobody, "vsock:2:1", "/" + strings.Repeat("x", 200)} {
		if err := Tell([]string{Variable + "=" + address}, "READY=1"); err == nil ||
			!strings.Contains(err.Error(), Variable) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestWithout(t *testing.T) {
	got := Without([]string{"A=b", Variable + "=/x", Variable + "S=y"})
	if !slices.Equal(got, []string{"A=b", Variable + "S=y"}) {
		t.Errorf("%q", got)
	}
}
