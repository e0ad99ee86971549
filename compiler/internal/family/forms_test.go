package family

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// TestStapForms goes through the forms of probe points that the language has (testdata/forms.txt): each of them is
// known. It resolves, or nothing is there, or it is refused by name with a hint; none is taken for a slip of the hand.
func TestStapForms(t *testing.T) {
	text, err := os.ReadFile("testdata/forms.txt")
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Open: func(string) (debuginfo.Image, error) { return nil, errors.New("not opened") }, TargetPID: 1,
		TargetPath: "/bin/true", SearchPath: "/bin"}
	counts := map[string]int{}
	for _, form := range strings.Fields(string(text)) {
		point := strings.NewReplacer("(number)", "(100)", "(string)", `("x")`).Replace(form)
		sites, ds := Resolve(env, request(t, point))
		switch {
		case len(sites) > 0:
			counts["resolves"]++
		case len(ds) == 0:
			t.Errorf("%s: neither sites nor a reason", form)
		case ds[0].Code == CodeRefused:
			counts["refused"]++
			if root, _, _ := strings.Cut(form, "."); ds[0].Hint == "" && root != "kernel" &&
				!strings.HasPrefix(root, "module") && root != "kprobe" {
				t.Errorf("%s: no hint: %s", form, ds[0].Message)
			}
			// What is refused by name is refused for the word that is not there, not for one behind it.
			if !strings.HasPrefix(ds[0].Message, strings.SplitN(point, ".", 2)[0]) &&
				!strings.HasPrefix(ds[0].Message, strings.SplitN(point, "(", 2)[0]) {
				t.Errorf("%s: the message does not name it: %s", form, ds[0].Message)
			}
		case ds[0].Code == CodeNoMatch:
			counts["known"]++
		default:
			t.Errorf("%s: [%s] %s", form, ds[0].Code, ds[0].Message)
		}
	}
	if counts["resolves"] < 25 {
		t.Errorf("only %d forms resolve", counts["resolves"])
	}
}
