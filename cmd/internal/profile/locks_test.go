package profile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/runtime/export"
)

// lockedSource is a C program whose threads wait for a mutex that another one holds, and one that waits in a system
// call. It writes how long the waits took, as the threads see them.
const lockedSource = `#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}
__attribute__((noinline)) long waits(void) {
  long begun = now();
  pthread_mutex_lock(&mu);
  long took = now() - begun;
  pthread_mutex_unlock(&mu);
  return took;
}
__attribute__((noinline)) long reads(int fd) {
  char c; long begun = now();
  if (read(fd, &c, 1) < 0) return 0;
  return now() - begun;
}
static int pipes[2];
static void *locker(void *p) { *(long *)p = waits(); return 0; }
static void *reader(void *p) { *(long *)p = reads(pipes[0]); return 0; }
int main(int argc, char **argv) {
  pthread_t t[4]; long took[4];
  if (pipe(pipes)) return 1;
  pthread_mutex_lock(&mu);
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, locker, &took[i]);
  pthread_create(&t[3], 0, reader, &took[3]);
  usleep(200000);
  pthread_mutex_unlock(&mu);
  if (write(pipes[1], "x", 1) < 1) return 1;
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  FILE *f = fopen(argv[1], "w");
  fprintf(f, "%ld %ld\n", took[0] + took[1] + took[2], took[3]);
  fclose(f);
  return 0;
}
`

// TestLocks: threads of C wait for mutexes and in system calls no longer than they say, and in nothing else.
func TestLocks(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	app, source, out := filepath.Join(dir, "app"), filepath.Join(dir, "app.c"), filepath.Join(dir, "out")
	if err := os.WriteFile(source, []byte(lockedSource), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command("gcc", "-g", "-O2", "-pthread", "-o", app, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	for _, what := range []string{"lock", "syscall", "lock,syscall"} {
		p := recorded(t, t.Context(), &options{command: app + " " + out, what: what})
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var locks, reads int64
		if _, err := fmt.Sscan(string(text), &locks, &reads); err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for i := range p.Samples {
			s := &p.Samples[i]
			for _, fn := range []string{"waits", "reads"} {
				if slices.ContainsFunc(s.Stack, func(f export.Frame) bool { return f.Func == fn }) {
					got[fn+" "+s.Label("state")] += s.Values[0]
				}
			}
			if what == "lock" && !strings.HasPrefix(s.Label("state"), "futex") {
				t.Errorf("%s: %s", what, s.Label("state"))
			}
		}
		if n := got["waits futex"]; n == 0 || n > locks {
			t.Errorf("%s: %d ns at the lock, and the threads say %d", what, n, locks)
		}
		if n := got["reads read"]; n > reads || (n == 0) != (what == "lock") {
			t.Errorf("%s: %d ns in read, and the thread says %d", what, n, reads)
		}
		if len(got) > 2 {
			t.Errorf("%s: %v", what, got)
		}
	}
}
