package elffile

import "bytes"

// The mark of UPX stands in the header that it puts behind the program headers.
const (
	packMark   = "UPX!"
	packWithin = 4096
)

// Unreadable says why the code and tables of a program cannot be found in its file although they are there when it
// runs, "" where they can.
func (f *File) Unreadable() string {
	if len(f.elf.Sections) > 0 {
		return ""
	}
	if bytes.Contains(f.mem[:min(len(f.mem), packWithin)], []byte(packMark)) {
		return "it is packed by UPX, so its code is in no file while it runs; upx -d unpacks it"
	}
	return "it has no section headers, by which the tables of a program are found"
}
