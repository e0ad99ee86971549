package main

import (
	"archive/tar"
	"bytes"
	"maps"
	"path"
	"slices"
	"time"
)

// tree is a tar archive of files below a prefix, with the folders that they are in: root's, all of one time, in the
// order of their names.
func tree(files []file, prefix string, at time.Time) ([]byte, error) {
	byName := map[string]file{}
	for _, f := range files {
		name := prefix + f.name
		byName[name] = f
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, there := byName[dir+"/"]; !there {
				byName[dir+"/"] = file{mode: 0o755}
			}
		}
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		f := byName[name]
		h := &tar.Header{Name: name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: at, Typeflag: tar.TypeReg,
			Format: tar.FormatUSTAR, Uname: "root", Gname: "root"}
		if name[len(name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func tarball(files []file, prefix string, at time.Time) ([]byte, error) {
	b, err := tree(files, prefix, at)
	if err != nil {
		return nil, err
	}
	return zip(b)
}
