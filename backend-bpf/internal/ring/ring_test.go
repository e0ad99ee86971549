package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
)

// producer is a program that writes records of size bytes: a sequence number from a map, then zeros.
// Run by TestRun it writes as fast as the machine can.
type producer struct {
	col *load.Collection
	fd  int
}

const ringSize = 1 << 20

func newProducer(t testing.TB, size int32, bytes uint32) *producer {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: loads BPF programs")
	}
	insns := asm.Instructions{
		// r7 = &seq; r6 = fetch-and-add(seq, 1)
		asm.LoadMapPtr(asm.R1, 0).WithReference("seq"),
		asm.Mov.Imm(asm.R2, 0),
		asm.StoreMem(asm.RFP, -4, asm.R2, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.Mov.Reg(asm.R7, asm.R0),
		asm.LoadMapPtr(asm.R1, 0).WithReference("out"),
		asm.Mov.Imm(asm.R2, size), asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(),
		asm.JEq.Imm(asm.R0, 0, "lost"),
		asm.Mov.Imm(asm.R6, 1),
		asm.FetchAdd.Mem(asm.R7, asm.R6, asm.DWord, 0),
		asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R0), asm.Mov.Imm(asm.R2, 0),
		asm.FnRingbufSubmit.Call(),
		asm.Ja.Label("out"),
		asm.Mov.Imm(asm.R6, 1).WithSymbol("lost"),
		asm.AddAtomic.Mem(asm.R7, asm.R6, asm.DWord, 8),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
		asm.Return(),
	}
	col, err := load.Load(&ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{
			"out": {Type: ebpf.RingBuf, MaxEntries: bytes},
			"seq": {Type: ebpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 1},
		},
		Programs: map[string]*ebpf.ProgramSpec{
			"produce": {Type: ebpf.SocketFilter, Instructions: insns, License: "GPL"},
		},
	}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(col.Close)
	return &producer{col: col, fd: col.Progs["produce"].FD()}
}

func (p *producer) run(t testing.TB, n int) {
	if _, err := kern.TestRun(p.fd, make([]byte, 64), n); err != nil {
		t.Error(err)
	}
}

// counts gives how many records were written and how many had no room.
func (p *producer) counts(t testing.TB) (written, lost uint64) {
	b := make([]byte, 16)
	if err := kern.Lookup(p.col.Maps["seq"].FD(), make([]byte, 4), b); err != nil {
		t.Fatal(err)
	}
	return binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:])
}

func (p *producer) open(t testing.TB, size int) *Reader {
	r, err := Open(p.col.Maps["out"].FD(), size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestOrderAndCount(t *testing.T) {
	for _, size := range []int32{8, 64, 4096} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			p := newProducer(t, size, ringSize)
			r := p.open(t, ringSize)
			var next uint64
			read := func(rec []byte) error {
				if len(rec) != int(size) {
					return fmt.Errorf("record of %d bytes", len(rec))
				}
				if got := binary.NativeEndian.Uint64(rec); got != next {
					return fmt.Errorf("record %d where %d was expected", got, next)
				}
				next++
				return nil
			}
			// Several times round the buffer, in pieces that fit into it.
			for range 40 {
				p.run(t, ringSize/2/int(size+8))
				for r.Waiting() > 0 {
					if _, err := r.Read(time.Now().Add(time.Minute), read); err != nil {
						t.Fatal(err)
					}
				}
			}
			written, lost := p.counts(t)
			if written != next || lost != 0 || next == 0 {
				t.Errorf("read %d, written %d, lost %d", next, written, lost)
			}
		})
	}
}

// TestConcurrent reads while a program writes on another thread: what was read and what was lost add up.
func TestConcurrent(t *testing.T) {
	p := newProducer(t, 56, ringSize)
	r := p.open(t, ringSize)
	const total = 400000
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			p.run(t, total/100)
			time.Sleep(100 * time.Microsecond)
		}
	}()
	var n, next uint64
	read := func(rec []byte) error {
		if got := binary.NativeEndian.Uint64(rec); got != next {
			return fmt.Errorf("record %d where %d was expected", got, next)
		}
		next++
		n++
		return nil
	}
	for running := true; running; {
		select {
		case <-done:
			running = r.Waiting() > 0
		default:
		}
		if _, err := r.Read(time.Now().Add(20*time.Millisecond), read); err != nil {
			t.Fatal(err)
		}
	}
	written, lost := p.counts(t)
	if written != n || written+lost != total {
		t.Errorf("read %d, written %d, lost %d of %d", n, written, lost, total)
	}
	t.Logf("read %d lost %d, %+v", n, lost, r.Stats())
}

func TestFullBufferLoses(t *testing.T) {
	p := newProducer(t, 56, 4096)
	r := p.open(t, 4096)
	p.run(t, 1000)
	n, err := r.Read(time.Now(), func([]byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	written, lost := p.counts(t)
	if uint64(n) != written || lost != 1000-written || lost == 0 {
		t.Errorf("read %d, written %d, lost %d", n, written, lost)
	}
	// There is room again, apart from the one record that the reader holds on to.
	p.run(t, 20)
	if n, err = r.Read(time.Now(), func([]byte) error { return nil }); n != 20 || err != nil {
		t.Errorf("after draining: %d records, %v", n, err)
	}
}

// TestWakeUps: a reader that sleeps is woken by a record, by Wake and by its deadline, and each time soon.
func TestWakeUps(t *testing.T) {
	p := newProducer(t, 56, ringSize)
	r := p.open(t, ringSize)
	none := func([]byte) error { return nil }
	for range 20 {
		go func() {
			time.Sleep(5 * time.Millisecond)
			p.run(t, 1)
		}()
		start := time.Now()
		n, err := r.Read(start.Add(5*time.Minute), none)
		if n != 1 || err != nil {
			t.Fatalf("%d records, %v", n, err)
		}
		if d := time.Since(start); d > 2*time.Minute {
			t.Errorf("a record took %v", d)
		}
	}
	go func() {
		time.Sleep(5 * time.Millisecond)
		r.Wake()
		r.Wake()
	}()
	start := time.Now()
	if n, err := r.Read(start.Add(5*time.Minute), none); n != 0 || err != nil {
		t.Fatalf("%d records, %v", n, err)
	}
	if d := time.Since(start); d > 2*time.Minute {
		t.Errorf("Wake took %v", d)
	}
	r.Wake() // nobody waits: the next one returns
	start = time.Now()
	r.Read(start.Add(5*time.Minute), none)
	if d := time.Since(start); d > 2*time.Minute {
		t.Errorf("an early Wake took %v", d)
	}
	start = time.Now()
	r.Read(start.Add(30*time.Millisecond), none)
	if d := time.Since(start); d < 29*time.Millisecond || d > time.Minute {
		t.Errorf("a deadline of 30 ms took %v", d)
	}
}

// TestWakeIsKept: a Read that would not have waited leaves a Wake to the one that would, and that one sleeps once only.
func TestWakeIsKept(t *testing.T) {
	p := newProducer(t, 16, ringSize)
	r, err := Open(p.col.Maps["out"].FD(), ringSize)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	nothing := func([]byte) error { return nil }
	r.Wake()
	p.run(t, 3)
	for _, want := range []int{3, 0} {
		if n, err := r.Read(time.Time{}, nothing); n != want || err != nil {
			t.Errorf("%d records, want %d: %v", n, want, err)
		}
	}
	far := time.Now().Add(time.Minute)
	if n, err := r.Read(far, nothing); n != 0 || err != nil || !time.Now().Before(far) {
		t.Errorf("behind Reads that do not wait, a Wake is lost: %d records, %v", n, err)
	}
	sleeps := r.stats.Sleeps + r.stats.Naps
	if n, err := r.Read(time.Now().Add(time.Millisecond), nothing); n != 0 || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
	if n := r.stats.Sleeps + r.stats.Naps - sleeps; n == 0 || n > 3 {
		t.Errorf("%d sleeps: one Wake counts once", n)
	}
}

// TestNoLostWakeUp gives the reader every chance to fall asleep between a record and its wake-up.
func TestNoLostWakeUp(t *testing.T) {
	p := newProducer(t, 56, ringSize)
	r := p.open(t, ringSize)
	const rounds = 300
	go func() {
		for i := range rounds {
			p.run(t, 1)
			time.Sleep(time.Duration(i%40) * 100 * time.Microsecond)
		}
	}()
	n := 0
	for n < rounds {
		start := time.Now()
		k, err := r.Read(start.Add(3*time.Minute), func([]byte) error { return nil })
		if err != nil || k == 0 {
			t.Fatalf("after %d records: %d, %v, waited %v", n, k, err, time.Since(start))
		}
		n += k
	}
}

func TestErrorOfCallback(t *testing.T) {
	p := newProducer(t, 56, ringSize)
	r := p.open(t, ringSize)
	p.run(t, 10)
	stop := errors.New("stop")
	n := 0
	_, err := r.Read(time.Now(), func([]byte) error {
		if n++; n == 4 {
			return stop
		}
		return nil
	})
	if err != stop {
		t.Fatalf("got %v", err)
	}
	if k, err := r.Read(time.Now(), func([]byte) error { return nil }); k != 6 || err != nil {
		t.Errorf("then %d records, %v", k, err)
	}
	r.Close()
	if _, err := r.Read(time.Now(), nil); err != ErrClosed {
		t.Errorf("after Close: %v", err)
	}
	r.Wake()
}

func TestOpenRefuses(t *testing.T) {
	for _, size := range []int{0, 1000, 4096 + 1, 3 * 4096} {
		if _, err := Open(0, size); err == nil {
			t.Errorf("size %d accepted", size)
		}
	}
	if _, err := Open(0, 4096); err == nil {
		t.Error("standard input accepted")
	}
}

// BenchmarkThroughput: records of 64 bytes a second through the kernel's buffer, read while they are written.
func BenchmarkThroughput(b *testing.B) {
	const size = 8 << 20
	p := newProducer(b, 64, size)
	r := p.open(b, size)
	runtime.GC()
	var wg sync.WaitGroup
	wg.Add(1)
	b.ResetTimer()
	start := time.Now()
	go func() {
		defer wg.Done()
		for left := b.N; left > 0; {
			n := min(left, 20000)
			p.run(b, n)
			left -= n
			for r.Waiting() > size/2 {
				runtime.Gosched()
			}
		}
	}()
	var sum uint64
	for n := 0; n < b.N; {
		k, err := r.Read(time.Now().Add(time.Minute), func(rec []byte) error {
			sum += binary.NativeEndian.Uint64(rec)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		if k == 0 {
			_, lost := p.counts(b)
			b.Fatalf("stuck at %d, lost %d", n, lost)
		}
		n += k
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds()/1e6, "Mrec/s")
	b.ReportMetric(float64(r.stats.Sleeps), "sleeps")
}

// BenchmarkLibrary does the same with the ebpf library's reader, for the ratio.
func BenchmarkLibrary(b *testing.B) {
	const size = 8 << 20
	p := newProducer(b, 64, size)
	m, err := ebpf.NewMapFromFD(dup(b, p.col.Maps["out"].FD()))
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	r, err := ringbuf.NewReader(m)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	b.ResetTimer()
	start := time.Now()
	go func() {
		for left := b.N; left > 0; {
			n := min(left, 20000)
			p.run(b, n)
			left -= n
			for r.AvailableBytes() > size/2 {
				runtime.Gosched()
			}
		}
	}()
	var rec ringbuf.Record
	var sum uint64
	for range b.N {
		if err := r.ReadInto(&rec); err != nil {
			b.Fatal(err)
		}
		sum += binary.NativeEndian.Uint64(rec.RawSample)
	}
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds()/1e6, "Mrec/s")
}

func dup(t testing.TB, fd int) int {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// BenchmarkSparse: records that come one at a time, 20 us apart. What is measured is what one costs its writer, since a
// wake-up is paid there.
func BenchmarkSparse(b *testing.B) {
	const size = 1 << 20
	for _, lib := range []bool{false, true} {
		name := "ours"
		if lib {
			name = "library"
		}
		b.Run(name, func(b *testing.B) {
			p := newProducer(b, 64, size)
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Add(1)
			if lib {
				m, err := ebpf.NewMapFromFD(dup(b, p.col.Maps["out"].FD()))
				if err != nil {
					b.Fatal(err)
				}
				defer m.Close()
				r, err := ringbuf.NewReader(m)
				if err != nil {
					b.Fatal(err)
				}
				go func() {
					defer wg.Done()
					var rec ringbuf.Record
					for r.ReadInto(&rec) == nil {
					}
				}()
				go func() { <-stop; r.Close() }()
			} else {
				r := p.open(b, size)
				go func() {
					defer wg.Done()
					for {
						select {
						case <-stop:
							return
						default:
						}
						if _, err := r.Read(time.Now().Add(time.Minute),
							func([]byte) error { return nil }); err != nil {
							b.Error(err)
							return
						}
					}
				}()
				go func() { <-stop; r.Wake() }()
			}
			var cpu time.Duration
			runtime.LockOSThread()
			b.ResetTimer()
			for range b.N {
				t0 := threadTime()
				p.run(b, 1)
				cpu += threadTime() - t0
				for end := time.Now().Add(20 * time.Microsecond); time.Now().Before(end); {
				}
			}
			b.StopTimer()
			runtime.UnlockOSThread()
			b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N), "cpu-ns/record")
			close(stop)
			wg.Wait()
		})
	}
}

func threadTime() time.Duration {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano())
}

// BenchmarkDrain: what reading alone costs, without a writer.
func BenchmarkDrain(b *testing.B) {
	const size = 8 << 20
	p := newProducer(b, 64, size)
	r := p.open(b, size)
	const fill = size / 80
	var sum uint64
	b.ResetTimer()
	for n := 0; n < b.N; {
		b.StopTimer()
		p.run(b, fill)
		b.StartTimer()
		for r.Waiting() > 0 {
			k, _ := r.Read(time.Now(), func(rec []byte) error {
				sum += binary.NativeEndian.Uint64(rec)
				return nil
			})
			n += k
		}
	}
}

// FuzzDrain reads buffers of any contents: a broken one is an error, not a crash.
func FuzzDrain(f *testing.F) {
	f.Add([]byte{8, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, uint64(0), uint64(16))
	f.Add([]byte{4, 0, 0, 0x40, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0x80}, uint64(4096), uint64(4096+24))
	f.Add([]byte{0xff, 0xff, 0xff, 0x3f}, uint64(4090), uint64(1<<40))
	f.Fuzz(func(t *testing.T, data []byte, cons, prod uint64) {
		const size = 4096
		ring := make([]byte, size)
		copy(ring, data)
		var c, p atomic.Uint64
		cons &^= 7 // the kernel keeps it so
		c.Store(cons)
		p.Store(prod)
		r := &Reader{data: append(ring, ring...), mask: size - 1, cons: &c, prod: &p, pos: cons, last: cons}
		for range 4 {
			r.drain(func(rec []byte) error {
				if len(rec) > size {
					t.Fatalf("record of %d bytes", len(rec))
				}
				return nil
			})
		}
	})
}
