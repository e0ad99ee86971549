package kbtf

import (
	"bufio"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/foreign"
)

// blacklist is where the kernel allows no probes.
type blacklist struct {
	ranges []addrRange
	names  map[string]bool
	// full says that the kernel's own list was read, so that what is not in it is allowed.
	full bool
}

type addrRange struct {
	lo, hi uint64
	why    string
}

// sections are parts of the kernel's code without probes, by the symbols around them (kernel/kprobes.c and
// arch/x86/kernel/kprobes/core.c).
var sections = []struct{ from, to, why string }{
	{"__kprobes_text_start", "__kprobes_text_end", "its section .kprobes.text"},
	{"__noinstr_text_start", "__noinstr_text_end", "its section .noinstr.text"},
	{"__entry_text_start", "__entry_text_end", "its section .entry.text"},
	{"__irqentry_text_start", "__irqentry_text_end", "its section .irqentry.text"},
}

// Blacklisted says why the kernel refuses probes on f, "" if nothing is known to be against it.
func (im *Image) Blacklisted(f *debuginfo.Func) string {
	b := im.blacklist()
	fn := im.byPtr[f]
	if fn == nil {
		return ""
	}
	if f.Entry != 0 {
		for _, r := range b.ranges {
			if f.Entry >= r.lo && f.Entry < r.hi {
				return r.why
			}
		}
	} else if b.names[fn.sym.Name] {
		return "it is in the list /sys/kernel/debug/kprobes/blacklist"
	}
	if b.names["_kbl_addr_"+fn.sym.Name] {
		return "its source says NOKPROBE_SYMBOL"
	}
	return ""
}

// Gone says why the code of f is not there any more, "" if it is.
func (im *Image) Gone(f *debuginfo.Func) string {
	if syms, err := im.symbols(); err == nil && f.Entry != 0 {
		if lo, hi := im.textRange(syms); f.Entry < lo || f.Entry >= hi {
			return "it is only there while the kernel starts"
		}
	}
	return ""
}

func (im *Image) blacklist() *blacklist {
	if im.k.black != nil {
		return im.k.black
	}
	b := &blacklist{names: map[string]bool{}}
	im.k.black = b
	syms, err := im.symbols()
	if err != nil {
		return b
	}
	if !im.k.Foreign() {
		b.read(filepath.Join(im.k.cfg.Sys, "kernel/debug/kprobes/blacklist"))
	}
	if b.full {
		return b
	}
	for _, s := range sections {
		if lo, hi := syms.Addr(s.from), syms.Addr(s.to); lo != 0 && hi > lo {
			b.ranges = append(b.ranges, addrRange{lo, hi, s.why})
		}
	}
	// NOKPROBE_SYMBOL(f) leaves a variable of this name, in tables that have variables.
	for _, s := range syms.prefixed("_kbl_addr_") {
		b.names[s.Name] = true
	}
	return b
}

// read takes the list that the kernel gives in debugfs: "0xADDR-0xADDR\tname".
func (b *blacklist) read(path string) {
	f, err := foreign.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	const why = "it is in the list /sys/kernel/debug/kprobes/blacklist"
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		addrs, name, ok := strings.Cut(sc.Text(), "\t")
		from, to, ok2 := strings.Cut(addrs, "-")
		lo, err1 := strconv.ParseUint(from, 0, 64)
		hi, err2 := strconv.ParseUint(to, 0, 64)
		if !ok || !ok2 || err1 != nil || err2 != nil {
			continue
		}
		b.full = true
		if lo != 0 && hi > lo {
			b.ranges = append(b.ranges, addrRange{lo, hi, why})
		} else {
			b.names[name] = true
		}
	}
}
