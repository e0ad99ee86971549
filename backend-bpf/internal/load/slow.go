package load

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Time in the verifier is the CPU's: on a busy machine a program may wait long for one that takes no time.

// threadTime is the CPU time of a thread of this process, false if there is none of this number.
func threadTime(tid int32) (time.Duration, bool) {
	const perThread, sched = 4, 2 // CPUCLOCK_PERTHREAD_MASK, CPUCLOCK_SCHED of linux/posix-timers.h
	var ts unix.Timespec
	if err := unix.ClockGettime(^tid<<3|perThread|sched, &ts); err != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}

// verify loads the program, on a thread that does nothing else meanwhile.
func (j *job) verify(log uint32) {
	tid := int32(unix.Gettid())
	j.began, _ = threadTime(tid)
	j.thread.Store(tid)
	j.load(log)
	j.thread.Store(0)
}

// watch has o.Slow told, once, of programs that the verifier takes longer for than o.Patience, until stop is called.
func watch(jobs []*job, o Options) (stop func()) {
	var mu sync.Mutex
	var timer *time.Timer
	over := false
	look := func() {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		var names []string
		var most time.Duration
		for _, j := range jobs {
			if tid := j.thread.Load(); tid != 0 {
				if used, ok := threadTime(tid); ok {
					most = max(most, used-j.began)
					if used-j.began >= o.Patience {
						names = append(names, j.name)
					}
				}
			}
		}
		if over = len(names) > 0; over {
			o.Slow(names)
			return
		}
		timer.Reset(max(o.Patience-most, o.Patience/8))
	}
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(o.Patience, look)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		timer.Stop()
	}
}
