// Command packaging makes what is released of a built gostap and gostap-fleet: of each packages for Debian and Fedora,
// a tar ball, an image for containers, with the licences of all that is linked, a list of it (SBOM) and digests; a
// chart for Helm, a manifest for Krew. make packages runs it.
//
// In: the programs, manual pages and completions, SOURCE_DATE_EPOCH. Out: files, which are the same bytes whenever and
// wherever they are made of the same commit by the same release of Go.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gostap/gostap/cmd/internal/fleet/chart"
)

func main() {
	var r release
	flag.StringVar(&r.binary, "binary", "bin/gostap", "the command, statically linked")
	flag.StringVar(&r.export, "export", "bin/gostap-export", "what delivers results, statically linked")
	flag.StringVar(&r.fleet, "fleet", "bin/gostap-fleet", "what is about clusters of Kubernetes, statically linked")
	flag.StringVar(&r.made, "made", "bin", "where man/*, man-fleet/*, completion.bash, .zsh and .fish are")
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
	binary, export, fleet string
	made, out             string
	url                   string // below which files will be
	described             string // the version as git describe has it
	version               string // as packages have it
	machine               string // as Go names it
	at                    time.Time
}

// source is where what does not have to be made lies, seen from the top folder.
const source = "cmd/internal/packaging/"

// fleetName is that of the packages, the image and the chart for clusters.
const fleetName = chart.Name

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
	var programs []*program
	for _, path := range []string{r.binary, r.export, r.fleet} {
		p, err := look(path)
		if err != nil {
			return err
		}
		if programs = append(programs, p); p.machine != programs[0].machine {
			return fmt.Errorf("%s is for %s, and %s for %s", path, p.machine, r.binary, programs[0].machine)
		}
	}
	r.machine = programs[0].machine
	files, err := r.gostapFiles(programs[0], programs[1])
	if err != nil {
		return err
	}
	more, err := r.fleetFiles(programs[2])
	if err != nil {
		return err
	}
	ball, err := r.packages("gostap", files, nfpm)
	if err != nil {
		return err
	}
	if _, err := r.packages(fleetName, more, nfpm); err != nil {
		return err
	}
	if err := r.images(files, more); err != nil {
		return err
	}
	title, packed, err := chartArchive(r.described, r.at)
	if err != nil {
		return err
	}
	if err := r.write(title, packed); err != nil {
		return err
	}
	plugin, err := krewManifest(r.described, r.url, []archive{ball})
	if err != nil {
		return err
	}
	if err := r.write("gostap.krew.yaml", plugin); err != nil {
		return err
	}
	return digests(r.out)
}

// title is what the name of an archive begins with.
func (r *release) title(name string) string { return name + "_" + r.version + "_linux_" + r.machine }

func (r *release) write(name string, data []byte) error {
	return write(filepath.Join(r.out, name), data, 0o644, r.at)
}

// packages makes of files a tar ball, which it gives, and packages by the file of this name for nfpm.
func (r *release) packages(name string, files []file, nfpm []string) (archive, error) {
	title := r.title(name)
	ball, err := tarball(files, title+"/", r.at)
	if err != nil {
		return archive{}, err
	}
	if err := r.write(title+".tar.gz", ball); err != nil {
		return archive{}, err
	}
	stage := filepath.Join(r.out, "stage")
	for _, f := range files {
		if err := write(filepath.Join(stage, f.name), f.data, f.mode, r.at); err != nil {
			return archive{}, err
		}
	}
	for _, kind := range []string{"deb", "rpm"} {
		if len(nfpm) == 0 {
			break
		}
		cmd := exec.Command(nfpm[0], slices.Concat(nfpm[1:], []string{"package", "--config", source + name + ".yaml",
			"--packager", kind, "--target", r.out})...)
		cmd.Env = append(os.Environ(), "VERSION="+r.version, "STAGE="+stage, "ARCH="+r.machine)
		if out, err := cmd.CombinedOutput(); err != nil {
			return archive{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
		}
	}
	return archive{r.machine, title + ".tar.gz", ball}, os.RemoveAll(stage)
}

// images makes that of gostap, and over the same layer that of gostap-fleet.
func (r *release) images(files, fleet []file) error {
	below, err := gostapLayer(files, r.at)
	if err != nil {
		return err
	}
	above, err := fleetLayer(fleet, r.at)
	if err != nil {
		return err
	}
	for _, i := range []image{
		{name: "gostap", home: "/root", layers: []layer{below}},
		// Whoever has no rights finds no configuration there, rather than one that cannot be read.
		{name: fleetName, user: fleetUser, home: "/", layers: []layer{below, above}},
	} {
		data, err := i.archive(r.version, r.machine, r.at)
		if err != nil {
			return err
		}
		if err := r.write(r.title(i.name)+".oci.tar", data); err != nil {
			return err
		}
	}
	return nil
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
