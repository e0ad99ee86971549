package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gostap/gostap/cmd/internal/kube/ctl"
)

// change is what kubectl's watch tells of a pod.
type change struct {
	Type   string
	Object pod
}

// againAfter is how long it takes until a watch that ended is begun anew.
const againAfter = time.Second

// watch calls put with each change of the pods that words ask for, until ctx ends, beginning with those that are there.
// A watch that ends is begun anew: all is called with the pods that are there then, since some may have gone meanwhile,
// after broken with the reason.
func watch(ctx context.Context, words []string, put func(change), all func([]pod), broken func(error)) {
	for n := 0; ctx.Err() == nil; n++ {
		if n > 0 {
			select {
			case <-time.After(againAfter):
			case <-ctx.Done():
				return
			}
			list, err := get(append(slices.Clone(words), "--output", "json"))
			if err != nil {
				continue // it is told that the watch is broken
			}
			all(list)
		}
		if err := watchOnce(ctx, words, put); ctx.Err() == nil {
			broken(err)
		}
	}
}

func watchOnce(ctx context.Context, words []string, put func(change)) error {
	said, err := ctl.Watch(ctx, words[1:], func(kind string, p pod) bool {
		put(change{kind, p})
		return true
	})
	if said != "" {
		return errors.New(ctl.Last(said))
	}
	return fmt.Errorf("watching pods: %w", err)
}
