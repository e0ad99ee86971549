package sema

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/tapsets"
)

// docs are the comments right before the declarations of a library file.
var docs = regexp.MustCompile(`(?s)/\*\*\n(.*?)\n \*/\n$`)

// TestLibrary: every public function of the library is documented with an example,
// and each example analyzes.
func TestLibrary(t *testing.T) {
	for _, f := range tapsets.Files {
		text, err := tapsets.FS.ReadFile(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range f.Entries {
			if e.Kind != grammar.FunctionEntry || e.Private {
				continue
			}
			name := e.Names[0]
			before := string(text[:e.Off])
			if i := strings.LastIndex(before, "/**"); i >= 0 {
				before = before[i:]
			}
			m := docs.FindStringSubmatch(before)
			if m == nil {
				t.Errorf("%s:%d: %s has no comment of its own", f.Name, e.Line, name)
				continue
			}
			if !strings.HasPrefix(m[1], " * "+name+" ") {
				t.Errorf("%s:%d: the comment of %s does not begin with its name", f.Name, e.Line, name)
			}
			_, ex, ok := strings.Cut(m[1], "Example: ")
			if !ok {
				t.Errorf("%s:%d: %s has no example", f.Name, e.Line, name)
				continue
			}
			if !strings.Contains(ex, name) {
				t.Errorf("%s:%d: the example of %s does not use it", f.Name, e.Line, name)
			}
			a := analyze(t, name, ex, Options{Guru: true})
			for _, d := range a.diags {
				if strings.Contains(d.Message, "@cast") {
					continue // there are no types here; the examples are compiled as a whole in package tapsets
				}
				t.Errorf("%s:%d: example of %s: %s", f.Name, e.Line, name, d.Message)
			}
		}
	}
}

// TestLibraryWhole analyzes all public functions at once, with strings and numbers
// for arguments as they are declared, so that each intrinsic's signature is compared.
func TestLibraryWhole(t *testing.T) {
	var b strings.Builder
	b.WriteString("probe begin {\n")
	seen := map[string]bool{}
	for _, f := range tapsets.Files {
		text, err := tapsets.FS.ReadFile(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range f.Entries {
			if e.Kind != grammar.FunctionEntry || e.Private {
				continue
			}
			head, _, _ := strings.Cut(string(text[e.Off:e.End]), ")")
			_, params, _ := strings.Cut(head, "(")
			var args []string
			for _, p := range strings.Split(params, ",") {
				switch {
				case strings.HasPrefix(e.Names[0], "stack_") && strings.HasPrefix(p, "s"): // a stack
					args = append(args, "kstack()")
				case strings.HasSuffix(p, ":long"):
					args = append(args, "1")
				case strings.HasSuffix(p, ":string"):
					args = append(args, `"s"`)
				case p != "":
					t.Errorf("%s:%d: a parameter of %s has no type", f.Name, e.Line, e.Names[0])
				}
			}
			b.WriteString(e.Names[0] + "(" + strings.Join(args, ", ") + ")\n")
		}
	}
	b.WriteString("}\n")
	a := analyze(t, "all.stp", b.String(), Options{Guru: true})
	for _, d := range a.diags {
		if !strings.Contains(d.Message, "@cast") {
			t.Errorf("%s", d.Message)
		}
	}
	for _, f := range a.prog.Funcs {
		if f.Intrinsic != nil {
			seen[f.Intrinsic.Name] = true
		}
	}
	// What the compiler alone makes calls of.
	const internal = " speculation table_text user_text kernel_text stack_text snapshot string_word " +
		"aes_column user_block block_word aes_schedule user_window user_is gostack_kept ustack_below set_call_word "
	for _, i := range intrinsic.All() {
		if !seen[i.Name] && !strings.Contains(internal, " "+i.Name+" ") && !strings.HasSuffix(i.Name, "_of") &&
			!strings.HasPrefix(i.Name, "snap_") && !strings.HasPrefix(i.Name, "near_") {
			t.Errorf("the built-in function %s is declared nowhere in the library", i.Name)
		}
	}
}

// TestForeign: what is refused by name is not in the library after all, and the message says why and what to use.
func TestForeign(t *testing.T) {
	have := map[string]bool{}
	for _, n := range tapsets.Names {
		if n.Kind == grammar.FunctionEntry {
			have[n.Name] = true
		}
	}
	for _, f := range foreign {
		for _, name := range f.names {
			if have[name] {
				t.Errorf("%s is listed as absent, but the library has it", name)
			}
			a := analyze(t, "x.stp", "probe begin { "+name+"() }", Options{})
			if len(a.diags) != 1 || !strings.Contains(a.diags[0].Message, "the function "+name+
				" of stap is not available: "+f.why) {
				t.Errorf("%s: %s", name, a.text())
			}
		}
	}
}
