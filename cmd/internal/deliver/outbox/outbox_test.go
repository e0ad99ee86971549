package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// receiver is one that can be away.
type receiver struct {
	mu   sync.Mutex
	away error
	got  []int
	said []string
}

func (r *receiver) send(_ context.Context, b []int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away != nil {
		return r.away
	}
	r.got = append(r.got, b...)
	return nil
}

func (r *receiver) tell(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *receiver) set(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = err
}

var errAway, errNo = errors.New("away"), errors.New("no")

func box(r *receiver, most int) *Box[int] {
	return New(Config[int]{What: "things", To: "x://", Send: r.send, Most: most, Batch: 3, Linger: time.Millisecond,
		Tell: r.tell, Final: func(err error) bool { return err == errNo }})
}

// TestAway: what comes while the receiver is away comes to it later, in order and once; both are told.
func TestAway(t *testing.T) {
	r := &receiver{away: errAway}
	b := box(r, 100)
	var want []int
	for i := range 50 {
		b.Put(i)
		want = append(want, i)
	}
	time.AfterFunc(300*time.Millisecond, func() { r.set(nil) })
	if lost := b.Close(context.Background()); lost != 0 || !slices.Equal(r.got, want) {
		t.Errorf("%d lost, got %v", lost, r.got)
	}
	if sent, _ := b.Counts(); sent != 50 {
		t.Errorf("%d sent", sent)
	}
	said := []string{"x://: away; up to 100 things are kept and sent again", "x://: takes things again"}
	if !slices.Equal(r.said, said) {
		t.Errorf("said %q", r.said)
	}
}

// TestLost: what is too much, what the receiver refuses and what is left at the end is counted, each once.
func TestLost(t *testing.T) {
	r := &receiver{away: errAway}
	b := box(r, 10)
	for range 30 {
		b.Put(1) // Put never waits
	}
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	if lost := b.Close(ctx); lost != 30 || len(r.got) != 0 {
		t.Errorf("%d lost, got %v", lost, r.got)
	}
	r = &receiver{away: errNo}
	b = box(r, 10)
	b.Put(1)
	b.Put(2)
	for {
		if _, lost := b.Counts(); lost == 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	r.set(nil)
	b.Put(3)
	if lost := b.Close(context.Background()); lost != 2 || !slices.Equal(r.got, []int{3}) {
		t.Errorf("%d lost, got %v, said %q", lost, r.got, r.said)
	}
}

// TestBackAtTheEnd: a receiver that is back when nothing comes any more gets what waits at once, though it was away for
// so long that it is asked seldom.
func TestBackAtTheEnd(t *testing.T) {
	r := &receiver{away: errAway}
	b := box(r, 10)
	b.Put(1)
	time.Sleep(1700 * time.Millisecond) // it is asked at 0.2, 0.6 and 1.4 s, and then at 3 s
	r.set(nil)
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	if lost := b.Close(ctx); lost != 0 || !slices.Equal(r.got, []int{1}) {
		t.Errorf("%d lost, got %v", lost, r.got)
	}
}

// TestEmpty: a box in which nothing was ends.
func TestEmpty(t *testing.T) {
	if lost := box(&receiver{}, 1).Close(context.Background()); lost != 0 {
		t.Error(lost)
	}
}
