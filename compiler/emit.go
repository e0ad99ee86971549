package compiler

import (
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo/tracefs"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/ftrace"
)

func (s *state) ftrace() diag.List { return s.emit("ftrace") }

func (s *state) perf() diag.List { return s.emit("perf") }

// emit writes the script as text for another tracer.
func (s *state) emit(pass string) diag.List {
	o := ftrace.Options{Machine: s.o.Machine, PID: s.o.TargetPID, Perf: pass == "perf"}
	fs, err := tracefs.Open()
	if err == nil {
		defer fs.Close()
		o.Tprobes = fs.Tprobes()
	}
	o.Format = func(system, event string) ([]tracefs.Field, error) {
		if err != nil {
			return nil, fmt.Errorf("%w: %w", tracefs.ErrNone, err)
		}
		return fs.Format(system, event)
	}
	text, ds := ftrace.Write(s.prog, o)
	s.emitted = text
	return ds
}

func (s *state) dumpEmitted() string { return s.emitted }
