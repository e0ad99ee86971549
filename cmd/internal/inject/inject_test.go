package inject

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestArgs: what the command makes of its arguments.
func TestArgs(t *testing.T) {
	const golden = "testdata/args.golden"
	var b strings.Builder
	for _, args := range [][]string{
		{"kmalloc", "__x64_sys_mount()", "--print"},
		{"bio", " a() =>  b() ", "--one-in", "3", "--times", "2", "--name", "dd", "--print"},
		{"__x64_sys_openat", "--error", "EMFILE", "-x", "7", "--print"},
		{"page", "--everybody", "--error", "0", "--print"},
		{"./shop:main.charge", "--return", "0, io.EOF,nil, $x, @var(\"y\"), -0x3", "--one-in", "10", "--print"},
		{"./shop:main.charge", "main.pay()", "-c", "./shop", "--print"},
		{"./shop:shop::till::pay", "-v", "-v", "-T", "3s", "-c", "./shop 1", "-p4", "-m", "till", "-r", "6.1",
			"--runtime=kernel", "--kernel-btf", "b", "--kernel-map", "m"},
		{}, {"kmalloc"}, {"kmalloc", "a", "--print"}, {"kmalloc", "a() => ", "--print"}, {"kmalloc", "a()", "b()"},
		{"vfs_read", "--everybody"}, {"vfs_read", "--everybody", "--error", "EWHAT"},
		{"kmalloc", "--return", "1", "-x", "1"},
		{"./a:f", "--error", "EIO"}, {"./a:f", "a() => b()"}, {"./a:f", "--return", "1, "}, {"./a:f\"", "-c", "./a"},
		{"./a:f", "--return", "a b"}, {"kmalloc", "a()", "--one-in", "0"}, {"kmalloc", "a()", "--times", "-1"},
		{"kmalloc", "--what"}, {"a b", "--everybody"},
	} {
		fmt.Fprintf(&b, "== %s\n", strings.Join(args, " "))
		on, text, err := Args(args)
		if text != "" {
			b.WriteString(text)
		}
		if on != nil {
			fmt.Fprintf(&b, "%q\n", on)
		}
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("not as in %s (-update writes it):\n%s", golden, b.String())
	}
	if _, text, err := Args([]string{"--help"}); err != nil || text != usage {
		t.Error("no help:", err)
	}
}
