package host

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/host/served"
)

// fileContext is the place of a handler that is asked for a file of the script's. The current process is the one that
// asks, as far as the kernel says who that is.
type fileContext struct {
	*hostContext
	peer    served.Peer
	written string
	room    int // the most bytes that reply takes
	reply   []byte
	lost    int // bytes that were too many
}

var _ interp.Filer = (*fileContext)(nil)

// Written implements interp.Filer, as does Reply.
func (c *fileContext) Written() string { return c.written }

func (c *fileContext) Reply(text string, add bool) {
	if !add {
		c.reply, c.lost = c.reply[:0], 0
	}
	n := min(len(text), c.room-len(c.reply))
	c.reply = append(c.reply, text[:n]...)
	c.lost += len(text) - n
}

var (
	errUnknownPeer = errors.New("over the network nobody knows which process asks")
	errGonePeer    = errors.New("the process that asks is not to be seen here any more")
	errPeerTask    = errors.New("the kernel's structure of the process that asks is not known in the tracer")
)

// peers are the functions about the current process, by the number that it has for the tracer.
var peers = map[string]func(*fileContext, string) (interp.Val, error){
	"pid": status("Tgid", 0), "tid": status("Tgid", 0), "ns_pid": status("Tgid", 0), "ns_tid": status("Tgid", 0),
	"ppid": status("PPid", 0), "uid": status("Uid", 0), "euid": status("Uid", 1), "gid": status("Gid", 0),
	"egid": status("Gid", 1), "pgrp": stat(2), "sid": stat(3),
	"execname": func(_ *fileContext, pid string) (interp.Val, error) { return comm(pid) },
	"pexecname": func(_ *fileContext, pid string) (interp.Val, error) {
		parent, err := stat(1)(nil, pid)
		if err != nil || parent.Int == 0 {
			return interp.Val{}, err
		}
		return comm(strconv.FormatInt(parent.Int, 10))
	},
	"task_current": func(*fileContext, string) (interp.Val, error) { return interp.Val{}, errPeerTask },
}

// Intrinsic answers for the process that asks.
func (c *fileContext) Intrinsic(name string, args []interp.Val) (interp.Val, error) {
	f := peers[name]
	switch {
	case f == nil:
		return c.hostContext.Intrinsic(name, args)
	case !c.peer.Known:
		return interp.Val{}, fmt.Errorf("%s: %w", name, errUnknownPeer)
	case c.peer.Pid == 0: // of another namespace
		return interp.Val{}, fmt.Errorf("%s: %w", name, errGonePeer)
	}
	v, err := f(c, strconv.Itoa(c.peer.Pid))
	if err != nil {
		return interp.Val{}, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

func comm(pid string) (interp.Val, error) {
	b, err := os.ReadFile("/proc/" + pid + "/comm")
	if err != nil {
		return interp.Val{}, errGonePeer
	}
	return interp.Val{Str: strings.TrimSuffix(string(b), "\n")}, nil
}

// status gives the n-th number of a line in /proc/PID/status.
func status(key string, n int) func(*fileContext, string) (interp.Val, error) {
	return func(_ *fileContext, pid string) (interp.Val, error) {
		b, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil {
			return interp.Val{}, errGonePeer
		}
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(line, key+":"); ok {
				if fields := strings.Fields(rest); n < len(fields) {
					v, err := strconv.ParseInt(fields[n], 10, 64)
					return interp.Val{Int: v}, err
				}
			}
		}
		return interp.Val{}, fmt.Errorf("there is no %s in /proc/%s/status", key, pid)
	}
}

// stat gives the n-th number behind the name in /proc/PID/stat, where the state is number 0.
func stat(n int) func(*fileContext, string) (interp.Val, error) {
	return func(_ *fileContext, pid string) (interp.Val, error) {
		b, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			return interp.Val{}, errGonePeer
		}
		_, rest, _ := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
		fields := strings.Fields(rest)
		if n >= len(fields) {
			return interp.Val{}, fmt.Errorf("/proc/%s/stat ends early", pid)
		}
		v, err := strconv.ParseInt(fields[n], 10, 64)
		return interp.Val{Int: v}, err
	}
}

// file runs the handler of a probe for a request, and reports whether it came to its end.
func (h *hosted) file(i int, site *probe.Site, c *fileContext) (done bool, err error) {
	if ok, err := h.armed(i); !ok || err != nil {
		return false, err
	}
	h.ctx.Where = site
	h.out.cpu = -1
	defer h.timed(i)()
	defer h.working()()
	defer h.pinned()()
	res, err := h.m.Run(i, c)
	return res.Done, h.ended(res, err)
}
