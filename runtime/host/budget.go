package host

import (
	"fmt"
	"time"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
)

// CodeBudget is the kind of the message that the session was ended for how often its probes were hit.
const CodeBudget diag.Code = "budget"

// budget is how many hits there were when it was looked last.
type budget struct {
	hits uint64
	at   time.Time
}

// uncounted refuses a budget where nobody counts hits.
func (r *run) uncounted() error {
	if r.MaxHits == 0 || len(r.Session.HostProbes()) == len(r.Program.Probes) {
		return nil
	}
	if c, ok := r.Session.(backend.HitCounter); ok {
		if _, counted := c.Hits(); counted {
			return nil
		}
	}
	return &diag.Diagnostic{Phase: diag.Load, Code: CodeBudget,
		Message: "--max-hits: modules, and objects that were built without it, do not count hits",
		Hint:    "--runtime=bpf counts them"}
}

// tooMany ends a session that has had more hits in a second than it may.
func (r *run) tooMany(now time.Time) error {
	c, ok := r.Session.(backend.HitCounter)
	if r.MaxHits == 0 || !ok {
		return nil
	}
	hits, _ := c.Hits()
	was, took := r.budget, now.Sub(r.budget.at)
	r.budget = budget{hits, now}
	if was.at.IsZero() || took <= 0 {
		return nil
	}
	rate := float64(hits-was.hits) / took.Seconds()
	if rate <= float64(r.MaxHits) {
		return nil
	}
	return &diag.Diagnostic{Phase: diag.Load, Code: CodeBudget,
		Message: fmt.Sprintf("%.0f hits a second are more than the %d of --max-hits", rate, r.MaxHits),
		Hint:    "probe less, or allow more; what was counted until now is there"}
}
