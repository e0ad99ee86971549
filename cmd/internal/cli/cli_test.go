package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	if got := words(fmt.Errorf("load: %w", context.Canceled)); !strings.Contains(got,
		"by a signal before the probes were in place") {
		t.Error(got)
	}
	if got := words(errors.New("text")); got != "text" {
		t.Error(got)
	}
}
