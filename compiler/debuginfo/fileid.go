package debuginfo

import "golang.org/x/sys/unix"

// FileID tells whether a file at a path is still the one that was read.
type FileID struct {
	Dev, Ino uint64
	Size     int64
	// Mtime is in ns since 1970.
	Mtime int64
}

// IDOf gives the identity that stat(2) tells.
func IDOf(st *unix.Stat_t) FileID {
	return FileID{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano()}
}

// SameFile reports whether both are the same file, written to or not.
func (a FileID) SameFile(b FileID) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// Identified is implemented by Images that remember which file they read (from fstat of the descriptor that
// they read). Attaching compares it, so that probes are never put into a file that took the other's place.
type Identified interface{ FileID() FileID }

// Changing is implemented by Images of files that may be written to while they are read. The error names the file,
// and is nil as long as it is as it was when it was opened.
type Changing interface{ Changed() error }
