// Package ready tells a service manager how a session stands, by the protocol of sd_notify(3).
//
// In: an environment, and states. Out: datagrams to the socket that NOTIFY_SOCKET names.
package ready

import (
	"fmt"
	"net"
	"strings"

	"github.com/gostap/gostap/compiler/environ"
)

// Variable names the socket in the environment.
const Variable = "NOTIFY_SOCKET"

// Tell sends states, such as READY=1, in one message. It does nothing where no service manager has asked for them.
func Tell(env []string, states ...string) error {
	address := environ.Get(env, Variable)
	if address == "" {
		return nil
	}
	if address[0] != '/' && address[0] != '@' { // others, such as vsock:, are for machines and not for services
		return fmt.Errorf("%s=%s: neither a path nor an abstract name (@NAME)", Variable, address)
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: address, Net: "unixgram"})
	if err == nil {
		defer c.Close()
		lines := make([]string, len(states))
		for i, s := range states {
			lines[i] = strings.ReplaceAll(s, "\n", " ") // names of files come along
		}
		_, err = c.Write([]byte(strings.Join(lines, "\n")))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", Variable, err)
	}
	return nil
}

// Without is the environment for programs that a session starts: they have nothing to tell in its name.
func Without(env []string) []string {
	out := make([]string, 0, len(env))
	for _, e := range env {
		if !strings.HasPrefix(e, Variable+"=") {
			out = append(out, e)
		}
	}
	return out
}
