package vm

import (
	"sync"
	"time"
)

// ticks reads the CPU's clock.
func ticks() uint64

// clockKHz is the frequency of the CPU's clock, which is that of the guest, measured for a tenth of a second.
var clockKHz = sync.OnceValue(func() uint64 {
	tick, at := tickAt()
	time.Sleep(100 * time.Millisecond)
	tick2, at2 := tickAt()
	return (tick2 - tick) * 1000000 / uint64(at2.Sub(at).Nanoseconds())
})

// tickAt reads both clocks at the same time: the best of several tries.
func tickAt() (tick uint64, at time.Time) {
	best := ^uint64(0)
	for range 100 {
		before := ticks()
		now := time.Now()
		if took := ticks() - before; took < best {
			best, tick, at = took, before+took/2, now
		}
	}
	return tick, at
}
