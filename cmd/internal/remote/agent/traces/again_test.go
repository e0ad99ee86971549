package traces

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestForget: a status that is deleted has a file tried again, also one of which nothing could be read.
func TestForget(t *testing.T) {
	t.Parallel()
	x := newTrial(t, nil)
	path := filepath.Join(x.dir, "none.stp")
	if err := os.Symlink("a.stp", path); err != nil {
		t.Fatal(err)
	}
	x.put("wrong.yaml", head+"spec: {script: one, limits: {seconds: 0}}", 0o600)
	for round := range 2 {
		for name, want := range map[string]string{"none": "is a symbolic link", "wrong": "from 1 to 86400"} {
			x.await(name, Refused, want)
			if n := strings.Count(x.said(), "trace "+name+": refused"); n != round+1 {
				t.Errorf("%s was refused %d times\n%s", name, n, x.said())
			}
			os.Remove(filepath.Join(x.state, name+statusFile))
		}
	}
	x.put("wrong.yaml", head+"spec: {script: quick}", 0o600)
	x.await("wrong", Done, "")
}

// TestStoppedEarly: what is ended before its probes are in place is no failure, and one that ends with the agent begins
// again with the next one.
func TestStoppedEarly(t *testing.T) {
	t.Parallel()
	x := newTrial(t, func(c *Config) {
		c.Begun = func() func(error, int64) {
			return func(err error, _ int64) {
				if err != nil {
					t.Error("one is told to have failed")
				}
			}
		}
	})
	for _, name := range []string{"unready", "newborn"} {
		x.put(name+".stp", name, 0o600)
		x.awaitLine("trace " + name + ": begins")
	}
	x.end()
	for _, name := range []string{"unready", "newborn"} {
		st := x.await(name, Pending, "begins again with the next one")
		if st.Digest != "" || strings.Contains(st.Message, "error") {
			t.Errorf("%s: %+v", name, st)
		}
	}
	x.begin()
	for _, name := range []string{"unready", "newborn"} {
		x.awaitLines("trace "+name+": begins", 2)
		os.Remove(filepath.Join(x.dir, name+".stp"))
		if st := x.await(name, Done, "its file was removed"); strings.Contains(st.Message, "error") {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

// TestBack: a file that gets the content back that has run waits for nothing.
func TestBack(t *testing.T) {
	t.Parallel()
	x := newTrial(t, nil)
	for i, back := range []string{"script: two, begin: 2999-01-01T00:00:00Z", "script: two, limits: {seconds: 0}"} {
		x.put("a.yaml", head+"spec: {script: quick}", 0o600)
		x.await("a", Done, "")
		x.put("a.yaml", head+"spec: {"+back+"}", 0o600)
		x.awaitLine(map[bool]string{true: "begins at 2999", false: "refused"}[i == 0])
		x.put("a.yaml", head+"spec: {script: quick}", 0o600)
		x.await("a", Done, "it has run, and is not run again")
	}
}

// TestLong: a message is bounded, whatever a file has in it, and a status can be read again.
func TestLong(t *testing.T) {
	t.Parallel()
	x := newTrial(t, nil)
	x.put("a.yaml", head+"spec: {script: one, limits: {seconds: '"+strings.Repeat("<", 200<<10)+"'}}", 0o600)
	x.put("b.stp", "noisy", 0o600)
	for _, name := range []string{"a", "b"} {
		st := x.await(name, Refused, "<<<<")
		if len(st.Message) > 2*mostMessage+10 || !strings.Contains(st.Message, "...") {
			t.Errorf("%s: %d bytes", name, len(st.Message))
		}
	}
}

// TestCrowded: of more files than are looked at or taken, those that have been taken stay, and no others come.
func TestCrowded(t *testing.T) {
	t.Parallel()
	x := newTrial(t, nil)
	x.put("zz.stp", "one", 0o600)
	x.await("zz", Running, "")
	x.put("zz.json", "{", 0o600)
	x.awaitLine("zz.json is not taken: there is zz.stp")
	for i := range 3 * mostFiles {
		text := fmt.Sprintf("%sspec: {script: quick %d, begin: 2999-01-01T00:00:00Z}", head, i)
		x.put(fmt.Sprintf("m%03d.yaml", 999-i), text, 0o600)
	}
	for i := range mostEntries {
		x.put(fmt.Sprint("README", i), "", 0o600)
	}
	x.awaitLine("has more than 2000 files: not all of them are looked at")
	time.Sleep(every + 2*settled)
	x.await("zz", Running, "")
	if n := strings.Count(x.said(), ": begins at 2999"); n >= mostFiles {
		t.Errorf("%d are taken beside one", n)
	}
}

// TestNoRoom: what the machine has no room for at the time waits, and is no session of the metrics.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	gostap := filepath.Join(t.TempDir(), "gostap")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x := newTrial(t, func(c *Config) {
		c.Command = []string{gostap}
		c.Begun = func() func(error, int64) {
			if _, err := os.Stat(gostap); err != nil {
				t.Error("a session is told to have begun")
			}
			return func(error, int64) {}
		}
	})
	x.put("a.stp", "quick", 0o600)
	x.await("a", Pending, "no session can be begun, which is tried again: fork/exec "+gostap)
	time.Sleep(every + 2*settled)
	if st := x.await("a", Pending, "tried again"); st.Digest != "" || st.Started != nil ||
		strings.Count(x.said(), "tried again") != 1 {
		t.Errorf("%+v\n%s", st, x.said())
	}
	if err := os.Symlink(self, gostap); err != nil {
		t.Fatal(err)
	}
	x.await("a", Done, "")
}

// TestWritten: a file that is written without an end is told.
func TestWritten(t *testing.T) {
	t.Parallel()
	x := newTrial(t, nil)
	x.put("a.stp", "one", 0o600)
	x.await("a", Running, "")
	for i := 0; !strings.Contains(x.said(), "trace a: waits until a.stp is written"); i++ {
		x.put("a.stp", fmt.Sprint("one ", i), 0o600)
		time.Sleep(100 * time.Millisecond)
	}
	x.await("a", Running, "") // what it was goes on meanwhile
}

// TestFull: an output that could not be written is told wherever one looks for it.
func TestFull(t *testing.T) {
	t.Parallel()
	x := newTrial(t, nil)
	x.put("a.stp", "quick", 0o600)
	if err := os.MkdirAll(filepath.Join(x.state, ".a.out.new", "x"), 0o700); err != nil { // nothing can be there
		t.Fatal(err)
	}
	st := x.await("a", Done, notWhole)
	if st.Result.Bytes == 0 || !strings.HasPrefix(st.Message, notWhole) {
		t.Errorf("%+v", st)
	}
	x.awaitLine("bytes that are not all in " + filepath.Join(x.state, "a.out"))
	if err := os.WriteFile(filepath.Join(x.state, "a.log"), []byte("said\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"a"}} {
		var out, errs strings.Builder
		Run(append(args, "--state", x.state), &out, &errs, "")
		if all := out.String() + errs.String(); !strings.Contains(all, notWhole) {
			t.Errorf("%q: %s", args, all)
		}
	}
}
