package load

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"os"
	"path/filepath"

	"github.com/gostap/gostap/compiler/cachefile"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/trusted"
	"github.com/gostap/gostap/grammar"
)

// A folder of library files can hold hundreds of them. What their index says is kept in a file in the cache
// folder, one for each -I folder, with the size and the time of change of each; files that are as they were are
// not even opened. The file is good for one build of gostap only.
//
// It is made of a line that names the build, a checksum (4 bytes), and records in varints and strings with
// their length before them:
//
//	file: path, size, time of change (ns), 1 if the index is complete, number of entries, entries
//	entry: kind, private, offset, end, line, body offset, body end, names, refs, points, params, guards

// fewFiles is how many files are read anew each time rather than kept.
const fewFiles = 24

// maxCache bounds what is kept of one folder. That of some 200 files has 100 KB.
const maxCache = 256 << 20

// fileIndex is what is kept of one file.
type fileIndex struct {
	size, changed int64
	ok            bool
	entries       []grammar.Entry
}

// cache is what is known about one -I folder from earlier runs.
type cache struct {
	path  string
	build string
	files map[string]*fileIndex
	// fresh are the files as they are now; stale is set when that is not what was kept.
	fresh map[string]*fileIndex
	stale bool
}

// openCache reads what was kept about dir. A cache that cannot be read is empty.
func openCache(o *Options, dir string) *cache {
	abs, err := filepath.Abs(dir)
	if err != nil || o.Cache == "" {
		return nil
	}
	h := fnv.New64a()
	h.Write([]byte(abs))
	c := &cache{path: filepath.Join(o.Cache, fmt.Sprintf("index-%016x", h.Sum64())), build: build(),
		fresh: map[string]*fileIndex{}}
	if !o.CacheAnew {
		c.read()
	}
	return c
}

// build names this build of the program by its file.
func build() string {
	st, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "unknown"
	}
	return fmt.Sprintf("gostap index %d %d", st.Size(), st.ModTime().UnixNano())
}

// index gives the index of a file, from the cache if the file is as it was.
func (c *cache) index(path string, st os.FileInfo) (*fileIndex, error) {
	if c != nil {
		if f := c.files[path]; f != nil && f.size == st.Size() && f.changed == st.ModTime().UnixNano() {
			c.fresh[path] = f
			return f, nil
		}
	}
	text, err := foreign.ReadFile(path, grammar.MaxBytes)
	if err != nil {
		return nil, err
	}
	f := &fileIndex{size: int64(len(text)), changed: st.ModTime().UnixNano()}
	f.entries, f.ok = grammar.Index(text)
	if c != nil {
		c.fresh[path], c.stale = f, true
	}
	return f, nil
}

func (c *cache) read() {
	if data, err := trusted.ReadFile(c.path, maxCache); err == nil {
		c.parse(data)
	}
}

// parse takes what was kept; anything odd is as good as nothing.
func (c *cache) parse(data []byte) {
	head := c.build + "\n"
	if !bytes.HasPrefix(data, []byte(head)) || len(data) < len(head)+4 {
		return
	}
	sum, data := binary.LittleEndian.Uint32(data[len(head):]), data[len(head)+4:]
	if crc32.ChecksumIEEE(data) != sum {
		return
	}
	d := decoder{s: string(data)}
	files := make(map[string]*fileIndex, d.peekCount())
	for n := d.count(); n > 0 && !d.bad; n-- {
		name := d.text()
		f := &fileIndex{size: d.num(), changed: d.num(), ok: d.num() != 0}
		f.entries = make([]grammar.Entry, d.count())
		for i := range f.entries {
			d.entry(&f.entries[i])
			e := &f.entries[i]
			if e.Off < 0 || e.Off > e.End || int64(e.End) > f.size || e.BodyOff < 0 || e.BodyOff > e.BodyEnd ||
				int64(e.BodyEnd) > f.size {
				d.bad = true
			}
		}
		files[name] = f
	}
	if !d.bad && d.s == "" {
		c.files = files
	}
}

// write keeps what is known now, if that has changed. It is no error when that does not work.
func (c *cache) write() {
	if c == nil || len(c.fresh) <= fewFiles || !c.stale && len(c.fresh) == len(c.files) {
		return
	}
	var e encoder
	e.num(int64(len(c.fresh)))
	for name, f := range c.fresh {
		e.text(name)
		e.num(f.size)
		e.num(f.changed)
		e.flag(f.ok)
		e.num(int64(len(f.entries)))
		for i := range f.entries {
			e.entry(&f.entries[i])
		}
	}
	head := append([]byte(c.build+"\n"), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(head[len(head)-4:], crc32.ChecksumIEEE(e.b))
	cachefile.Write(c.path, head, e.b)
}

// ClearCache removes what is kept in the cache folder: indexes, tables of programs by which stacks are walked, and
// their inflated sections.
func ClearCache(dir string) (err error) {
	for _, kind := range []string{"index-*", "rows-*", "headers-*", "section-*"} {
		list, gerr := filepath.Glob(filepath.Join(dir, kind))
		if err == nil {
			err = gerr
		}
		for _, f := range list {
			if rerr := os.Remove(f); err == nil {
				err = rerr
			}
		}
	}
	return err
}

type encoder struct{ b []byte }

func (e *encoder) num(n int64) { e.b = binary.AppendVarint(e.b, n) }

func (e *encoder) flag(b bool) {
	if b {
		e.num(1)
	} else {
		e.num(0)
	}
}

func (e *encoder) text(s string) {
	e.num(int64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) texts(l []string) {
	e.num(int64(len(l)))
	for _, s := range l {
		e.text(s)
	}
}

func (e *encoder) entry(x *grammar.Entry) {
	e.num(int64(x.Kind))
	e.flag(x.Private)
	for _, n := range []int{x.Off, x.End, x.Line, x.BodyOff, x.BodyEnd} {
		e.num(int64(n))
	}
	e.texts(x.Names)
	e.texts(x.Refs)
	e.texts(x.Points)
	e.texts(x.Params)
	e.num(int64(len(x.Guards)))
	for _, g := range x.Guards {
		e.num(int64(g.Off))
		e.num(int64(g.End))
		e.flag(g.Else)
	}
}

// decoder reads what encoder wrote. Its strings are parts of s. After anything odd bad is set and all
// numbers are 0.
type decoder struct {
	s   string
	bad bool
}

func (d *decoder) num() int64 {
	u, shift := uint64(0), 0
	for i := 0; i < len(d.s) && i < binary.MaxVarintLen64; i++ {
		c := d.s[i]
		u |= uint64(c&0x7f) << shift
		if c < 0x80 {
			d.s = d.s[i+1:]
			return int64(u>>1) ^ -int64(u&1)
		}
		shift += 7
	}
	d.bad, d.s = true, ""
	return 0
}

// count reads how many things follow, each of which takes a byte at least.
func (d *decoder) count() int {
	n := d.num()
	if n < 0 || n > int64(len(d.s)) {
		d.bad, d.s = true, ""
		return 0
	}
	return int(n)
}

func (d *decoder) peekCount() int {
	c := *d
	return c.count()
}

func (d *decoder) text() string {
	n := d.count()
	s := d.s[:n]
	d.s = d.s[n:]
	return s
}

func (d *decoder) texts() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	l := make([]string, n)
	for i := range l {
		l[i] = d.text()
	}
	return l
}

func (d *decoder) entry(x *grammar.Entry) {
	x.Kind = grammar.Kind(d.num())
	x.Private = d.num() != 0
	for _, p := range []*int{&x.Off, &x.End, &x.Line, &x.BodyOff, &x.BodyEnd} {
		*p = int(d.num())
	}
	x.Names, x.Refs, x.Points, x.Params = d.texts(), d.texts(), d.texts(), d.texts()
	if n := d.count(); n > 0 {
		x.Guards = make([]grammar.Guard, n)
		for i := range x.Guards {
			x.Guards[i] = grammar.Guard{Off: int(d.num()), End: int(d.num()), Else: d.num() != 0}
		}
	}
	named := x.Kind == grammar.ProbeEntry || x.Kind == grammar.EmbeddedEntry || len(x.Names) > 0
	if !named || x.Kind > grammar.EmbeddedEntry {
		d.bad = true
	}
}
