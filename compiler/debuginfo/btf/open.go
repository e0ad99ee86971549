package btf

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/foreign"
)

// ErrNone is wrapped by errors about types of a kernel that has none.
var ErrNone error = none{}

type none struct{}

func (none) Error() string { return "the kernel has no type information (CONFIG_DEBUG_INFO_BTF)" }

// Shared has one of the many places of a script that need types told of (package diag).
func (none) Shared() string { return "kernel types" }

// RunningPath is where the running kernel has its BTF.
const RunningPath = "/sys/kernel/btf/vmlinux"

// Running gives the running kernel's types, which stay what they are while it runs.
var Running = sync.OnceValues(func() (*Types, error) { return Open(RunningPath, nil) })

// Open reads the BTF at path. Its bytes stay for the life of the process: names share them.
func Open(path string, base *Types) (*Types, error) {
	f, err := foreign.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var magic [4]byte
	if n, _ := f.ReadAt(magic[:], 0); n == 4 && string(magic[:]) == elf.ELFMAG {
		return fromELF(f, path, base)
	}
	if st.Size() > maxBytes {
		return nil, fmt.Errorf("%s: %d bytes are too many for BTF", path, st.Size())
	}
	b, err := mapOrRead(f, path, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	x, err := New(b, base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// Has reports whether the file at path is BTF, or an ELF file with it.
func Has(path string) bool {
	f, err := foreign.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [4]byte
	if n, _ := f.ReadAt(b[:], 0); n < 4 {
		return false
	}
	if string(b[:]) == elf.ELFMAG {
		e, err := foreign.ELF(f)
		return err == nil && e.Section(".BTF") != nil
	}
	return le.Uint16(b[:]) == magic
}

// mapOrRead maps the file, which the kernel allows for its own BTF from 6.16 on, or reads it. Files that may
// change under the map are read.
func mapOrRead(f *os.File, path string, size int64) ([]byte, error) {
	var fs unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &fs) == nil && fs.Type == unix.SYSFS_MAGIC && size > 0 {
		if m, err := foreign.Map(f, path, size, unix.MAP_PRIVATE|unix.MAP_POPULATE); err == nil {
			return m.Bytes, nil
		}
	}
	b := make([]byte, size)
	n, err := io.ReadFull(f, b)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	return b[:n], err
}

func fromELF(f *os.File, path string, base *Types) (x *Types, err error) {
	e, err := foreign.ELF(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sec := e.Section(".BTF")
	if sec == nil || sec.Type == elf.SHT_NOBITS {
		return nil, fmt.Errorf("%s: %w: no .BTF section", path, ErrNone)
	}
	if sec.Size > maxBytes {
		return nil, fmt.Errorf("%s: .BTF has %d bytes, which are too many", path, sec.Size)
	}
	b, err := sec.Data()
	if err != nil {
		return nil, fmt.Errorf("%s: .BTF: %w", path, err)
	}
	if x, err = New(b, base); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}
