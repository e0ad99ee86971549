// Package open picks the reader of a binary's debug information.
//
// In: a path. Out: a debuginfo.Image: cgo (which is godwarf, and cdwarf for C code that the file has too) for programs
// with a Go function table, cdwarf for all others.
package open

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cdwarf"
	"github.com/gostap/gostap/compiler/debuginfo/cgo"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/godwarf"
	"github.com/gostap/gostap/compiler/debuginfo/kept"
)

// Open opens the amd64 ELF program or library at path. Errors wrap debuginfo.ErrNotELF,
// debuginfo.ErrArch, or what the file system says. Close the Image when done.
func Open(path string) (debuginfo.Image, error) { return Keeping("")(path) }

// Keeping is Open that keeps large inflated sections in a folder from one run to the next, "" for nowhere.
func Keeping(folder string) func(path string) (debuginfo.Image, error) {
	return func(path string) (debuginfo.Image, error) {
		f, err := elffile.Open(path)
		if err != nil {
			return nil, err
		}
		f.Kept = kept.Folder(folder)
		return New(f)
	}
}

// New makes the Image of a file that is open, and closes that if it cannot.
func New(f *elffile.File) (debuginfo.Image, error) {
	if godwarf.Is(f) {
		im, err := cgo.New(f)
		if err != nil {
			f.Close()
			return nil, err
		}
		return im, nil
	}
	im, err := cdwarf.New(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return im, nil
}
