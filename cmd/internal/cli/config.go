package cli

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// uname names the running kernel and its machine, "" if it does not tell.
func uname() (release, machine string) {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "", ""
	}
	return unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:])
}

// kernelConfig looks up options of the running kernel's configuration, which is read when first
// asked for: /proc/config.gz, or the file that distributions put beside the kernel.
func kernelConfig() func(name string) (string, bool) {
	text := sync.OnceValue(func() []byte {
		if f, err := os.Open("/proc/config.gz"); err == nil {
			defer f.Close()
			if z, err := gzip.NewReader(f); err == nil {
				if b, err := io.ReadAll(io.LimitReader(z, 16<<20)); err == nil {
					return b
				}
			}
		}
		release, _ := uname()
		for _, path := range []string{"/boot/config-" + release, "/lib/modules/" + release + "/config", "/lib/modules/" + release + "/build/.config"} {
			if b, err := os.ReadFile(path); err == nil {
				return b
			}
		}
		return nil
	})
	return func(name string) (string, bool) {
		for rest := text(); len(rest) > 0; {
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte("\n"))
			if val, ok := strings.CutPrefix(string(line), name+"="); ok {
				return strings.Trim(val, "\""), true
			}
		}
		return "", false
	}
}
