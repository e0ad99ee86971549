package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// addressNotes is the file with the addresses that the cluster has added, after the kernel's name for this boot: after
// another one they are gone, and may be somebody else's.
func (l *lab) addressNotes() string { return filepath.Join(l.run, "addresses") }

func bootName() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
}

// added are the addresses of the loopback device that the cluster has added.
func (l *lab) added() (list []netip.Addr) {
	text, _ := os.ReadFile(l.addressNotes())
	words := strings.Fields(string(text))
	if len(words) == 0 || words[0] != bootName() {
		return nil
	}
	for _, w := range words[1:] {
		if a, err := netip.ParseAddr(w); err == nil {
			list = append(list, a)
		}
	}
	return list
}

// present are all addresses of this machine that lie in the cluster's network.
func (l *lab) present() (list []netip.Addr, err error) {
	all, err := net.InterfaceAddrs()
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && strings.HasPrefix(p.Addr().String(), l.net+".") {
			list = append(list, p.Addr())
		}
	}
	return list, err
}

// free fails if somebody else has addresses of the network: they would be taken from them when the cluster ends.
func (l *lab) free() error {
	if len(l.added()) > 0 {
		return nil
	}
	others, err := l.present()
	if err == nil && len(others) > 0 {
		err = hinted(fmt.Sprintf("somebody else has addresses of this network: %v", others[0]),
			"GOSTAP_KUBELAB_NET=10.N, with a number that nobody has; ip addr shows those that are taken")
	}
	return err
}

// addAddresses gives the loopback device the API server's address and those of nodes, unless they have been added.
func (l *lab) addAddresses(nodes int) error {
	if err := l.free(); err != nil {
		return err
	}
	list := l.added()
	for i := range nodes + 1 {
		a, err := netip.ParseAddr(fmt.Sprintf("%s.0.%d", l.net, i+1))
		if err != nil {
			return err
		}
		if slices.Contains(list, a) {
			continue
		}
		if err := changeAddress(unix.RTM_NEWADDR, a); err != nil {
			return fmt.Errorf("address %v: %w", a, err)
		}
		list = append(list, a)
		text := bootName()
		for _, a := range list {
			text += " " + a.String()
		}
		if err := os.WriteFile(l.addressNotes(), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeAddresses removes what was added, and waits until those of pods are gone with their networks.
func (l *lab) removeAddresses() error {
	list := l.added()
	if len(list) == 0 {
		return nil
	}
	var err error
	for _, a := range list {
		if e := changeAddress(unix.RTM_DELADDR, a); e != nil && !errors.Is(e, unix.EADDRNOTAVAIL) {
			err = errors.Join(err, fmt.Errorf("address %v: %w", a, e))
		}
	}
	for end := time.Now().Add(5 * time.Second); err == nil && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		if left, e := l.present(); e != nil || len(left) == 0 {
			return e
		}
	}
	return err
}

// changeAddress asks the kernel to add or remove an address of the loopback device.
func changeAddress(what uint16, a netip.Addr) error {
	dev, err := net.InterfaceByName("lo")
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	flags := uint16(unix.NLM_F_REQUEST | unix.NLM_F_ACK)
	if what == unix.RTM_NEWADDR {
		flags |= unix.NLM_F_CREATE | unix.NLM_F_EXCL
	}
	order := binary.NativeEndian
	msg := make([]byte, unix.SizeofNlMsghdr, 64)
	order.PutUint16(msg[4:], what)
	order.PutUint16(msg[6:], flags)
	msg = append(msg, unix.AF_INET, 32, 0, unix.RT_SCOPE_UNIVERSE)
	msg = order.AppendUint32(msg, uint32(dev.Index))
	for _, attribute := range []uint16{unix.IFA_LOCAL, unix.IFA_ADDRESS} {
		msg = order.AppendUint16(msg, unix.SizeofRtAttr+4)
		msg = order.AppendUint16(msg, attribute)
		msg = append(msg, a.AsSlice()...)
	}
	order.PutUint32(msg, uint32(len(msg)))
	if err := unix.Sendto(fd, msg, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil || n < unix.SizeofNlMsghdr+4 {
		return errors.Join(err, fmt.Errorf("the kernel's answer has %d bytes", n))
	}
	if errno := -int32(order.Uint32(answer[unix.SizeofNlMsghdr:])); errno != 0 {
		return unix.Errno(errno)
	}
	return nil
}
