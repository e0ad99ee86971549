package dynlink

import (
	"bytes"
	"encoding/binary"
)

// The layout of /etc/ld.so.cache (sysdeps/generic/dl-cache.h of glibc): a header of 48 bytes, entries of 24, and
// strings, to which offsets from the header's first byte lead. Before glibc 2.32 an older table may stand in front of
// it.
const (
	cacheMagic  = "glibc-ld.so.cache1.1"
	cacheHeader = 48
	cacheEntry  = 24
	maxName     = 4096
)

// parseCache gives the paths of each library that the cache knows, variants for newer processors first. A cache of
// another form is as good as none.
func parseCache(b []byte, flags uint32) map[string][]string {
	out := map[string][]string{}
	at := bytes.Index(b, []byte(cacheMagic))
	if at < 0 {
		return out
	}
	if b = b[at:]; len(b) < cacheHeader {
		return out
	}
	le := binary.LittleEndian
	n := min(int(le.Uint32(b[20:])), (len(b)-cacheHeader)/cacheEntry)
	plain := map[string]bool{}
	for i := range n {
		e := b[cacheHeader+i*cacheEntry:]
		if le.Uint32(e) != flags {
			continue
		}
		name, path := stringAt(b, le.Uint32(e[4:])), stringAt(b, le.Uint32(e[8:]))
		if name == "" || path == "" || path[0] != '/' || plain[name] {
			continue
		}
		// Of those for every processor the first one is taken.
		plain[name] = le.Uint64(e[16:]) == 0
		out[name] = append(out[name], path)
	}
	return out
}

func stringAt(b []byte, off uint32) string {
	if uint64(off) >= uint64(len(b)) {
		return ""
	}
	s := b[off:]
	n := bytes.IndexByte(s[:min(len(s), maxName)], 0)
	if n < 0 {
		return ""
	}
	return string(s[:n])
}
