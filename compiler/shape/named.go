package shape

import (
	"strings"

	"github.com/gostap/gostap/compiler/types"
)

// OwnText reports whether values of a Go type, which is named with the whole path of its package, are written as their
// users read them and not by what they are made of. The host knows how (values.named).
func OwnText(name string) bool {
	switch name {
	case "time.Duration", "time.Month", "time.Weekday", "time.Time", "sync.Mutex", "sync.WaitGroup", "io/fs.FileMode",
		"math/big.Int", "net.IP", "net.IPMask", "net.HardwareAddr", "net.IPNet", "net.TCPAddr", "net.UDPAddr",
		"net.IPAddr", "net/netip.Addr", "net/netip.AddrPort", "net/netip.Prefix", "net/url.URL":
		return true
	}
	return strings.HasPrefix(name, "sync/atomic.")
}

// behind gives the type that member f of t is shown as. A sync/atomic.Pointer[T] has an unsafe.Pointer, and a member
// of no size that says what it points to: _ [0]*T.
func behind(t *types.Ctype, f types.Field) *types.Ctype {
	if f.Name != "v" || !strings.HasPrefix(t.Name, "sync/atomic.Pointer[") {
		return f.Type
	}
	for _, m := range t.Fields() {
		if m.Type == nil || m.Type.Kind != types.Array || m.Type.Count != 0 {
			continue
		}
		if p := m.Type.Elem(); p != nil && p.Kind == types.Pointer && p.Size == f.Type.Size {
			return p
		}
	}
	return f.Type
}
