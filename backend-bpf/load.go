package bpf

import (
	"context"

	"github.com/gostap/gostap/backend-bpf/internal/obj"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/session"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/debuginfo"
)

// artifact is a translated program.
type artifact struct {
	plan  *plan.Plan
	name  string
	files map[string]debuginfo.FileID
}

// Files implements backend.Artifact: NAME.bpf.o.
func (a *artifact) Files() ([]backend.File, error) {
	name := a.name
	if name == "" {
		name = "gostap"
	}
	data, err := obj.Write(a.plan)
	if err != nil {
		return nil, err
	}
	return []backend.File{{Name: name + ".bpf.o", Data: data}}, nil
}

// Listing implements backend.Artifact.
func (a *artifact) Listing() string { return a.plan.Listing() }

// Load implements backend.Artifact.
func (a *artifact) Load(ctx context.Context, o backend.LoadOptions) (backend.Session, error) {
	s, err := session.Load(ctx, session.Config{Plan: a.plan, Files: a.files, LoadOptions: o})
	if err != nil {
		return nil, err
	}
	return s, nil
}
