package host

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/wire"
)

// causeText says what each count means, for the report at the end.
var causeText = [ir.NumCauses]string{
	ir.SkipLock:    "skipped because a lock was held too long (MAXTRYLOCK)",
	ir.SkipScratch: "skipped for lack of scratch memory: too many handlers interrupted each other",
	ir.SkipNoEntry: "returns skipped: their calls began before tracing, or too many calls were under way to keep " +
		"all of them",
	ir.LostRing:     "events lost because the output buffer was full (-s makes it larger)",
	ir.LostRecursed: "hits missed because the kernel does not run a handler while it is at work on the same CPU",
	ir.SkipDead:     "hits skipped because their goroutine or thread could not be told",
	ir.LostEvicted:  "notes about processes dropped to make room for others",
	ir.LostNested: "returns were those of the innermost call that the kernel keeps of a thread, 64 at most: if " +
		"calls inside of these were probed, their returns are missing",
	ir.LostUnwound: "returns did not happen: an exception, a panic, longjmp or the end of their process " +
		"ended the calls",
	ir.LostActive: "returns missed because too many calls were under way at the same time (.maxactive(N) makes room)",
}

// finish prints what went wrong and how often. Nothing is printed when nothing did.
func (r *run) finish(res *Result) {
	r.out.repeated()
	r.unfired()
	if w, ok := r.Session.(backend.Warner); ok {
		for _, text := range w.Warnings() {
			r.out.remark("%s", diag.Visible(text))
		}
	}
	c, err := r.Session.Counters()
	if err != nil {
		r.out.remark("the counts of lost events could not be read: %v", err)
		return
	}
	for cause, n := range r.hosted.skips {
		if cause < len(c.ByCause) {
			c.ByCause[cause] += n
		}
	}
	if n := r.leftOpen(); n > 0 && len(c.ByCause) > int(ir.LostUnwound) {
		c.ByCause[ir.LostUnwound] += n
	}
	if n := skipped(c); (res.Errors > 0 || n > 0) && r.Event == nil {
		r.out.remark("Number of errors: %d, skipped probes: %d", res.Errors, n)
	}
	if n := count(c, ir.SkipNoEntry); n > 0 && n <= r.mayHaveBegun() {
		c.ByCause[ir.SkipNoEntry] = 0
		r.Logf("%d returns skipped: their calls began before tracing", n)
	}
	for cause, n := range c.ByCause {
		if n == 0 || ir.Cause(cause) == ir.SkipStopping || cause >= len(causeText) {
			continue
		}
		res.Lost += n
		if r.Event != nil {
			r.out.tell(&Event{Kind: EventLost, Text: fmt.Sprintf("%d %s", n, causeText[cause]), Cause: ir.Cause(cause),
				Count: n, CPU: -1})
			continue
		}
		r.out.remark("%d %s", n, causeText[cause])
	}
}

// mayHaveBegun says how many calls can have been under way when tracing began: one of each thread for each probe
// that asks for what was at the entry. A thread can be in more calls of one function than that, but a system call
// it makes once at a time.
func (r *run) mayHaveBegun() uint64 {
	if r.Program == nil {
		return 0
	}
	text, err := os.ReadFile("/proc/loadavg") // proc_loadavg(5): the fourth field is runnable/all threads
	if err != nil {
		return 0
	}
	var load [3]float64
	var runs, threads uint64
	if _, err := fmt.Sscanf(string(text), "%f %f %f %d/%d", &load[0], &load[1], &load[2], &runs, &threads); err != nil {
		return 0
	}
	return threads * uint64(len(r.Program.Probes))
}

// leftOpen counts the calls that were noted as being under way in processes that have ended.
func (r *run) leftOpen() (n uint64) {
	if r.Program == nil {
		return 0
	}
	for i, g := range r.Program.Globals {
		if !g.Internal || !strings.HasPrefix(g.Name, ir.OpenCalls) {
			continue
		}
		elems, err := r.Session.Store().Elems(i)
		if err != nil {
			continue
		}
		ended := map[int64]bool{}
		for _, e := range elems {
			pid := e.Val.Int
			if _, known := ended[pid]; !known {
				ended[pid] = errors.Is(unix.Kill(int(pid), 0), unix.ESRCH)
			}
			if ended[pid] {
				n++
			}
		}
	}
	return n
}

// wireFault reports an error that a handler in the kernel raised.
func (o *output) wireFault(e wire.ErrorBody) {
	args := make([]textfmt.Val, len(e.Args))
	for i, a := range e.Args {
		args[i] = textfmt.Val{Int: a.Int, Str: strings.Clone(string(a.Bytes))}
	}
	o.kernelErrors++
	o.fault(&textfmt.Fault{Code: ir.Code(e.Code), Pos: source.Pos(e.Pos), Args: args})
}
