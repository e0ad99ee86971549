package family

import (
	"strings"

	"github.com/gostap/gostap/compiler/probe"
)

// procfsForms are files that the script has in /proc, by the path below the module's folder there:
// procfs("path").umask(N).read.maxsize(N) and .write; the path is "command" without one.
func procfsForms() *form {
	ends := []*form{
		{name: "read", args: bare, resolve: procfs, kids: []*form{{name: "maxsize", args: num, resolve: procfs}}},
		{name: "write", args: bare, resolve: procfs},
	}
	return &form{name: "procfs", args: bare | str, kids: append(ends, &form{name: "umask", args: num, kids: ends})}
}

// defaultUmask leaves a file to its owner, who is root.
const defaultUmask = 0o077

// maxReply is the most that .maxsize takes.
const maxReply = 1 << 20

func procfs(m *match) []*probe.Site {
	root := m.at("procfs")
	path := "command"
	if root.Arg != nil {
		path = root.Arg.Str
	}
	if len(path) > 200 {
		m.errorf(root, "the path is longer than 200 bytes")
		return nil
	}
	for _, part := range strings.Split(path, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\x00\n") {
			m.errorf(root, "%q is no path below a folder",
				path).Hintf(`names with / between them, such as procfs("stats/count")`)
			return nil
		}
	}
	mode := uint32(0o444)
	s := &probe.Site{Kind: probe.ProcfsRead, Event: path}
	if m.has("write") {
		s.Kind, mode = probe.ProcfsWrite, 0o222
	}
	umask := int64(defaultUmask)
	if c := m.at("umask"); c != nil {
		if umask = c.Arg.Num; umask < 0 || umask > 0o777 {
			m.errorf(c, "a mask of permissions is 0 to 0777")
			return nil
		}
	}
	s.Procfs.Mode = mode &^ uint32(umask)
	if s.Procfs.Mode == 0 {
		// The kernel takes 0 for a file that everybody may read. Root needs no permission: the owner's is the same.
		s.Procfs.Mode = 0o600 & mode
	}
	if c := m.at("maxsize"); c != nil {
		if c.Arg.Num < 1 || c.Arg.Num > maxReply {
			m.errorf(c, "the size is 1 to %d bytes", maxReply)
			return nil
		}
		s.Procfs.MaxSize = int(c.Arg.Num)
	}
	return []*probe.Site{s}
}
