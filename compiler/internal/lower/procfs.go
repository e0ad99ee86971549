package lower

import (
	"strings"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// CodeProcfs says that two probes cannot have their files in /proc.
const CodeProcfs diag.Code = "procfs-file"

// procfs checks that each file of the script's in /proc has one handler for reading and one for writing at most, and
// that none of them is a folder of another.
func (l *lowerer) procfs() {
	type file struct {
		pr   *elab.Probe
		site *probe.Site
	}
	var files []file
	for _, pr := range l.p.Probes {
		for _, s := range pr.Sites {
			if s.Kind.Class() == probe.File {
				files = append(files, file{pr, s})
			}
		}
	}
	refuse := func(f, o file, format string, args ...any) {
		l.ds.Errorf(diag.Semantic, CodeProcfs, f.pr.Req.Span, format,
			args...).Note(source.Span{From: o.pr.Req.Span.From, To: o.pr.Req.Span.To}, "the other probe is here")
	}
	for i, f := range files {
		for _, o := range files[:i] {
			a, b := f.site, o.site
			switch {
			case a.Event == b.Event && a.Kind == b.Kind:
				what := map[probe.Kind]string{probe.ProcfsRead: "read", probe.ProcfsWrite: "write"}[a.Kind]
				refuse(f, o, "the file %s in /proc has a %s probe already", a.Event, what)
			case strings.HasPrefix(a.Event, b.Event+"/"):
				refuse(f, o, "%s cannot be a file and a folder in /proc", b.Event)
			case strings.HasPrefix(b.Event, a.Event+"/"):
				refuse(f, o, "%s cannot be a file and a folder in /proc", a.Event)
			}
		}
	}
}
