package session

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
)

// SetScope implements backend.Scoper. New groups are put in before old ones are taken out, so that no hit in a group of
// both is missed.
func (s *Session) SetScope(levels map[uint64]int) error {
	m := s.col.Maps[plan.MapScope]
	if m == nil {
		return fmt.Errorf("the program was not built for control groups")
	}
	if len(levels) > plan.MaxScope {
		return fmt.Errorf("%d control groups are more than the %d that a session can be kept to", len(levels),
			plan.MaxScope)
	}
	var at []int
	for id, level := range levels {
		if id == 0 || id == plan.ScopeHead || level < 0 || level > 254 {
			return fmt.Errorf("there is no control group %d at level %d", id, level)
		}
		if !slices.Contains(at, level) {
			at = append(at, level)
		}
	}
	if len(at) > plan.ScopeLevels {
		return fmt.Errorf("the control groups lie at %d levels of their hierarchy: %d are possible", len(at),
			plan.ScopeLevels)
	}
	word := func(n uint64) []byte { return binary.NativeEndian.AppendUint64(nil, n) }
	head := uint64(0)
	for i, level := range at {
		head |= uint64(level+1) << (8 * i)
	}
	put := func(id, value uint64) error {
		if err := kern.Update(m.FD(), word(id), word(value), kern.UpdateAny); err != nil {
			return fmt.Errorf("enter control group %d: %w", id, err)
		}
		return nil
	}
	for id := range levels {
		if err := put(id, 1); err != nil {
			return err
		}
	}
	if err := put(plan.ScopeHead, head); err != nil {
		return err
	}
	for id := range s.scope {
		if _, stays := levels[id]; stays {
			continue
		}
		if err := kern.Delete(m.FD(), word(id)); err != nil && err != unix.ENOENT {
			return fmt.Errorf("leave control group %d: %w", id, err)
		}
	}
	s.scope = maps.Clone(levels)
	return nil
}
