package mtls_test

import (
	"crypto/tls"
	"io"
	"net"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gostap/gostap/cmd/internal/remote/mtls"
)

// TestTakesNothing: a client that takes nothing for a minute is waited for as long as it says that it is there, and cut
// off if it says nothing.
func TestTakesNothing(t *testing.T) {
	dir := t.TempDir()
	keys(t, dir, "web1")
	cert, err := tls.LoadX509KeyPair(filepath.Join(dir, "web1", "tls.crt"), filepath.Join(dir, "web1", "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a, b := net.Pipe()
			c := tls.Client(a, &tls.Config{InsecureSkipVerify: true})
			server := tls.Server(b, &tls.Config{Certificates: []tls.Certificate{cert}, SessionTicketsDisabled: true})
			go c.Handshake()
			if err := server.Handshake(); err != nil {
				t.Fatal(err)
			}
			p := mtls.PeerOf(server)
			go io.Copy(io.Discard, p)
			go func() {
				for err := error(nil); err == nil && !silent; time.Sleep(2 * time.Second) {
					_, err = c.Write([]byte("x"))
				}
			}()
			go func() {
				time.Sleep(time.Minute)
				io.Copy(io.Discard, c)
			}()
			began := time.Now()
			_, err := p.Write(make([]byte, 1<<20))
			if took := time.Since(began); (err != nil) != silent || silent == (took >= time.Minute) {
				t.Errorf("silent %v: %v after %v", silent, err, took)
			}
			a.Close()
			b.Close()
			time.Sleep(time.Hour) // all see it
		})
	}
}
