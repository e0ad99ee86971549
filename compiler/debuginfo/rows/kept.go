package rows

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/cachefile"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/trusted"
)

// Tables of large files are kept from one run to the next, by build id: a file "rows-ID" with a hash of what follows,
// the base, the number of segments, these, and the rows, all words of 8 bytes. It is believed if package trusted says
// so and the hash is right.

// worth is the least rows of a table that is kept: others are made as quickly as they are read.
const worth = 4096

// maxKept bounds the bytes of a kept table.
const maxKept = 64 << 20

// keptName names the file in which the table of f is kept, "" for none. Another gostap may make other tables of the
// same file.
func keptName(folder string, f *elffile.File) string {
	if folder == "" || f.BuildID() == "" {
		return ""
	}
	id, err := self()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %v", f.BuildID(), f.FileID().Size, id))
	return filepath.Join(folder, "rows-"+hex.EncodeToString(sum[:12]))
}

// self is this program's own file.
var self = sync.OnceValues(func() (id debuginfo.FileID, err error) {
	var st unix.Stat_t
	if err = unix.Stat("/proc/self/exe", &st); err == nil {
		id = debuginfo.IDOf(&st)
	}
	return id, err
})

// kept reads a table that an earlier run has left; nil if there is none.
func kept(path string) *Table {
	data, err := trusted.ReadFile(path, maxKept)
	if err != nil || len(data) < sha256.Size || len(data)%8 != 0 {
		return nil
	}
	sum := sha256.Sum256(data[sha256.Size:])
	if !bytes.Equal(sum[:], data[:sha256.Size]) {
		return nil
	}
	data = data[sha256.Size:]
	word := func() (v uint64) {
		if len(data) >= 8 {
			v = binary.LittleEndian.Uint64(data)
			data = data[8:]
		}
		return v
	}
	t := &Table{Base: word()}
	for n := word(); n > 0 && len(data) >= 24; n-- {
		t.Code = append(t.Code, Segment{word(), word(), word()})
	}
	t.Rows = make([]uint64, 0, len(data)/8)
	for len(data) > 0 {
		t.Rows = append(t.Rows, word())
	}
	return t
}

// keep leaves a table for later runs, if it is worth it and the folder is safe.
func (t *Table) keep(path string) {
	if len(t.Rows) < worth || trusted.Dir(filepath.Dir(path)) != nil {
		return
	}
	var b []byte
	word := func(v uint64) { b = binary.LittleEndian.AppendUint64(b, v) }
	word(t.Base)
	word(uint64(len(t.Code)))
	for _, s := range t.Code {
		word(s.Off)
		word(s.Size)
		word(s.Addr)
	}
	for _, r := range t.Rows {
		word(r)
	}
	if len(b) > maxKept-sha256.Size {
		return
	}
	sum := sha256.Sum256(b)
	if err := cachefile.Write(path, sum[:], b); err != nil {
		os.Remove(path)
	}
}
