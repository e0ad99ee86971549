// A server of HTTP with values of many kinds, for TestServers.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type notFound struct {
	Key  string
	Code int
}

func (e *notFound) Error() string { return e.Key }

type shape interface{ Area() float64 }

type square struct{ Side float64 }

func (s square) Area() float64 { return s.Side * s.Side }

type node struct {
	Name        string
	Left, Right *node
	Up          *node
}

type cache[K comparable, V any] struct {
	mu   sync.Mutex
	m    map[K]V
	hits atomic.Int64
	made time.Time
	idle time.Duration
}

//go:noinline
func (c *cache[K, V]) get(k K, make func(K) (V, error)) (V, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.m[k]; ok {
		c.hits.Add(1)
		return v, nil
	}
	v, err := make(k)
	if err == nil {
		c.m[k] = v
	}
	return v, err
}

type store struct {
	byName  cache[string, any]
	byPair  cache[[2]int, *node]
	jobs    chan func() error
	weights map[float64]shape
	flags   map[bool][]byte
	any     map[any]any
}

type key struct{}

//go:noinline
func (s *store) lookup(ctx context.Context, name string) (any, error) {
	user, _ := ctx.Value(key{}).(string)
	v, err := s.byName.get(name, func(k string) (any, error) {
		switch {
		case strings.HasPrefix(k, "no"):
			return nil, &notFound{k, 404}
		case len(k)%2 == 0:
			return square{float64(len(k))}, nil
		}
		return map[string][]string{user: {k}}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("lookup of %s: %w", name, err)
	}
	return v, nil
}

//go:noinline
func (s *store) tree(depth int, up *node) *node {
	n := &node{Name: strings.Repeat("n", depth), Up: up}
	if depth > 0 {
		n.Left = s.tree(depth-1, n)
		n.Right = s.tree(max(depth-2, 0), n)
	}
	return n
}

//go:noinline
func (s *store) total(list []shape, more ...any) (sum float64, kinds []string) {
	seen := map[string]int{}
	for i, x := range list {
		sum += x.Area()
		seen[fmt.Sprintf("%T", x)] += i
	}
	for _, m := range more {
		switch m := m.(type) {
		case error:
			seen[m.Error()]++
		case fmt.Stringer:
			seen[m.String()]++
		case int, uint8, bool:
			seen[fmt.Sprint(m)]++
		}
	}
	for k := range seen {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	return sum, kinds
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := context.WithValue(r.Context(), key{}, r.Header.Get("Cookie"))
	v, err := s.lookup(ctx, strings.TrimPrefix(r.URL.Path, "/"))
	var nf *notFound
	if errors.As(err, &nf) {
		http.Error(w, err.Error(), nf.Code)
		return
	}
	root := s.tree(3, nil)
	done := make(chan error, 2)
	s.jobs <- func() error {
		done <- nil
		return nil
	}
	sum, kinds := s.total([]shape{square{1}, square{2.5}}, v, err, time.Second, 7, uint8(3), true, os.ErrNotExist)
	fmt.Fprintln(w, root.Left.Name, sum, kinds, <-done)
}

func main() {
	s := &store{jobs: make(chan func() error, 4), weights: map[float64]shape{0.5: square{1}, 2: nil},
		flags: map[bool][]byte{true: []byte("yes"), false: nil},
		any:   map[any]any{1: "one", "two": 2, [2]int{1, 2}: nil, square{3}: &notFound{"k", 1}}}
	s.byName.m, s.byName.made, s.byName.idle = map[string]any{}, time.Now(), time.Minute
	s.byPair.m = map[[2]int]*node{{1, 2}: {Name: "a"}, {3, 4}: nil}
	go func() {
		for j := range s.jobs {
			j()
		}
	}()
	fmt.Println(http.ListenAndServe(os.Args[1], s))
}
