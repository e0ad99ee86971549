package tests

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/runtime/host"
	"github.com/gostap/gostap/runtime/host/memory"
	"github.com/gostap/gostap/tests/patience"
)

var example = regexp.MustCompile("(?s)```stap\n(.*?)```\n(?:```output\n(.*?)```\n)?")

// TestLanguageReference: every example of docs/language.md translates, and those with an output print it.
func TestLanguageReference(t *testing.T) {
	text, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	found := example.FindAllStringSubmatchIndex(string(text), -1)
	if len(found) < 30 {
		t.Fatalf("only %d examples", len(found))
	}
	for _, m := range found {
		line := 2 + strings.Count(string(text[:m[0]]), "\n")
		script := string(text[m[2]:m[3]])
		res, ds := translate(t, scriptText{}, script)
		defer res.Close()
		if res.Program == nil {
			var b bytes.Buffer
			(&diag.Printer{W: &b, Files: res.Files}).Print(ds)
			t.Errorf("line %d\n%s\n%s", line, script, b.String())
			continue
		}
		if m[4] < 0 {
			continue
		}
		session, err := memory.New(res.Program)
		if err != nil {
			t.Errorf("line %d: %v", line, err)
			continue
		}
		ctx, cancel := patience.Context(context.Background(), soon)
		defer cancel()
		var out, errs bytes.Buffer
		host.Run(ctx, host.Config{Program: res.Program, Session: session, Stdout: &out, Stderr: &errs})
		if want := string(text[m[4]:m[5]]); out.String() != want {
			t.Errorf("line %d\n%s--- got\n%s--- want\n%s%s", line, script, out.String(), want, errs.String())
		}
	}
}
