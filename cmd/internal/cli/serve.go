package cli

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/runtime/host/served"
)

// checkServe looks at the addresses of --serve.
func (o *options) checkServe() error {
	for _, a := range o.serve {
		if strings.HasPrefix(a, "/") {
			continue
		}
		if _, _, err := served.Split(a); err != nil {
			return slip.New(fmt.Sprintf("--serve takes PORT, HOST:PORT or the path of a socket, not %q", a),
				"--serve 9100 is a port of the loopback address, --serve :0 one that is free")
		}
	}
	return nil
}

// tellServed says where the script's files are.
func (c *command) tellServed(addresses []string) {
	for _, a := range addresses {
		if strings.HasPrefix(a, "/") {
			c.logf("the script's files: curl --unix-socket %s http://gostap/", a)
		} else {
			c.logf("the script's files: %s", a)
		}
	}
}
