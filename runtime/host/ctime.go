package host

import "time"

// ctime writes seconds since the epoch as the C library's ctime does, in UTC and
// without the newline; out of the range of four-digit years it says so.
func ctime(s int64) string {
	const maxYear9999 = 253402300799
	switch {
	case s > maxYear9999:
		return "far far in the future..."
	case s < -62135596800:
		return "a long, long time ago..."
	}
	return time.Unix(s, 0).UTC().Format("Mon Jan _2 15:04:05 2006")
}
