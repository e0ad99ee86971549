package elffile

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/foreign"
)

// UnwindPieces gives what Unwind tells of all code, packed: by .eh_frame and, where that says nothing, .debug_frame.
// Entries that are damaged are left out, so that nothing is known of their code.
func (f *File) UnwindPieces() (out []cfi.Piece, err error) { return f.UnwindBeside(nil) }

// UnwindBeside does that without the code that pieces are known of already, and puts them in front.
func (f *File) UnwindBeside(known []cfi.Piece) (out []cfi.Piece, err error) {
	defer foreign.Guard(&err)()
	out = known
	eh, ehAddr := f.ehFrame()
	add := func(b []byte, addr uint64, list []fde) {
		slices.SortFunc(out, func(a, b cfi.Piece) int { return cmp.Compare(a.Begin, b.Begin) })
		have := len(out)
		for _, e := range list {
			if i := sort.Search(have, func(i int) bool { return out[i].End > e.begin }); i < have &&
				out[i].Begin < e.begin+e.size {
				continue
			}
			p := cfi.Piece{Begin: e.begin, End: e.begin + e.size}
			if p.End < p.Begin {
				continue
			}
			if entry, err := f.unwindEntry(b, e.off, addr); err == nil && entry.Begin == p.Begin && entry.End == p.End {
				p.Rows, _ = entry.Rows()
			}
			out = append(out, p)
		}
	}
	if eh != nil {
		list, err := indexFrames(eh, ehAddr)
		if err != nil {
			return nil, err
		}
		add(eh, ehAddr, list)
	}
	src := f
	if d := f.debug; d != nil && !f.HasSection(".debug_frame") {
		src = d
	}
	b, err := src.Optional(".debug_frame")
	if err != nil || len(b) == 0 {
		return out, nil
	}
	list, err := indexFrames(b, 0)
	if err != nil {
		return out, nil
	}
	add(b, 0, slices.Clone(list))
	return out, nil
}
