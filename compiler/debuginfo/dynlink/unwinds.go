package dynlink

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gostap/gostap/compiler/foreign"
)

// Unwinds says why calls in a process that runs the program at path may end by other means than returns, or not in
// the order in which they began: by an exception of C++, a panic of Rust, a thread that is cancelled while C code
// built with -fexceptions is to be told of it, longjmp, contexts with stacks of their own. "" says that they do
// not: the program and all libraries that its dynamic linker maps are known, none of them raises exceptions, has
// code that is run by them or jumps between frames, and none brings in others later. A library that is asked for
// itself may be in any process.
func Unwinds(path string, s Search) string {
	libs, err := Needed(path, s)
	if err == ErrLibrary {
		return "any program may use the library"
	}
	if err != nil {
		return err.Error()
	}
	if why := raises(path); why != "" {
		return why
	}
	for _, l := range libs {
		if len(l.Paths) == 0 {
			return fmt.Sprintf("the library %s is not found", l.Name)
		}
		if ofLibc(l.Name) {
			continue
		}
		for _, p := range l.Paths {
			if why := raises(p); why != "" {
				return why
			}
		}
	}
	return ""
}

// ofLibc reports whether a library is a part of the C library, which loads the unwinder when a thread is cancelled,
// and has handlers of its own for that.
func ofLibc(name string) bool {
	stem, _, _ := strings.Cut(name, ".so")
	switch stem {
	case "libc", "libm", "libpthread", "libdl", "librt", "libresolv", "libutil", "libmvec", "libcrypt", "libnsl":
		return true
	}
	return strings.HasPrefix(name, "ld-linux-") || strings.HasPrefix(name, "ld-musl-") ||
		strings.HasPrefix(name, "libc.musl-")
}

// jumps are the functions of the C library that leave calls without a return, or go on in calls on another stack.
// The kernel's note of a call that longjmp has left stays until it sees the stack above it, and of 64 such notes it
// takes no further one; of two contexts it would give the returns of one to the other.
var jumps = map[string]bool{
	"longjmp": true, "_longjmp": true, "siglongjmp": true, "__longjmp_chk": true, "__libc_longjmp": true,
	"__libc_siglongjmp": true,
	"setcontext":        true, "swapcontext": true, "makecontext": true,
}

// raises says what in one file has to do with unwinding, or why that cannot be known.
func raises(path string) string {
	why, err := raising(path)
	if err != nil {
		return err.Error()
	}
	return why
}

func raising(path string) (why string, err error) {
	defer foreign.Guard(&err)()
	file, err := foreign.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	f, err := foreign.ELF(file)
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	if len(f.Sections) == 0 {
		return fmt.Sprintf("%s has no section headers, which would tell", name), nil
	}
	if f.Section(".gcc_except_table") != nil {
		return fmt.Sprintf("%s has code that exceptions run", name), nil
	}
	find := func(syms []elf.Symbol) string {
		for _, s := range syms {
			n := s.Name
			switch {
			case (n == "dlopen" || n == "dlmopen") && s.Section == elf.SHN_UNDEF:
				return fmt.Sprintf("%s loads libraries while it runs", name)
			case s.Section == elf.SHN_UNDEF && jumps[n]:
				return fmt.Sprintf("%s jumps between frames (%s)", name, n)
			case strings.HasPrefix(n, "_Unwind_"), strings.HasPrefix(n, "__cxa_throw"), n == "rust_panic",
				n == "rust_begin_unwind", n == "__gxx_personality_v0":
				return fmt.Sprintf("%s uses the unwinder (%s)", name, n)
			}
		}
		return ""
	}
	dyn, err := f.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return "", err
	}
	if why := find(dyn); why != "" {
		return why, nil
	}
	if f.Section(".dynamic") == nil {
		all, err := f.Symbols()
		if err != nil {
			return fmt.Sprintf("%s is linked statically and stripped", name), nil
		}
		return find(all), nil
	}
	return "", nil
}
