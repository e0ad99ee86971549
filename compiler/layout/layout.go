// Package layout holds the limits that a script runs under and the sizes that
// follow from them. All executors and the host agree on these.
package layout

import "math"

// Limits are the language's limits; -D sets them by their macro names.
type Limits struct {
	MaxAction    int // MAXACTION: statements a handler may run
	MaxActionInt int // MAXACTION_INTERRUPTIBLE: the same for begin, end and timers
	MaxString    int // MAXSTRINGLEN: bytes of a string with its NUL
	MaxEntries   int // MAXMAPENTRIES: elements of an array without [size]
	MaxNesting   int // MAXNESTING: depth of function calls; 0 takes it from the call graph
	MaxErrors    int // MAXERRORS: errors tolerated before the script stops
	MaxSkipped   int // MAXSKIPPED: skipped hits tolerated before the script stops; 0 never stops
	MaxTryLock   int // MAXTRYLOCK: tries for a lock
	TryLockDelay int // TRYLOCKDELAY: microseconds between tries, where the executor can wait
	MaxBacktrace int // MAXBACKTRACE: frames
	ValueDepth   int // MAXVALUEDEPTH: pointers that the text of a value follows
	ValueElems   int // MAXVALUEELEMS: elements of a slice, array or map in the text of a value
	// OverloadTime and OverloadMost are STP_OVERLOAD_INTERVAL and STP_OVERLOAD_THRESHOLD, in cycles (see Overload);
	// an interval of 0 lets handlers take all of a CPU.
	OverloadTime, OverloadMost int
}

// Default gives the limits of stap on 64-bit machines.
func Default() Limits {
	return Limits{
		MaxAction: 1000, MaxActionInt: 10000, MaxString: 512, MaxEntries: 2048,
		MaxNesting: 0, MaxErrors: 0, MaxSkipped: 100, MaxTryLock: 100, TryLockDelay: 10, MaxBacktrace: 20,
		ValueDepth: 5, ValueElems: 64,
		OverloadTime: 1_000_000_000, OverloadMost: 500_000_000,
	}
}

// Set changes the limit with the macro's name and reports whether there is one.
func (l *Limits) Set(name string, v int) bool {
	f := map[string]*int{
		"MAXACTION": &l.MaxAction, "MAXACTION_INTERRUPTIBLE": &l.MaxActionInt, "MAXSTRINGLEN": &l.MaxString,
		"MAXMAPENTRIES": &l.MaxEntries, "MAXNESTING": &l.MaxNesting, "MAXERRORS": &l.MaxErrors,
		"MAXSKIPPED": &l.MaxSkipped, "MAXTRYLOCK": &l.MaxTryLock, "TRYLOCKDELAY": &l.TryLockDelay,
		"MAXBACKTRACE": &l.MaxBacktrace, "MAXVALUEDEPTH": &l.ValueDepth, "MAXVALUEELEMS": &l.ValueElems,
		"STP_OVERLOAD_INTERVAL":  &l.OverloadTime,
		"STP_OVERLOAD_THRESHOLD": &l.OverloadMost,
	}[name]
	if f == nil {
		return false
	}
	*f = v
	return true
}

// Overload gives the nanoseconds after which it is asked what part of a CPU's time handlers have taken, and the
// permille of it that is too much; 0 and 0 where nobody asks. A cycle counts as half a nanosecond, that of a CPU of
// 2 GHz: by default 0.5 s and half of it.
func (l *Limits) Overload() (ns, permille int64) {
	if l.OverloadTime <= 0 {
		return 0, 0
	}
	return max(int64(l.OverloadTime)/2, 1), min(int64(float64(l.OverloadMost)/float64(l.OverloadTime)*1000), 1<<20)
}

// HistLogBuckets is the number of buckets of @hist_log and HistLogZero the one that
// counts zeros. Bucket i above it counts 2^(i-zero-1) and up, those below the negatives.
const (
	HistLogBuckets = 128
	HistLogZero    = 64
)

// HistLogBucket gives the bucket of v: the power of two at or below it.
func HistLogBucket(v int64) int {
	if v == 0 {
		return HistLogZero
	}
	neg := v < 0
	u := uint64(v)
	if neg {
		u = -u
	}
	n := 0
	for u > 1 {
		u >>= 1
		n++
	}
	if neg {
		return max(HistLogZero-1-n, 0)
	}
	return min(HistLogZero+1+n, HistLogBuckets-1)
}

// HistLogValue is the value that bucket i is labelled with.
func HistLogValue(i int) int64 {
	switch {
	case i == HistLogZero:
		return 0
	case i > HistLogZero:
		return 1 << (i - HistLogZero - 1)
	}
	return -(1 << (HistLogZero - i - 1))
}

// HistLinearBuckets is the number of buckets of @hist_linear(low, high, width): one
// for what is below, one for each width from low to high, one for what is above.
func HistLinearBuckets(low, high, width int64) int { return int((high-low)/width) + 3 }

// HistLinearBucket gives the bucket of v. Each one between the first and the last is width wide, the one that high
// is in too.
func HistLinearBucket(v, low, high, width int64) int {
	last := HistLinearBuckets(low, high, width) - 1
	if v < low {
		return 0
	}
	return int(min((uint64(v)-uint64(low))/uint64(width), uint64(last-1))) + 1
}

// HistLogRange gives the least and the greatest value that bucket i counts.
func HistLogRange(i int) (from, to int64) {
	switch v := HistLogValue(i); {
	case v > 0:
		return v, v - 1 + v
	case v == math.MinInt64:
		return v, v
	case v < 0:
		return v + 1 + v, v
	}
	return 0, 0
}

// HistLinearRange gives the least and the greatest value that bucket i counts; the first is the greater one where the
// bucket would lie behind all numbers.
func HistLinearRange(i int, low, high, width int64) (from, to int64) {
	last := HistLinearBuckets(low, high, width) - 1
	if i == 0 {
		return math.MinInt64, low - 1
	}
	room := uint64(math.MaxInt64) - uint64(low)
	begins := uint64(i-1) * uint64(width) // above low; there are as many buckets as memory has room for
	if begins > room {
		return 1, 0
	}
	from = int64(uint64(low) + begins)
	if i == last || begins+uint64(width) > room {
		return from, math.MaxInt64
	}
	return from, from + width - 1
}
