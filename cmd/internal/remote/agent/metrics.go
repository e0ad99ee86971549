package agent

import (
	"fmt"
	"net"

	"github.com/gostap/gostap/cmd/internal/remote/ledger"
)

// tell answers who watches the agent, at an address, until what it gives is closed.
func (a *agent) tell(address string) (net.Listener, error) {
	at, err := ledger.Listen("--metrics", address)
	if err != nil {
		return nil, err
	}
	a.log.line(fmt.Sprintf("metrics are at http://%s/metrics", at.Addr()))
	go func() {
		if err := a.ledger.Serve(at); err != nil {
			a.log.line(fmt.Sprintf("WARNING: metrics are not told any more: %v", err))
		}
	}()
	return at, nil
}

// refused notes and tells who was not let in.
func (a *agent) refused(from, why string) {
	a.ledger.Refuse()
	a.log.refused(from, why)
}
