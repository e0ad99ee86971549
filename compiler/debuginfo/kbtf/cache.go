package kbtf

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/cachefile"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/trusted"
)

// The kernel's own symbols stay what they are until the next boot, and making the text of /proc/kallsyms takes the
// kernel some 50 ms. So they are kept in a file, with tables that find them by name and by address; it is mapped, and a
// look-up touches a few pages of it. Symbols of modules are not kept.
//
// The file is: magic, hash of the boot, numbers of bytes of text, slots and sorted lines, then slots, sorted lines and
// text as Symbols has them. It is believed if package trusted says so; all the same
// every offset in it is checked when it is used.

var le = binary.LittleEndian

const (
	cacheMagic  = "gs-ksym1"
	cacheHeader = 8 + 16 + 4*4
)

// cacheFile names the file for this boot; boot is what it has to hold. "" if there is to be none.
func (k *Kernel) cacheFile() (path string, boot [16]byte) {
	if k.cfg.Cache == "" || k.cfg.Foreign() {
		return "", boot
	}
	id, err := os.ReadFile(filepath.Join(k.cfg.Proc, "sys/kernel/random/boot_id"))
	if err != nil || len(id) < 32 {
		return "", boot
	}
	sum := sha256.Sum256(id)
	copy(boot[:], sum[:])
	return filepath.Join(k.cfg.Cache, "kallsyms-"+hex.EncodeToString(boot[:8])), boot
}

// readCache maps the symbols that an earlier run kept, nil if there are none.
func readCache(path string, boot [16]byte) *Symbols {
	f, err := trusted.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() < cacheHeader || st.Size() > maxSymbols {
		return nil
	}
	m, err := foreign.Map(f, path, st.Size(), unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	s := decodeCache(m.Bytes, boot)
	if s == nil {
		m.Close()
	}
	return s
}

// decodeCache takes the file's bytes apart. They are kept.
func decodeCache(b []byte, boot [16]byte) *Symbols {
	if len(b) < cacheHeader || string(b[:8]) != cacheMagic || !bytes.Equal(b[8:24], boot[:]) {
		return nil
	}
	text, slots, sorted := uint64(le.Uint32(b[24:])), uint64(le.Uint32(b[28:])), uint64(le.Uint32(b[32:]))
	if cacheHeader+4*slots+4*sorted+text != uint64(len(b)) || slots == 0 || slots&(slots-1) != 0 ||
		uintptr(unsafe.Pointer(&b[0]))%4 != 0 {
		return nil
	}
	words := func(at, n uint64) []uint32 {
		if n == 0 {
			return []uint32{}
		}
		return unsafe.Slice((*uint32)(unsafe.Pointer(&b[at])), n)
	}
	return &Symbols{
		slots: words(cacheHeader, slots), sorted: words(cacheHeader+4*slots, sorted),
		text: b[cacheHeader+4*(slots+sorted):],
	}
}

// writeCache keeps s, in place of what was kept of other boots. That it cannot is no error: the next run takes as long
// as this.
func writeCache(path string, boot [16]byte, s *Symbols) error {
	if s.hidden {
		return errors.New("addresses are hidden")
	}
	s.table()
	s.index()
	head := append([]byte(cacheMagic), boot[:]...)
	for _, n := range []int{len(s.text), len(s.slots), len(s.sorted), 0} {
		head = le.AppendUint32(head, uint32(n))
	}
	bytesOf := func(w []uint32) []byte {
		if len(w) == 0 {
			return nil
		}
		return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), 4*len(w))
	}
	if err := cachefile.Write(path, head, bytesOf(s.slots), bytesOf(s.sorted), s.text); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if old, err := os.ReadDir(dir); err == nil {
		for _, e := range old {
			if strings.HasPrefix(e.Name(), "kallsyms-") && e.Name() != filepath.Base(path) {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	return nil
}
