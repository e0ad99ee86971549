package mtls

import "crypto/tls"

// LoadAt and OpenAt are Load and Open by another clock.
var (
	LoadAt = load
	OpenAt = open
)

// MostWaiting is how many guests are met at a time.
const MostWaiting = mostWaiting

// PeerOf is a client at a connection.
func PeerOf(c *tls.Conn) *Peer { return &Peer{conn: c} }
