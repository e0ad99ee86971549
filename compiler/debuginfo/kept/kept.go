// Package kept keeps inflated debug sections from one run to the next, since inflating them is most of the time that it
// takes to read one variable of a large program.
//
// In: a folder, which section of which binary, its contents. Out: the same contents, mapped, in a later run.
//
// A file "section-ID" holds the contents and a checksum (CRC-32C) of them. It is believed if package trusted says so,
// and the checksum is right. What has not been used for longest goes when there is too much.
package kept

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/cachefile"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/trusted"
)

const (
	worth    = 2 << 20   // bytes of the smallest section that is kept: 5 ms of inflating
	most     = 256 << 20 // bytes of the largest
	mostAll  = 512 << 20 // bytes of all
	prefix   = "section-"
	trailer  = 8         // bytes behind the contents: the checksum
	freshFor = time.Hour // for so long the time of a file's last use is not written again
)

// Folder is where sections are kept, "" for nowhere.
type Folder string

// Section is a compressed section of a binary.
type Section struct {
	// BuildID and FileSize (bytes) tell which binary: one without the former has nothing kept.
	BuildID  string
	FileSize int64
	// Packed and Size are the bytes that it takes in the file, and inflated.
	Packed, Size uint64
	// Sum is the checksum of the contents (Adler-32) that the file has behind the compressed bytes.
	Sum uint32
}

// path is where s is kept, "" where it is not.
func (d Folder) path(s Section) string {
	if d == "" || s.BuildID == "" || s.Size < worth || s.Size > most {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %d %d", s.BuildID, s.FileSize, s.Packed, s.Size, s.Sum))
	return filepath.Join(string(d), prefix+hex.EncodeToString(sum[:12]))
}

// Get gives the contents that an earlier run has left, of which the first s.Size bytes are the section; nil if there
// are none. The caller closes it.
func (d Folder) Get(s Section) *foreign.Mapping {
	path := d.path(s)
	if path == "" {
		return nil
	}
	f, err := trusted.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() != int64(s.Size)+trailer {
		return nil
	}
	m, err := foreign.Map(f, path, st.Size(), unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil
	}
	if !right(m.Bytes) {
		m.Close()
		os.Remove(path)
		return nil
	}
	if now := time.Now(); now.Sub(st.ModTime()) > freshFor {
		os.Chtimes(path, now, now) // see prune
	}
	return m
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// right reports whether what a file holds has its checksum.
func right(b []byte) (ok bool) {
	var err error
	defer foreign.Guard(&err)()
	n := len(b) - trailer
	return binary.LittleEndian.Uint64(b[n:]) == uint64(crc32.Checksum(b[:n], castagnoli))
}

// Put leaves the contents of s for later runs, if they are worth it and the folder is safe.
func (d Folder) Put(s Section, contents []byte) {
	path := d.path(s)
	if path == "" || uint64(len(contents)) != s.Size || trusted.Dir(string(d)) != nil {
		return
	}
	d.prune(mostAll - int64(s.Size))
	sum := binary.LittleEndian.AppendUint64(nil, uint64(crc32.Checksum(contents, castagnoli)))
	if err := cachefile.Write(path, contents, sum); err != nil {
		os.Remove(path)
	}
}

// prune takes away what was not used for longest until there are at most limit bytes of sections.
func (d Folder) prune(limit int64) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return
	}
	var all []os.FileInfo
	sum := int64(0)
	for _, e := range entries {
		if st, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), prefix) {
			all = append(all, st)
			sum += st.Size()
		}
	}
	slices.SortFunc(all, func(a, b os.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, st := range all {
		if sum <= limit {
			return
		}
		if os.Remove(filepath.Join(string(d), st.Name())) == nil {
			sum -= st.Size()
		}
	}
}
