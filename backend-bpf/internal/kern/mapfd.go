package kern

import (
	"runtime"
	"unsafe"
)

// Map describes a map to make.
type Map struct {
	Name                         string
	Type                         uint32
	KeySize, ValueSize, Entries  uint32
	Flags                        uint32
	BTF, BTFKeyType, BTFValueTyp uint32
}

// Flags of maps and of updates.
const (
	FlagMmapable     = 1 << 10 // BPF_F_MMAPABLE
	FlagNoPrealloc   = 1 << 0  // BPF_F_NO_PREALLOC
	FlagReadOnlyProg = 1 << 7  // BPF_F_RDONLY_PROG
	UpdateAny        = 0
	UpdateNew        = 1 // only if the key is not there
	UpdateExist      = 2 // only if it is
)

type mapCreateAttr struct {
	typ, keySize, valueSize, entries, flags, innerFd, numa uint32
	name                                                   [16]byte
	ifindex, btfFd, btfKey, btfValue, btfVmlinux           uint32
	extra                                                  uint64
}

// MapCreate makes a map.
func MapCreate(m *Map) (int, error) {
	a := mapCreateAttr{typ: m.Type, keySize: m.KeySize, valueSize: m.ValueSize, entries: m.Entries, flags: m.Flags,
		name: name(m.Name), btfFd: m.BTF, btfKey: m.BTFKeyType, btfValue: m.BTFValueTyp}
	return call(cmdMapCreate, unsafe.Pointer(&a), unsafe.Offsetof(a.extra))
}

type elemAttr struct {
	fd         uint32
	_          uint32
	key, value unsafe.Pointer
	flags      uint64
}

func elem(cmd uintptr, fd int, key, value unsafe.Pointer, flags uint64) error {
	a := elemAttr{fd: uint32(fd), key: key, value: value, flags: flags}
	_, err := call(cmd, unsafe.Pointer(&a), unsafe.Sizeof(a))
	runtime.KeepAlive(key)
	runtime.KeepAlive(value)
	return err
}

func first(b []byte) unsafe.Pointer {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Pointer(&b[0])
}

// Lookup copies the value of key into value, which has to have the map's value size (for per-CPU
// maps: that, rounded up to 8, times the number of possible CPUs). ENOENT if it is not there.
func Lookup(fd int, key, value []byte) error {
	err := elem(cmdMapLookup, fd, first(key), first(value), 0)
	runtime.KeepAlive(key)
	runtime.KeepAlive(value)
	return err
}

// Update sets the value of key; flags are Update*.
func Update(fd int, key, value []byte, flags uint64) error {
	err := elem(cmdMapUpdate, fd, first(key), first(value), flags)
	runtime.KeepAlive(key)
	runtime.KeepAlive(value)
	return err
}

// Delete removes key. ENOENT if it is not there.
func Delete(fd int, key []byte) error {
	err := elem(cmdMapDelete, fd, first(key), nil, 0)
	runtime.KeepAlive(key)
	return err
}

// Freeze makes a map read-only for user space.
func Freeze(fd int) error {
	a := elemAttr{fd: uint32(fd)}
	_, err := call(cmdMapFreeze, unsafe.Pointer(&a), 4)
	return err
}

type batchAttr struct {
	in, out      unsafe.Pointer
	keys, values unsafe.Pointer
	count, fd    uint32
	elemFlags    uint64
	flags        uint64
}

// LookupBatch reads up to count elements behind the cursor in (nil to begin), leaves the next cursor
// in out, and gives how many it read; with take it removes them too. ENOENT says that these were the last, ENOSPC that
// one bucket of the hash has more than count. Cursors of hash maps are 4 bytes, those of other maps a
// key; both fit if they have room for the longer.
func LookupBatch(fd int, take bool, in, out, keys, values []byte, count int) (int, error) {
	a := batchAttr{in: ptr(in), out: ptr(out), keys: ptr(keys), values: ptr(values), count: uint32(count),
		fd: uint32(fd)}
	cmd := uintptr(cmdMapLookupBatch)
	if take {
		cmd = cmdMapTakeBatch
	}
	_, err := call(cmd, unsafe.Pointer(&a), unsafe.Sizeof(a))
	runtime.KeepAlive(in)
	runtime.KeepAlive(out)
	runtime.KeepAlive(keys)
	runtime.KeepAlive(values)
	return int(a.count), err
}
