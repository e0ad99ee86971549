package load

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/grammar"
)

// The system's tapsets are those that packages install beside SystemTap's own (QEMU, libvirt, GLib, OpenJDK). They are
// looked at when nothing else has a name, and only then read. SystemTap's own files, which lie in the same folder, are
// left out: the embedded library stands for them, and says what it does not have.

// stapsOwn are the files of SystemTap's own library at the top of its folder, in releases 4.0 to 5.6. The folders below
// it for machines and runtimes hold nothing else.
var stapsOwn = strings.Fields(`ansi argv atomic choose_defined container_of context dlsym dwarfless errno floatingpoint
	indent indent-default init input java json livepatch logging lwtools macros null offsetof oneshot pn print_stats
	private30 prometheus python python2 python3 queue_stats random regex registers sdt_types sizeof speculative
	sreg_arch stap_staticmarkers stopwatch string switchfile system this timers tls tokenize try_assign type_defined
	tzinfo uconversions uconversions-guru`)

// system reads the index of the system's tapsets, once.
func (l *Library) system() {
	dir := l.o.System
	if dir == "" {
		return
	}
	l.o.System = ""
	dirs, names, before := l.dirs, l.names, l.diags
	l.dirs, l.names, l.diags = nil, nil, nil
	kept := openCache(&l.o, dir)
	for _, sub := range l.subdirs() {
		if slices.Contains(strings.Split(sub, "/"), "linux") || sub == "bpf" {
			continue
		}
		list, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil {
			continue // most machines have none
		}
		for _, e := range list {
			name := e.Name()
			if isLibraryFile(name) && !slices.Contains(stapsOwn, strings.TrimSuffix(name, filepath.Ext(name))) {
				l.file(filepath.Join(dir, sub, name), kept)
			}
		}
	}
	kept.write()
	l.leftover()
	for _, d := range l.diags {
		d.Severity = diag.Warning // nobody has asked for these files
	}
	l.systemFiles, l.systemNames = l.dirs, l.names
	l.dirs, l.names, l.diags = dirs, names, append(before, l.diags...)
}

// systemRefs lists what the system's tapsets declare by a name.
func (l *Library) systemRefs(name string, kind grammar.Kind) []ref {
	l.system()
	var rs []ref
	for _, r := range l.systemNames[name] {
		if e := r.e(); e.Kind == kind && !e.Private && l.live(r) {
			rs = append(rs, r)
		}
	}
	return rs
}

// systemAliases lists the aliases of the system's tapsets whose first component matches, but for those that have the
// name of one in as.
func (l *Library) systemAliases(first string, as []*Alias) []*Alias {
	l.system()
	have := map[string]bool{}
	for _, a := range as {
		have[a.Dotted()] = true
	}
	for _, lf := range l.systemFiles {
		for i := range lf.entries {
			if lf.entries[i].Kind != grammar.AliasEntry {
				continue
			}
			for _, n := range lf.entries[i].Names {
				comps := strings.Split(n, ".")
				if !have[n] && matches(first, comps[0]) && l.live(ref{lf, i}) {
					as = append(as, &Alias{Name: comps, File: lf.file, l: l, entry: i})
				}
			}
		}
	}
	return as
}
