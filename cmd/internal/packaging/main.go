// Command packaging makes what is released of a built gostap: packages for Debian and Fedora, a tar ball, an image for
// containers, with the licences of all that is linked, a list of it (SBOM) and digests; a chart for Helm, a manifest
// for Krew. make packages runs it.
//
// In: the command, its manual pages and completions, SOURCE_DATE_EPOCH. Out: files, which are the same bytes whenever
// and wherever they are made of the same commit by the same release of Go.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	var r release
	flag.StringVar(&r.binary, "binary", "bin/gostap", "the command, statically linked")
	flag.StringVar(&r.export, "export", "bin/gostap-export", "what delivers results, statically linked")
	flag.StringVar(&r.made, "made", "bin", "where man/*, completion.bash, .zsh and .fish are")
	flag.StringVar(&r.out, "out", "bin/packages", "where packages go; what is there is removed")
	flag.StringVar(&r.described, "version", "", "what git describe says")
	flag.StringVar(&r.url, "url", "https://releases.example/gostap", "where archives will be, for the manifest of Krew")
	nfpm := flag.String("nfpm", "", "the words of the command that runs nfpm")
	flag.Parse()
	if err := r.make(strings.Fields(*nfpm)); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

// release is what packages are made of.
type release struct {
	binary, export string
	made, out      string
	url            string // below which files will be
	described      string // the version as git describe has it
	version        string // as packages have it
	at             time.Time
}

// source is where what does not have to be made lies, seen from the top folder.
const source = "cmd/internal/packaging/"

func (r *release) make(nfpm []string) error {
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH has to be the time of the commit, in seconds: %w", err)
	}
	r.at = time.Unix(epoch, 0).UTC()
	if r.version, err = packageVersion(r.described, r.at); err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(r.binary)
	if err != nil {
		return err
	}
	machine, err := machineOf(info)
	if err != nil {
		return fmt.Errorf("%s %w", r.binary, err)
	}
	modules, err := linked(info)
	if err != nil {
		return err
	}
	// Of two programs the modules are those of both.
	beside, err := buildinfo.ReadFile(r.export)
	if err != nil {
		return err
	}
	if other, err := machineOf(beside); err != nil || other != machine {
		return fmt.Errorf("%s is for %s: %w", r.export, other, err)
	}
	more, err := linked(beside)
	if err != nil {
		return err
	}
	modules = both(modules, more)
	files, err := r.files(info, modules)
	if err != nil {
		return err
	}
	name := "gostap_" + r.version + "_linux_" + machine
	ball, err := tarball(files, name+"/", r.at)
	if err != nil {
		return err
	}
	image, err := containerImage(files, r.version, machine, r.at)
	if err != nil {
		return err
	}
	stage := filepath.Join(r.out, "stage")
	for _, f := range files {
		if err := write(filepath.Join(stage, f.name), f.data, f.mode, r.at); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(r.out, name+".tar.gz"), ball, 0o644, r.at); err != nil {
		return err
	}
	if err := write(filepath.Join(r.out, name+".oci.tar"), image, 0o644, r.at); err != nil {
		return err
	}
	title, packed, err := chartArchive(r.described, r.at)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(r.out, title), packed, 0o644, r.at); err != nil {
		return err
	}
	plugin, err := krewManifest(r.described, r.url, []archive{{machine, name + ".tar.gz", ball}})
	if err != nil {
		return err
	}
	if err := write(filepath.Join(r.out, "gostap.krew.yaml"), plugin, 0o644, r.at); err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		if len(nfpm) == 0 {
			break
		}
		cmd := exec.Command(nfpm[0], slices.Concat(nfpm[1:], []string{"package", "--config", source + "nfpm.yaml",
			"--packager", kind, "--target", r.out})...)
		cmd.Env = append(os.Environ(), "VERSION="+r.version, "STAGE="+stage, "ARCH="+machine)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
		}
	}
	if err := os.RemoveAll(stage); err != nil {
		return err
	}
	return digests(r.out)
}

// built is how the command in packages is built.
var built = map[string]string{
	"GOOS": "linux", "CGO_ENABLED": "0", "-trimpath": "true",
}

// machineOf is the machine that a command is for, as Go names it. A command that is not static, or has paths of where
// it was built, is refused.
func machineOf(info *buildinfo.BuildInfo) (machine string, err error) {
	want := maps.Clone(built)
	for _, s := range info.Settings {
		if s.Value == want[s.Key] {
			delete(want, s.Key)
		}
		if s.Key == "GOARCH" {
			machine = s.Value
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		return "", fmt.Errorf("was not built with %s=%s", key, want[key])
	}
	return machine, nil
}

// file is one of a release. Its name is the path below the top folder of a tar ball.
type file struct {
	name string
	mode os.FileMode
	data []byte
}

// files are all that a release has.
func (r *release) files(info *buildinfo.BuildInfo, modules []module) ([]file, error) {
	var files []file
	var failed error
	add := func(name, path string, mode os.FileMode) {
		data, err := os.ReadFile(path)
		failed = cmp.Or(failed, err)
		files = append(files, file{name, mode, data})
	}
	add("bin/gostap", r.binary, 0o755)
	add("bin/gostap-export", r.export, 0o755)
	pages, _ := filepath.Glob(filepath.Join(r.made, "man", "*.[1-9]"))
	if len(pages) == 0 {
		return nil, fmt.Errorf("no manual pages in %s", filepath.Join(r.made, "man"))
	}
	for _, p := range pages {
		data, err := os.ReadFile(p)
		failed = cmp.Or(failed, err)
		zipped, err := zip(data)
		failed = cmp.Or(failed, err)
		files = append(files, file{"man/" + filepath.Base(p) + ".gz", 0o644, zipped})
	}
	for _, s := range []string{"bash", "zsh", "fish"} {
		add("completion/gostap."+s, filepath.Join(r.made, "completion."+s), 0o644)
	}
	for _, unit := range []string{"gostap@.service", "gostap-agent.service"} {
		add("systemd/"+unit, source+unit, 0o644)
	}
	add("README.md", "README.md", 0o644)
	add("CHANGELOG.md", "CHANGELOG.md", 0o644)
	add("packages.md", "docs/packages.md", 0o644)
	add("LICENSE", "LICENSE", 0o644)
	if failed != nil {
		return nil, failed
	}
	bom, err := sbom(info, modules, sha256.Sum256(files[0].data), r.described, r.at)
	files = append(files, file{"LICENSES", 0o644, licenceTexts(modules)}, file{"sbom.cdx.json", 0o644, bom},
		file{"VERSION", 0o644, []byte(r.described + "\n")})
	return files, err
}

func zip(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}

func write(path string, data []byte, mode os.FileMode, at time.Time) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		return err
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		return err
	}
	return os.Chtimes(path, at, at)
}

// digests leaves SHA256SUMS of what is in a folder there.
func digests(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), b.Bytes(), 0o644)
}
