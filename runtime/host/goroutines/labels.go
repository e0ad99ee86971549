package goroutines

import (
	"encoding/binary"
	"errors"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/types"
)

// labelling is where labels of pprof are: runtime.g.labels leads to runtime/pprof.labelMap.
type labelling struct {
	at int64 // in runtime.g, 0 if no goroutine has any
	// list is where in labelMap the slice of them is; -1 where it is a map, before Go 1.24. key and value are strings
	// in an element of size.
	list, key, value, size int64
}

// The most labels of a goroutine that are read, and the most bytes of a text.
const mostLabels, mostText = 64, 4096

// labellingOf finds out where labels are. A program without the type has none.
func labellingOf(img debuginfo.Image, g *types.Ctype) (l labelling) {
	t, err := img.Type("runtime/pprof.labelMap")
	if err != nil {
		return l
	}
	if l.at, err = offset(g, "labels"); err != nil || l.at < 0 || l.at+8 > g.Size {
		return labelling{}
	}
	if t.Kind == types.GoMap {
		l.list = -1
		return l
	}
	for _, f := range t.Fields() {
		for _, list := range f.Type.Fields() {
			if e := list.Type.Elem(); list.Type.Kind == types.GoSlice && e != nil && len(e.Fields()) == 2 {
				l.list, l.key, l.value, l.size = f.Off+list.Off, e.Fields()[0].Off, e.Fields()[1].Off, e.Size
			}
		}
	}
	if l.size < 32 || l.size > 1024 {
		l.size = 0 // it is of another form
	}
	return l
}

var errLabels = errors.New("labels cannot be read")

// labels reads the labels at an address.
func (r *Reader) labels(addr uint64) (out [][2]string, err error) {
	l := r.labelling
	if l.list < 0 {
		return r.mapLabels(addr)
	}
	head := make([]byte, 16)
	if err := r.read(head, addr+uint64(l.list)); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head[8:])
	if n > mostLabels || l.size == 0 {
		return nil, errLabels
	}
	list := make([]byte, n*uint64(l.size))
	if err := r.read(list, binary.LittleEndian.Uint64(head)); err != nil {
		return nil, err
	}
	for ; len(list) > 0; list = list[l.size:] {
		if out, err = r.label(out, list[l.key:], list[l.value:]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mapLabels reads a map as it was before Go 1.24 (runtime.hmap), of up to 8 elements, which are in one bucket.
func (r *Reader) mapLabels(addr uint64) (out [][2]string, err error) {
	head := make([]byte, 24)
	if err := r.read(head[:8], addr); err != nil {
		return nil, err
	}
	m := binary.LittleEndian.Uint64(head)
	if m == 0 {
		return nil, nil
	}
	if err := r.read(head, m); err != nil {
		return nil, err
	}
	if head[9] != 0 { // more buckets
		return nil, errLabels
	}
	bucket := make([]byte, 8+8*16+8*16)
	if err := r.read(bucket, binary.LittleEndian.Uint64(head[16:])); err != nil {
		return nil, err
	}
	for i := range 8 {
		if bucket[i] < 5 { // minTopHash: no element
			continue
		}
		if out, err = r.label(out, bucket[8+16*i:], bucket[8+8*16+16*i:]); err != nil {
			return nil, err
		}
	}
	if uint64(len(out)) != binary.LittleEndian.Uint64(head) {
		return nil, errLabels
	}
	return out, nil
}

// label adds a label, by the two words of its key and its value.
func (r *Reader) label(out [][2]string, words ...[]byte) ([][2]string, error) {
	var l [2]string
	for i, w := range words {
		n := binary.LittleEndian.Uint64(w[8:])
		if n > mostText {
			return nil, errLabels
		}
		text := make([]byte, n)
		if err := r.read(text, binary.LittleEndian.Uint64(w)); err != nil {
			return nil, err
		}
		l[i] = string(text)
	}
	return append(out, l), nil
}
