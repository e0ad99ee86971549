package family

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/probe"
)

// guarded runs f in a goroutine whose panics nobody else takes.
func guarded(f func()) (err error) {
	defer foreign.Guard(&err)()
	f()
	return nil
}

// inParallel looks at several programs at the same time, on all processors. What comes out is in the order of the
// programs. Those of one image, which a file with several names is, are taken one after the other.
func (m *match) inParallel(progs []program, look func(*match, program, debuginfo.Image) []*probe.Site) (
	sites []*probe.Site, failed diag.List) {
	type result struct {
		m     *match
		sites []*probe.Site
	}
	results := make([]result, len(progs))
	images := make([]debuginfo.Image, len(progs))
	of := map[debuginfo.Image][]int{}
	var order []debuginfo.Image
	for i, p := range progs {
		results[i].m = &match{env: m.env, req: m.req}
		img := results[i].m.image(p)
		if img == nil {
			continue
		}
		if of[img] == nil {
			order = append(order, img)
		}
		images[i], of[img] = img, append(of[img], i)
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(order)) {
		all.Go(func() {
			for n := next.Add(1) - 1; n < int64(len(order)); n = next.Add(1) - 1 {
				for _, i := range of[order[n]] {
					r := &results[i]
					if err := guarded(func() { r.sites = look(r.m, progs[i], images[i]) }); err != nil {
						r.sites = nil
						r.m.errorf(&m.req.Comps[0], "%v", err)
					}
				}
				if t, ok := order[n].(interface{ Trim() }); ok {
					t.Trim()
				}
			}
		})
	}
	all.Wait()
	for i := range results {
		sites = append(sites, results[i].sites...)
		failed = append(failed, m.take(results[i].m)...)
	}
	return sites, failed
}
