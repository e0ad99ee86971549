// Package load makes the maps and programs of a CollectionSpec in the kernel.
//
// In: an ebpf.CollectionSpec, as the code generator writes it. Out: descriptors, or an
// error that says in plain words what the kernel did not like and, for a program, at
// which instruction.
//
// It does what the library's own loader would do, without that one's feature probes,
// without a handle of type information for each program, and without the kernel's BTF
// where no program needs it: that is most of what starting costs.
package load

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
)

// Options configure Load.
type Options struct {
	// Entries overrides MaxEntries by map name.
	Entries map[string]uint32
	// LogLevel asks for the verifier's log of programs that load (1 or 2); those that do not load have one always.
	LogLevel uint32
	// Slow, if given, is called with the names of programs that the verifier has been looking at for so long, as CPU
	// time of its thread; once.
	Slow     func(names []string)
	Patience time.Duration
}

// Map is a map in the kernel.
type Map struct {
	Name                       string
	Type                       ebpf.MapType
	KeySize, ValueSize, Entrys uint32
	fd                         int
}

// FD gives the descriptor.
func (m *Map) FD() int { return m.fd }

// Prog is a program in the kernel.
type Prog struct {
	Name       string
	Type       ebpf.ProgramType
	AttachType ebpf.AttachType
	AttachTo   string
	// Insns is the number of instructions handed to the kernel.
	Insns int
	// Log is the verifier's, if Options asked for it.
	Log string
	fd  int
}

// FD gives the descriptor.
func (p *Prog) FD() int { return p.fd }

// Collection is what Load made.
type Collection struct {
	Maps  map[string]*Map
	Progs map[string]*Prog
	btf   int
}

// Close closes everything. Programs that are attached by links stay until those are closed.
func (c *Collection) Close() {
	for _, p := range c.Progs {
		kern.Close(p.fd)
	}
	for _, m := range c.Maps {
		kern.Close(m.fd)
	}
	kern.Close(c.btf)
	c.Progs, c.Maps, c.btf = nil, nil, -1
}

// Load makes everything in spec. On an error nothing is left.
func Load(spec *ebpf.CollectionSpec, o Options) (_ *Collection, err error) {
	c := &Collection{Maps: map[string]*Map{}, Progs: map[string]*Prog{}, btf: -1}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	err = c.load(spec, o)
	if errors.Is(err, unix.EPERM) && liftMemlock() {
		// Before 5.11 maps and programs counted as locked memory.
		c.Close()
		c.Maps, c.Progs = map[string]*Map{}, map[string]*Prog{}
		err = c.load(spec, o)
	}
	return c, err
}

// Add makes one more program with the maps that are there, unless it is there already.
func (c *Collection) Add(name string, ps *ebpf.ProgramSpec, o Options) error {
	if c.Progs[name] != nil {
		return nil
	}
	types := c.btf
	err := c.loadProgs(&ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{name: ps}}, o)
	if c.btf != types {
		kern.Close(types) // programs keep what they need of it
	}
	return err
}

// liftMemlock removes the limit of locked memory, and reports whether there was one.
func liftMemlock() bool {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l) != nil || l.Cur == unix.RLIM_INFINITY {
		return false
	}
	return unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}) == nil
}

func (c *Collection) load(spec *ebpf.CollectionSpec, o Options) error {
	for name, ms := range spec.Maps {
		m, err := c.makeMap(name, ms, o)
		if err != nil {
			return &MapError{Map: name, Err: err}
		}
		c.Maps[name] = m
	}
	return c.loadProgs(spec, o)
}

func (c *Collection) makeMap(name string, ms *ebpf.MapSpec, o Options) (*Map, error) {
	if ms.InnerMap != nil || ms.Pinning != ebpf.PinNone {
		return nil, fmt.Errorf("maps in maps and pinned maps are not supported")
	}
	m := &Map{Name: name, Type: ms.Type, KeySize: ms.KeySize, ValueSize: ms.ValueSize, Entrys: ms.MaxEntries}
	if n, ok := o.Entries[name]; ok {
		m.Entrys = n
	}
	fd, err := kern.MapCreate(&kern.Map{Name: name, Type: uint32(ms.Type), KeySize: ms.KeySize, ValueSize: ms.ValueSize,
		Entries: m.Entrys, Flags: uint32(ms.Flags)})
	if err != nil {
		return nil, err
	}
	m.fd = fd
	if err := m.fill(ms.Contents); err != nil {
		kern.Close(fd)
		return nil, err
	}
	if ms.Flags&kern.FlagReadOnlyProg != 0 {
		// Only a map that nobody can change any more is a constant to the verifier.
		if err := kern.Freeze(fd); err != nil {
			kern.Close(fd)
			return nil, err
		}
	}
	return m, nil
}

// fill writes first contents: bytes, strings, or what package binary encodes.
func (m *Map) fill(kvs []ebpf.MapKV) error {
	for _, kv := range kvs {
		k, err := Value(kv.Key, int(m.KeySize))
		if err != nil {
			return fmt.Errorf("key: %w", err)
		}
		v, err := Value(kv.Value, int(m.ValueSize))
		if err != nil {
			return fmt.Errorf("value: %w", err)
		}
		if err := kern.Update(m.fd, k, v, kern.UpdateAny); err != nil {
			return err
		}
	}
	return nil
}

// Value gives first contents of a map, which are bytes, a string or what package binary writes, as size bytes.
func Value(v any, size int) ([]byte, error) {
	var b []byte
	switch v := v.(type) {
	case []byte:
		b = v
	case string:
		b = []byte(v)
	default:
		var err error
		if b, err = binary.Append(nil, binary.LittleEndian, v); err != nil {
			return nil, err
		}
	}
	if len(b) != size {
		return nil, fmt.Errorf("%d bytes where the map has %d", len(b), size)
	}
	return b, nil
}

// job is one program on its way into the kernel.
type job struct {
	name string
	spec *ebpf.ProgramSpec
	kern kern.Prog
	at   []int // index of the instruction by its position in 8-byte units
	log  string
	fd   int
	err  error
	// thread is the one on which the verifier looks at it, 0 before and after, and began its CPU time at the beginning.
	thread atomic.Int32
	began  time.Duration
}

func (c *Collection) loadProgs(spec *ebpf.CollectionSpec, o Options) error {
	var types btf.Builder
	jobs := make([]*job, 0, len(spec.Programs))
	for name, ps := range spec.Programs {
		j, err := c.prepare(name, ps, &types)
		if err != nil {
			return fmt.Errorf("program %s: %w", name, err)
		}
		jobs = append(jobs, j)
	}
	if !types.Empty() {
		raw, err := types.Marshal(nil, &btf.MarshalOptions{Order: binary.LittleEndian, PreventNoTypeFound: true})
		if err != nil {
			return fmt.Errorf("write type information: %w", err)
		}
		if c.btf, err = kern.BTFLoad(raw); err != nil {
			log := make([]byte, 64<<10)
			kern.BTFLog(raw, log)
			return &BTFError{Err: err, Log: text(log)}
		}
	}
	// The verifier is the greater part of loading and runs on the caller's thread: let it use the CPUs.
	var wg sync.WaitGroup
	lanes := min(runtime.GOMAXPROCS(0), len(jobs))
	var next atomic.Int64
	work := func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for i := int(next.Add(1)) - 1; i < len(jobs); i = int(next.Add(1)) - 1 {
			jobs[i].kern.BTF = c.btf
			jobs[i].verify(o.LogLevel)
		}
	}
	if o.Slow != nil {
		defer watch(jobs, o)()
	}
	for range lanes - 1 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work()
		}()
	}
	work()
	wg.Wait()
	var first error
	for _, j := range jobs {
		if j.err != nil {
			if first == nil || j.name < first.(*ProgError).Prog {
				first = &ProgError{Prog: j.name, Err: j.err, Log: j.log, spec: j.spec, at: j.at}
			}
			continue
		}
		c.Progs[j.name] = &Prog{Name: j.name, Type: j.spec.Type, AttachType: j.spec.AttachType,
			AttachTo: j.spec.AttachTo, Insns: len(j.kern.Insns) / 8, Log: j.log, fd: j.fd}
	}
	return first
}

// prepare encodes a program with the numbers of the maps in it.
func (c *Collection) prepare(name string, ps *ebpf.ProgramSpec, types *btf.Builder) (*job, error) {
	if ps.AttachTarget != nil || ps.Ifindex != 0 {
		return nil, fmt.Errorf("programs that attach to programs or network devices are not supported")
	}
	code, err := Encode(ps.Instructions)
	if err != nil {
		return nil, err
	}
	for _, r := range code.Refs {
		if r.Kind != RefMap && r.Kind != RefMapValue {
			continue
		}
		m := c.Maps[r.Name]
		if m == nil {
			return nil, fmt.Errorf("instruction %d refers to map %q, which is not there", code.Insn[r.At], r.Name)
		}
		code.SetImm(r.At, uint32(m.fd))
	}
	j := &job{name: name, spec: ps, fd: -1, at: code.Insn}
	j.kern = kern.Prog{Name: name, Type: uint32(ps.Type), AttachType: uint32(ps.AttachType), License: ps.License,
		Flags: ps.Flags}
	// Line information is left out: this package finds the line by itself, and the kernel would check and keep it.
	for _, f := range code.Funcs {
		if f.Type == nil {
			continue
		}
		id, err := types.Add(f.Type)
		if err != nil {
			return nil, fmt.Errorf("type of %s: %w", f.Name, err)
		}
		j.kern.FuncInfo = binary.LittleEndian.AppendUint32(j.kern.FuncInfo, uint32(f.At))
		j.kern.FuncInfo = binary.LittleEndian.AppendUint32(j.kern.FuncInfo, uint32(id))
	}
	if ps.AttachTo != "" && (ps.Type == ebpf.Tracing || ps.Type == ebpf.LSM) {
		id, err := kernelTarget(ps)
		if err != nil {
			return nil, err
		}
		j.kern.AttachBTF = id
	}
	j.kern.Insns = code.Bytes
	return j, nil
}

// load hands the program over. A refused one is handed over again for the verifier's words.
func (j *job) load(level uint32) {
	p := &j.kern
	if level != 0 {
		p.LogLevel, p.Log = level, make([]byte, 1<<20)
	}
	var need int
	j.fd, need, j.err = kern.ProgLoad(p)
	if j.err == nil && level == 0 {
		return
	}
	const most = 1 << 28
	if j.err == unix.E2BIG && level == 0 {
		// It takes as long again for a log. From Linux 6.4 on the end is kept of one that does not fit.
		p.LogLevel, p.Log = 1, make([]byte, 256<<10)
		kern.ProgLoad(p)
		if log := text(p.Log); strings.Contains(log, "too large") {
			j.log = log
		}
		p.Log = nil
		return
	}
	for size := 256 << 10; j.err != nil && size <= most; size *= 4 {
		if p.LogLevel != 0 && j.err != unix.ENOSPC {
			break
		}
		p.LogLevel = max(level, 1)
		p.Log = make([]byte, max(size, min(need, most)))
		var fd int
		if fd, need, j.err = kern.ProgLoad(p); j.err == nil {
			j.fd = fd
		}
	}
	j.log = text(p.Log)
	p.Log = nil
}

// text gives b up to its NUL.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
