package crowd

import (
	"net/netip"
	"testing"
)

// TestCrowd: who opens many takes the place of his own, and others stay.
func TestCrowd(t *testing.T) {
	one, many := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	c := Crowd[int]{Most: 4}
	if _, full := c.Add(-1, one); full {
		t.Error("full with one")
	}
	for i := range 100 {
		goes, full := c.Add(i, many)
		if full != (i >= 3) || full && goes != i-3 {
			t.Errorf("%d: %d %v", i, goes, full)
		}
	}
	c.Remove(99)
	c.Remove(99)
	if _, full := c.Add(100, many); full {
		t.Error("full though one has gone")
	}
	if goes, full := c.Add(-2, one); !full || goes != 97 {
		t.Errorf("%d %v", goes, full)
	}
}
