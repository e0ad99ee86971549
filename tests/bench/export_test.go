package bench

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	collectlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	"google.golang.org/grpc"
)

// sink takes logs by OTLP and counts them.
type sink struct {
	collectlogs.UnimplementedLogsServiceServer
	n int
}

func (s *sink) Export(_ context.Context, q *collectlogs.ExportLogsServiceRequest) (
	*collectlogs.ExportLogsServiceResponse, error) {
	for _, r := range q.ResourceLogs {
		for _, o := range r.ScopeLogs {
			s.n += len(o.LogRecords)
		}
	}
	return &collectlogs.ExportLogsServiceResponse{}, nil
}

// timed is a program that calls work so often, with so many turns of a loop between, and prints how long it took.
const timed = `#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) long work(long n) { asm volatile(""); return n; }
int main(int argc, char **argv) {
	struct timespec a, b;
	long n = atol(argv[1]), turns = atol(argv[2]);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < n; i++) {
		work(i % 1000);
		for (volatile long k = 0; k < turns; k++) ;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("took %ld ns\n", (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec);
}
`

// BenchmarkExport measures how many calls a program makes in a second that is traced, where each is a line in a file
// and where each is a log that is delivered, and how many were not.
func BenchmarkExport(b *testing.B) {
	build(b)
	dir := b.TempDir()
	export := filepath.Join(filepath.Dir(gostap), "gostap-export")
	for _, args := range [][]string{{"go", "build", "-o", export, "../../cmd/gostap-export"},
		{"gcc", "-g", "-O1", "-o", dir + "/timed", dir + "/timed.c"}} {
		if err := os.WriteFile(dir+"/timed.c", []byte(timed), 0o644); err != nil {
			b.Fatal(err)
		}
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s, server := &sink{}, grpc.NewServer()
	collectlogs.RegisterLogsServiceServer(server, s)
	go server.Serve(l)
	defer server.Stop()
	took := regexp.MustCompile(`took (\d+) ns`)
	run := func(n, turns int, args ...string) (rate float64, said string) {
		args = append(args, "-w", "-s", "64", "-e", fmt.Sprintf(
			"probe process(%q).function(\"work\") { printf(\"%%d %%s\\n\", $n, execname()) }", dir+"/timed"),
			"-c", fmt.Sprintf("%s/timed %d %d", dir, n, turns))
		var out bytes.Buffer
		cmd := exec.Command(gostap, args...)
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run() // an error tells what was lost
		m := took.FindStringSubmatch(out.String())
		if m == nil {
			b.Fatalf("%v: %s", err, out.String())
		}
		ns, _ := strconv.ParseFloat(m[1], 64)
		text := strings.TrimSpace(took.ReplaceAllString(out.String(), ""))
		return float64(n) / ns * 1e9, strings.ReplaceAll(text, "\n", "; ")
	}
	for _, c := range []struct{ calls, turns int }{{100_000, 40_000}, {300_000, 10_000}, {300_000, 0}} {
		var text, logs []float64
		got, all, said := 0, 0, ""
		for range 3 {
			r, _ := run(c.calls, c.turns, "-o", dir+"/out")
			text = append(text, r)
			s.n = 0
			r, said = run(c.calls, c.turns, "--export", "otlp://"+l.Addr().String())
			logs, got, all = append(logs, r), got+s.n, all+c.calls
		}
		fmt.Printf("export  %7.0f calls/s with text, %7.0f with OTLP  ratio %.2f  delivered %d of %d  %s\n",
			median(text), median(logs), ratio(median(logs), median(text)), got, all, said)
	}
}
