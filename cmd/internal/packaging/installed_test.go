package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asked has the tests make packages, twice, and install them in a Debian that is fetched: minutes.
const asked = "GOSTAP_PACKAGES"

// run runs a command in dir and gives what it prints.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}

// TestInstalled: packages that were made twice, in other folders, without anything kept of the first time, are the same
// bytes. Those for Debian are installed in a Debian without Go, trace there, and leave nothing when they are removed;
// the images run alone.
func TestInstalled(t *testing.T) {
	if os.Getenv(asked) == "" {
		t.Skip(asked + "=1 asks for it")
	}
	for _, tool := range []string{"git", "make", "debootstrap", "dpkg"} {
		if _, err := exec.LookPath(tool); err != nil || os.Geteuid() != 0 {
			t.Skip("needs root, git, make, debootstrap and dpkg")
		}
	}
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	var sums [2]string
	var made string
	for i, name := range []string{"first", "a/second"} {
		dir := filepath.Join(t.TempDir(), name)
		run(t, top, nil, "git", "clone", "-q", "--shared", ".", dir)
		env := []string{"TZ=Asia/Kathmandu", "LC_ALL=C"}
		if i == 1 {
			env = []string{"GOCACHE=" + t.TempDir(), "TZ=UTC", "GOMAXPROCS=1"}
		}
		run(t, dir, env, "sh", "-c", "umask 0"+[]string{"22", "77"}[i]+"; make packages")
		made = filepath.Join(dir, "bin/packages")
		b, err := os.ReadFile(filepath.Join(made, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = string(b)
	}
	t.Logf("made twice:\n%s", sums[0])
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 10 {
		t.Fatalf("the second time it was\n%s", sums[1])
	}

	root := filepath.Join(t.TempDir(), "root")
	run(t, "", nil, "debootstrap", "--variant=minbase", "stable", root)
	for as, glob := range map[string]string{"gostap.deb": "gostap_*.deb", "gostap.rpm": "gostap-[0-9]*.rpm",
		"gostap.tar": "gostap_*.oci.tar", "fleet.deb": "gostap-fleet_*.deb", "fleet.rpm": "gostap-fleet-*.rpm",
		"fleet.tar": "gostap-fleet_*.oci.tar"} {
		found, _ := filepath.Glob(filepath.Join(made, glob))
		if len(found) != 1 {
			t.Fatalf("%s: %q", glob, found)
		}
		b, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, as), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := run(t, "", nil, "unshare", "--mount", "--propagation", "private", "sh", "-ec", installed, "sh", root)
	t.Log(out)
	for _, want := range []string{"no go\n", "\ninstalled\n", "/bin/echo started below", "\nnot without gostap\n",
		"it is the package gostap-fleet", "\nfleet installed\nusage: gostap-fleet install ", "\nboth pages\n",
		"\nfleet removed\n", "\nremoved\n", "\nimage\n", "/usr/bin/gostap --version", "\nimage of the fleet\n",
		"error: --certs is missing", "an agent that waits: 124\n"} {
		if !strings.Contains("\n"+out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	before, err1 := os.ReadFile(filepath.Join(root, "before"))
	after, err2 := os.ReadFile(filepath.Join(root, "after"))
	if err1 != nil || err2 != nil || len(before) < 10000 || !bytes.Equal(before, after) {
		t.Errorf("what is there differs after removal: %v, %v\n%s", err1, err2, out)
	}
}

// installed is what happens in the fresh root, $1.
const installed = `
root=$1
mount --rbind /proc "$root/proc"
mount --rbind /sys "$root/sys"
in="chroot $root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root"
list() { (cd "$root" && find . -xdev -not -path './before' -not -path './after' -not -path './with' | sort); }
! $in sh -c 'command -v go' && echo no go
list >"$root/before"
! $in dpkg --force-unsafe-io -i /fleet.deb && echo not without gostap
$in dpkg --purge gostap-fleet
$in dpkg --force-unsafe-io -i /gostap.deb
echo installed
$in gostap --version
$in gostap execsnoop -c '/bin/sh -c "/bin/echo started below; true"'
list >"$root/with"
comm -13 "$root/before" "$root/with" | wc -l
! $in gostap fleet --help
$in dpkg --force-unsafe-io -i /fleet.deb
echo fleet installed
$in gostap fleet --help | sed -n '/^usage/,$p'
$in sh -c 'test -s /usr/share/man/man1/gostap-fleet.1.gz && test -s /usr/share/man/man7/gostap-fleet.7.gz' &&
	echo both pages
$in dpkg --force-unsafe-io --purge gostap-fleet
list | diff "$root/with" -
echo fleet removed
$in dpkg --force-unsafe-io --purge gostap
echo removed
list >"$root/after"
diff "$root/before" "$root/after"
echo with rpm
if command -v rpm >/dev/null; then
	mkdir -p "$root/usr/share/man/man3" # Fedora has it
	list >"$root/before"
	rpm() { command rpm --root "$root" --dbpath /rpmdb "$@" 2>&1 | grep -v -e Alien -e assuming || true; }
	rpm -i --nodeps "$root/gostap.rpm"
	$in gostap execsnoop -c '/bin/echo started from an rpm'
	test -z "$(rpm -V --nodeps gostap)"
	rpm -i --nodeps "$root/fleet.rpm"
	$in gostap fleet --help | head -n 1
	rpm -e gostap-fleet
	rpm -e gostap
	rm -r "$root/rpmdb"
	list >"$root/after"
	diff "$root/before" "$root/after" || true
else
	echo left out: there is no rpm
fi
echo image
mkdir "$root/image" "$root/image/root"
tar -C "$root/image" -xf "$root/gostap.tar"
layer=$(ls -S "$root"/image/blobs/sha256/* | head -n 1)
tar -C "$root/image/root" -xzf "$layer"
mkdir "$root/image/root/proc" "$root/image/root/sys"
mount --rbind /proc "$root/image/root/proc"
mount --rbind /sys "$root/image/root/sys"
env -i PATH=/usr/sbin:/usr/bin:/bin HOME=/root chroot "$root/image/root" /usr/bin/gostap execsnoop -c '/usr/bin/gostap --version'
echo image of the fleet
mkdir -p "$root/fleet/image" "$root/fleet/root"
tar -C "$root/fleet/image" -xf "$root/fleet.tar"
for layer in $(sed 's/.*"Layers":\[\([^]]*\)\].*/\1/; s/[",]/ /g' "$root/fleet/image/manifest.json"); do
	tar -C "$root/fleet/root" -xzf "$root/fleet/image/$layer"
done
mount --bind "$root/fleet/root" "$root/fleet/root"
mount -o remount,ro,bind "$root/fleet/root"
in="env -i PATH=/usr/bin HOME=/ $(command -v chroot) --userspec=65532:65532 $root/fleet/root"
$in gostap-fleet run || true
code=0
timeout 1 $in gostap kube wait || code=$?
echo an agent that waits: $code
`
