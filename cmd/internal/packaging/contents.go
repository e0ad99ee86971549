package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
)

// file is one of a release. Its name is the path below the top folder of a tar ball.
type file struct {
	name string
	mode os.FileMode
	data []byte
}

// reader collects files, and the first error there is.
type reader struct {
	files  []file
	failed error
}

func (r *reader) add(name, path string) {
	data, err := os.ReadFile(path)
	r.failed = cmp.Or(r.failed, err)
	r.files = append(r.files, file{name, 0o644, data})
}

// pages adds the manual pages in a folder, which has some.
func (r *reader) pages(dir string) {
	pages, _ := filepath.Glob(filepath.Join(dir, "*.[1-9]"))
	if len(pages) == 0 {
		r.failed = cmp.Or(r.failed, fmt.Errorf("no manual pages in %s", dir))
	}
	for _, p := range pages {
		data, err := os.ReadFile(p)
		r.failed = cmp.Or(r.failed, err)
		zipped, err := zip(data)
		r.failed = cmp.Or(r.failed, err)
		r.files = append(r.files, file{"man/" + filepath.Base(p) + ".gz", 0o644, zipped})
	}
}

// gostapFiles are all that a release of gostap has.
func (r *release) gostapFiles(gostap, export *program) ([]file, error) {
	in := reader{files: []file{gostap.file, export.file}}
	in.pages(filepath.Join(r.made, "man"))
	for _, s := range []string{"bash", "zsh", "fish"} {
		in.add("completion/gostap."+s, filepath.Join(r.made, "completion."+s))
	}
	for _, unit := range []string{"gostap@.service", "gostap-agent.service"} {
		in.add("systemd/"+unit, source+unit)
	}
	in.add("README.md", "README.md")
	in.add("CHANGELOG.md", "CHANGELOG.md")
	in.add("packages.md", "docs/packages.md")
	in.add("LICENSE", "LICENSE")
	if in.failed != nil {
		return nil, in.failed
	}
	about, err := gostap.about(both(gostap.modules, export.modules), r.described, r.at)
	return append(in.files, about...), err
}

// fleetFiles are all that a release of gostap-fleet has.
func (r *release) fleetFiles(fleet *program) ([]file, error) {
	in := reader{files: []file{fleet.file}}
	in.pages(filepath.Join(r.made, "man-fleet"))
	in.add("fleet.md", "docs/fleet.md")
	in.add("LICENSE", "LICENSE")
	if in.failed != nil {
		return nil, in.failed
	}
	about, err := fleet.about(fleet.modules, r.described, r.at)
	return append(in.files, about...), err
}
