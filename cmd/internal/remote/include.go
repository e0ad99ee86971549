package remote

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/grammar"
)

// MaxIncluded bounds the bytes of all files of -I that are sent.
const MaxIncluded = 16 << 20

// ReadDir reads a library directory. left is how many bytes may still be sent.
func ReadDir(dir string, left *int) (d Dir, err error) {
	d.Path = dir
	if st, err := os.Stat(dir); err != nil {
		return d, slip.Plain(err)
	} else if !st.IsDir() {
		return d, fmt.Errorf("%s is not a directory", dir)
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return slip.Plain(err)
		}
		if e.IsDir() || !slices.Contains([]string{".stp", ".stpm", ".h"}, filepath.Ext(path)) {
			return nil
		}
		text, err := foreign.ReadFile(path, grammar.MaxBytes)
		if err != nil {
			return slip.Plain(err)
		}
		if *left -= len(text); *left < 0 {
			return slip.New(fmt.Sprintf("-I %s: there are more than %d MB to be sent to each host", dir,
				MaxIncluded>>20), "name the directory of the library only")
		}
		name, err := filepath.Rel(dir, path)
		d.Files = append(d.Files, File{Name: name, Text: text})
		return err
	})
	return d, err
}
