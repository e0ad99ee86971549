package attach

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/foreign"
)

// File is a file that is held open while probes are put into it: the kernel is given the
// descriptor's name, so that the file which was checked is the one which is probed.
type File struct {
	traced.File
	fd   int
	isGo *bool
}

// OpenFile opens path and compares it with want, unless that is zero.
func OpenFile(path string, want debuginfo.FileID) (*File, error) {
	fd, f, err := traced.Open(path, unix.O_PATH, want)
	if err != nil {
		return nil, err
	}
	return &File{File: f, fd: fd}, nil
}

// kernelPath is a name that leads to this very file, even if it is renamed, deleted or in another mount namespace.
func (f *File) kernelPath() string { return "/proc/self/fd/" + strconv.Itoa(f.fd) }

// Close lets the file go. Links to it stay.
func (f *File) Close() {
	if f.fd >= 0 {
		unix.Close(f.fd)
		f.fd = -1
	}
}

// IsGo reports whether the file is a program with Go's runtime in it, by its sections or the notes of Go's linker.
func (f *File) IsGo() (bool, error) {
	if f.isGo != nil {
		return *f.isGo, nil
	}
	r, err := os.Open(f.kernelPath())
	if err != nil {
		return false, err
	}
	defer r.Close()
	e, err := foreign.ELF(r)
	if err != nil {
		return false, fmt.Errorf("not an ELF file: %w", err)
	}
	found := false
	for _, s := range e.Sections {
		if strings.HasSuffix(s.Name, ".gopclntab") || s.Name == ".go.buildinfo" || s.Name == ".note.go.buildid" {
			found = true
		}
	}
	if len(e.Sections) == 0 {
		// Without section headers: Go's build information begins with this wherever it lies.
		magic := []byte("\xff Go buildinf:")
		for _, p := range e.Progs {
			if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 {
				continue
			}
			head := make([]byte, min(p.Filesz, 64<<10))
			if n, _ := p.ReadAt(head, 0); bytes.Contains(head[:n], magic) {
				found = true
			}
		}
	}
	f.isGo = &found
	return found, nil
}
