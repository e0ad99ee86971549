package served

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Peer is who is at the other end of a connection. Over the network nobody is known.
type Peer struct {
	Known         bool
	Pid, Uid, Gid int
	groups        []uint32
}

type peerKey struct{}

// withPeer notes who has connected: at a Unix socket the kernel says so, by what held at that moment.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	var p Peer
	if b, ok := c.(*counted); ok {
		c = b.Conn
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return context.WithValue(ctx, peerKey{}, p)
	}
	p = Peer{Known: true, Uid: -1, Gid: -1} // what nobody says may do what others may
	raw, err := u.SyscallConn()
	if err == nil {
		raw.Control(func(fd uintptr) {
			cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
			if err != nil {
				return
			}
			p = Peer{Known: true, Pid: int(cred.Pid), Uid: int(cred.Uid), Gid: int(cred.Gid), groups: groups(fd)}
		})
	}
	return context.WithValue(ctx, peerKey{}, p)
}

// groups are the other groups of the one at the end of a socket.
func groups(fd uintptr) []uint32 {
	buf := make([]byte, 4*64)
	for range 2 {
		n := uint32(len(buf))
		_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&n)), 0)
		switch {
		case e == unix.ERANGE && n > uint32(len(buf)):
			buf = make([]byte, n)
			continue
		case e != 0:
			return nil
		}
		var out []uint32
		for at := 0; at+4 <= int(n); at += 4 {
			out = append(out, binary.NativeEndian.Uint32(buf[at:]))
		}
		return out
	}
	return nil
}

// may reports whether the peer has one of the permissions in want (0o444 to read, 0o222 to write) at a file with a
// mode, which belongs to uid and gid. Root has all.
func (p *Peer) may(mode, want uint32, uid, gid int) bool {
	switch {
	case !p.Known:
		return mode&want&0o007 != 0
	case p.Uid == 0:
		return true
	case p.Uid == uid:
		return mode&want&0o700 != 0
	case p.Gid == gid || slices.Contains(p.groups, uint32(gid)):
		return mode&want&0o070 != 0
	}
	return mode&want&0o007 != 0
}
