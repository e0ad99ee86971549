// Package manifest writes a compiled program down, so that it can be run without its script: the program with the
// places in the script that its messages name, which files it traces, and for what it was made. Built modules carry it,
// and it is what package gostap keeps of a script.
//
// In: an ir.Program. Out: bytes, and back. The bytes may come from anywhere: everything is checked.
package manifest

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// Version of the form; another one is not read.
const Version = 4

const magic = "gostap\x00"

// maxPlain bounds what a manifest unpacks to, MaxBytes what it takes itself.
const (
	maxPlain = 96 << 20
	MaxBytes = 64 << 20
)

// Digest stands for how a program was translated: layouts, records, sites. It is zero where it was not.
type Digest [sha256.Size]byte

// Manifest is what travels.
type Manifest struct {
	// Program has its Files, but no images.
	Program *ir.Program
	Digest  Digest
	Traced  []Traced
	// Runtime is the one that the script was compiled for, "" if it did not say. Kernel is the only one that the
	// program fits, by release and version, "" if it uses nothing of a kernel that differs from one to the next.
	Runtime, Kernel string
	// Facts are what the program takes for granted of a kernel that is not the one of Kernel.
	Facts []Fact
	// Guru: the program changes what it traces.
	Guru bool
}

// Fact is something that a program takes for granted of the kernel, by its kind and name, and at what place of the
// script.
type Fact struct {
	Kind, Name, Text string
	Pos              source.Pos
}

// ErrVersion says that another version of gostap made it.
var ErrVersion = errors.New("it was made by another version of gostap")

// ErrDamaged says that bytes are not what Encode gave.
var ErrDamaged = errors.New("what it carries for the host is damaged")

// Is reports whether b begins as what Encode gives, of whichever version.
func Is(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }

// Sum is the digest of the bytes that Encode gave, by which they can be told from all others.
func Sum(b []byte) [sha256.Size]byte { return sha256.Sum256(b) }

// Encode gives the bytes of m.
func (m *Manifest) Encode() ([]byte, error) {
	text, keep := m.Program.Portable()
	var plain []byte
	str := func(s string) { plain = append(binary.AppendUvarint(plain, uint64(len(s))), s...) }
	str(text)
	str(m.Runtime)
	str(m.Kernel)
	plain = append(plain, m.Digest[:]...)
	plain = binary.AppendUvarint(plain, uint64(len(m.Traced)))
	for _, t := range m.Traced {
		str(t.Path)
		plain = binary.AppendUvarint(plain, uint64(t.Size))
		str(t.ID)
		str(t.Code)
	}
	plain = binary.AppendUvarint(plain, uint64(len(m.Facts)))
	for _, f := range m.Facts {
		str(f.Kind)
		str(f.Name)
		str(f.Text)
		plain = binary.AppendUvarint(plain, uint64(f.Pos))
		keep = append(keep, f.Pos)
	}
	plain = append(plain, map[bool]byte{true: 1}[m.Guru])
	files := m.Program.Files
	if files == nil {
		files = new(source.FileSet)
	}
	plain = files.Pack(plain, keep)
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(packed.Bytes())
	out := append([]byte(magic), Version)
	return append(append(out, sum[:]...), packed.Bytes()...), nil
}

// Decode reads what Encode gave.
func Decode(b []byte) (*Manifest, error) {
	b, ok := bytes.CutPrefix(b, []byte(magic))
	const head = 1 + sha256.Size
	if !ok || len(b) == 0 {
		return nil, ErrDamaged
	}
	if b[0] != Version {
		return nil, ErrVersion
	}
	if len(b) < head {
		return nil, ErrDamaged
	}
	if sum := sha256.Sum256(b[head:]); !bytes.Equal(sum[:], b[1:head]) {
		return nil, ErrDamaged
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b[head:])), maxPlain))
	if err != nil {
		return nil, ErrDamaged
	}
	return decode(plain)
}

// decode reads the plain form.
func decode(plain []byte) (*Manifest, error) {
	bad := false
	num := func() uint64 {
		n, k := binary.Uvarint(plain)
		if k <= 0 {
			bad = true
			return 0
		}
		plain = plain[k:]
		return n
	}
	str := func() string {
		n := num()
		if bad || n > uint64(len(plain)) {
			bad = true
			return ""
		}
		s := string(plain[:n])
		plain = plain[n:]
		return s
	}
	m := &Manifest{}
	text := str()
	m.Runtime, m.Kernel = str(), str()
	if bad || copy(m.Digest[:], plain) < len(m.Digest) {
		return nil, ErrDamaged
	}
	plain = plain[len(m.Digest):]
	n := num()
	for i := uint64(0); i < n && !bad; i++ {
		m.Traced = append(m.Traced, Traced{Path: str(), Size: int64(num()), ID: str(), Code: str()})
	}
	n = num()
	for i := uint64(0); i < n && !bad; i++ {
		f := Fact{Kind: str(), Name: str(), Text: str()}
		at := num()
		if f.Pos = source.Pos(at); uint64(f.Pos) != at || f.Pos < 0 {
			bad = true
		}
		m.Facts = append(m.Facts, f)
	}
	if bad || len(plain) == 0 || plain[0] > 1 {
		return nil, ErrDamaged
	}
	m.Guru, plain = plain[0] == 1, plain[1:]
	files, rest, err := source.Unpack(plain)
	if err != nil || len(rest) > 0 {
		return nil, ErrDamaged
	}
	p, err := ir.ParseText(text)
	if err == nil {
		err = ir.Verify(p)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrVersion, err)
	}
	p.Files = files
	m.Program = p
	return m, nil
}
