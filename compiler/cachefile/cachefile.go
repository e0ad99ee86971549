// Package cachefile writes the files that are kept from one run to the next.
//
// In: a path and bytes. Out: a file that is there whole or not at all, whatever other runs do at the same time.
package cachefile

import (
	"os"
	"path/filepath"
)

// Write puts the file together from parts, readable by its owner alone, in place of what is at path. Folders that are
// not there are made, for the owner alone as well.
func Write(path string, parts ...[]byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return err
	}
	for _, p := range parts {
		if _, err = f.Write(p); err != nil {
			break
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
