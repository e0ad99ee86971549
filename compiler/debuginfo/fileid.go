package debuginfo

// FileID tells whether a file at a path is still the one that was read.
type FileID struct {
	Dev, Ino uint64
	Size     int64
	// Mtime is in ns since 1970.
	Mtime int64
}

// Identified is implemented by Images that remember which file they read (from fstat of the descriptor that
// they read). Attaching compares it, so that probes are never put into a file that took the other's place.
type Identified interface{ FileID() FileID }
