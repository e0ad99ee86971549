package vm

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// tree is a file system to be, in the "newc" form of cpio that the kernel unpacks.
type tree struct {
	files map[string]node
}

type node struct {
	mode uint32
	data []byte
}

func newTree() *tree { return &tree{map[string]node{}} }

// add enters a file or link with the folders above it.
func (t *tree) add(path string, mode uint32, data []byte) {
	path = strings.TrimPrefix(path, "/")
	for d := filepath.Dir(path); d != "."; d = filepath.Dir(d) {
		if _, ok := t.files[d]; !ok {
			t.files[d] = node{mode: 0o40755}
		}
	}
	t.files[path] = node{mode, data}
}

func (t *tree) dir(path string) { t.add(path, 0o40755, nil) }

// copy enters a file or folder of the host, with the shared libraries of its programs.
func (t *tree) copy(src, dst string) error {
	return filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := dst + strings.TrimPrefix(path, src)
		switch {
		case d.IsDir():
			t.dir(to)
			return nil
		case d.Type()&fs.ModeSymlink != 0 && path != src:
			link, err := os.Readlink(path)
			t.add(to, 0o120777, []byte(link))
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		st, err := os.Stat(path)
		if err != nil {
			return err
		}
		t.add(to, 0o100000|uint32(st.Mode().Perm()), data)
		if st.Mode().Perm()&0o111 != 0 && bytes.HasPrefix(data, []byte("\x7fELF")) {
			t.libraries(path)
		}
		return nil
	})
}

func (t *tree) libraries(path string) {
	out, err := exec.Command("ldd", path).Output()
	if err != nil {
		return // static
	}
	for _, f := range strings.Fields(string(out)) {
		if !strings.HasPrefix(f, "/") || t.files[strings.TrimPrefix(f, "/")].mode != 0 {
			continue
		}
		if data, err := os.ReadFile(f); err == nil {
			t.add(f, 0o100755, data)
		}
	}
}

// archive gives the bytes of the cpio archive.
func (t *tree) archive() []byte {
	var names []string
	for n := range t.files {
		names = append(names, n)
	}
	sort.Strings(names) // folders before what is in them
	var b bytes.Buffer
	pad := func() {
		for b.Len()%4 != 0 {
			b.WriteByte(0)
		}
	}
	entry := func(i int, name string, n node) {
		fmt.Fprintf(&b, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", i, n.mode, 0, 0, 1, 0,
			len(n.data), 0, 0, 0, 0, len(name)+1, 0)
		b.WriteString(name)
		b.WriteByte(0)
		pad()
		b.Write(n.data)
		pad()
	}
	for i, n := range names {
		entry(i+1, n, t.files[n])
	}
	entry(0, "TRAILER!!!", node{})
	return b.Bytes()
}
