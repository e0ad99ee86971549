package vm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// A guest takes four seconds of a CPU to boot, most tests want the same one, and it is booted without address
// randomisation. So the first that waits for its files is written to a file (migration, in qemu's words), and others go
// on from there: with files of their own on a disk, which the first one has not read.

// Warm, if set, is what runs in a guest before it waits for files: what it leaves all others have, too. It is to be set
// before the first guest runs.
var Warm *Options

// snapshot is a guest that waits for files.
type snapshot struct {
	once sync.Once
	err  error
	// initrd and state are open files that have no name any more, so that nothing is left behind.
	initrd, state *os.File
}

// snapshots are those of this process, by releases.
var snapshots struct {
	sync.Mutex
	of map[string]*snapshot
}

// boxSize is the size of the disk with the files: qemu wants the same for all that go on from one state.
const boxSize = 1 << 30

// filesAt is where the archive begins on the disk, in bytes; a word in front of it, at wordAt, says that it is there.
// initScript reads both.
const wordAt, filesAt = 1 << 20, 2 << 20

// snapshot gives a guest to go on from; nil where this one is to be booted by itself: since it is another machine, or
// since its kernel cannot read the disk.
func (k *Kernel) snapshot(ctx context.Context, o *Options) (*snapshot, error) {
	if o.CPUs != usualCPUs || o.MemoryMB != usualMB || o.Count || o.Parallel || o.Append != "" || len(o.Devices) > 0 {
		return nil, nil
	}
	snapshots.Lock()
	if snapshots.of == nil {
		snapshots.of = map[string]*snapshot{}
	}
	s := snapshots.of[k.Release]
	if s == nil {
		s = &snapshot{}
		snapshots.of[k.Release] = s
	}
	snapshots.Unlock()
	s.once.Do(func() {
		if s.err = s.make(ctx, k, o); s.err != nil && o.Log != nil {
			o.Log("guests of %s are booted each: %v", k.Release, s.err)
		}
	})
	if s.err != nil {
		return nil, ctx.Err()
	}
	return s, nil
}

// make boots the guest and writes its state.
func (s *snapshot) make(ctx context.Context, k *Kernel, o *Options) error {
	mods, err := k.Modules("virtio_pci?", "virtio_blk?")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gostap-vmsnap-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := newTree()
	if err := t.system(); err != nil {
		return err
	}
	list := ""
	for _, m := range mods {
		at := "/lib/" + filepath.Base(m)
		if err := t.copy(m, at); err != nil {
			return err
		}
		list += at + "\n"
	}
	t.add("/modules", 0o100644, []byte(list))
	if Warm != nil {
		if err := t.given(Warm); err != nil {
			return err
		}
	}
	for name, f := range map[string]**os.File{"initrd": &s.initrd, "state": &s.state} {
		if *f, err = os.Create(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if _, err := s.initrd.Write(t.archive()); err != nil {
		return err
	}
	if err := s.box(dir, nil); err != nil {
		return err
	}
	ctx, cancel := patience.Context(ctx, bootTime)
	defer cancel()
	args, _ := k.machine(dir, o)
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", append(args, s.devices(dir)...)...)
	mon, err := monitorOf(cmd)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	until := func(what string, done func() bool) error {
		for !done() {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s: %w", what, context.Cause(ctx))
			case <-time.After(50 * time.Millisecond):
			}
		}
		return nil
	}
	if err := until("it waits for files", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "status"))
		return strings.Contains(string(b), "ready")
	}); err != nil {
		return err
	}
	if _, err := mon.do("qmp_capabilities", struct{}{}); err != nil {
		return err
	}
	for _, line := range []string{"migrate_set_parameter max-bandwidth 10g",
		"migrate -d \"exec:cat >" + path(s.state) + "\""} {
		if said, err := mon.human(line); err != nil || strings.TrimSpace(said) != "" {
			return fmt.Errorf("%s: %s %v", line, said, err)
		}
	}
	said, failed := "", error(nil)
	err = until("its state is written", func() bool {
		said, failed = mon.human("info migrate")
		return failed != nil || strings.Contains(said, "status: completed") || strings.Contains(said, "status: failed")
	})
	if err = cmp.Or(err, failed); err == nil && !strings.Contains(said, "status: completed") {
		err = errors.New(said)
	}
	return err
}

// path names an open file of this process for others.
func path(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }

// box writes the disk with an archive of files into dir.
func (s *snapshot) box(dir string, archive []byte) error {
	f, err := os.Create(filepath.Join(dir, "box"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(boxSize); err != nil || archive == nil {
		return err
	}
	if len(archive) > boxSize-filesAt {
		return fmt.Errorf("a guest's files have %d bytes", len(archive))
	}
	if _, err := f.WriteAt(archive, filesAt); err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("files\n"), wordAt)
	return err
}

// devices are qemu's arguments for the initrd and the disk.
func (s *snapshot) devices(dir string) []string {
	return []string{"-initrd", path(s.initrd), "-drive", "if=none,id=box,format=raw,readonly=on,file=" +
		filepath.Join(dir, "box"), "-device", "virtio-blk-pci,drive=box"}
}

// arguments let a guest go on, with dir's files.
func (s *snapshot) arguments(dir string) []string {
	return append(s.devices(dir), "-incoming", "exec:cat "+path(s.state))
}
