package hook

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// fileID gives a file's inode number and its device, both as the kernel has them in its inode and super block; the
// device in the kernel's own form (include/linux/kdev_t.h). What stat(2) tells is another device on file systems that
// have several to show: btrfs has one for each subvolume, overlayfs those of its layers. The list of mounts has the
// real one.
func fileID(path string) (ino uint64, dev uint32, err error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_MNT_ID, &st); err != nil {
		return 0, 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	major, minor := st.Dev_major, st.Dev_minor
	if st.Mask&unix.STATX_MNT_ID != 0 {
		lists := []string{"/proc/self/mountinfo"}
		if rest, ok := strings.CutPrefix(path, "/proc/"); ok { // of a process that may have other mounts
			pid, _, _ := strings.Cut(rest, "/")
			lists = append(lists, "/proc/"+pid+"/mountinfo")
		}
		for _, list := range lists {
			if ma, mi, ok := mountDevice(list, st.Mnt_id); ok {
				major, minor = ma, mi
				break
			}
		}
	}
	return st.Ino, major<<20 | minor&(1<<20-1), nil
}

// mountDevice finds the device of the mount with a number in a list of mounts (proc_pid_mountinfo(5)).
func mountDevice(list string, id uint64) (major, minor uint32, ok bool) {
	f, err := os.Open(list)
	if err != nil {
		return 0, 0, false
	}
	defer f.Close()
	want := strconv.FormatUint(id, 10)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// number, parent, major:minor, ...
		fields := strings.SplitN(lines.Text(), " ", 4)
		if len(fields) < 4 || fields[0] != want {
			continue
		}
		a, b, _ := strings.Cut(fields[2], ":")
		ma, err1 := strconv.ParseUint(a, 10, 12)
		mi, err2 := strconv.ParseUint(b, 10, 20)
		return uint32(ma), uint32(mi), err1 == nil && err2 == nil
	}
	return 0, 0, false
}
