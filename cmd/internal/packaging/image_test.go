package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unpacked is an image as its archive has it: what containers begin with, the layers, its name.
type unpacked struct {
	Entrypoint, Env []string
	User            string
	layers          []map[string][]byte
	tag             string
}

// unpack reads the archive of an image, whose digests have to be right.
func unpack(t *testing.T, archive []byte) unpacked {
	t.Helper()
	in := untar(t, archive)
	blob := func(d descriptor) []byte {
		data := in["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		if fmt.Sprintf("sha256:%x", sha256.Sum256(data)) != d.Digest || len(data) != d.Size {
			t.Fatalf("%s: %d bytes", d.Digest, len(data))
		}
		return data
	}
	decode := func(data []byte, to any) {
		if err := json.Unmarshal(data, to); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
	}
	var index struct{ Manifests []descriptor }
	decode(in["index.json"], &index)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	decode(blob(index.Manifests[0]), &manifest)
	var config struct {
		Config unpacked
		RootFS struct {
			IDs []string `json:"diff_ids"`
		}
		History []any
	}
	decode(blob(manifest.Config), &config)
	var docker []struct {
		Config           string
		RepoTags, Layers []string
	}
	decode(in["manifest.json"], &docker)
	d, n := docker[0], len(manifest.Layers)
	if len(in[d.Config]) == 0 || len(d.Layers) != n || len(config.RootFS.IDs) != n || len(config.History) != n {
		t.Fatalf("%d layers, manifest.json: %v, config: %+v", n, docker, config)
	}
	out := config.Config
	for i, l := range manifest.Layers {
		packed := blob(l)
		if !bytes.Equal(in[d.Layers[i]], packed) {
			t.Errorf("manifest.json has another layer: %s", d.Layers[i])
		}
		plain := unzip(t, packed)
		if got := fmt.Sprintf("sha256:%x", sha256.Sum256(plain)); config.RootFS.IDs[i] != got {
			t.Errorf("the layer is %s, not %s", got, config.RootFS.IDs[i])
		}
		out.layers = append(out.layers, untar(t, plain))
	}
	out.tag = d.RepoTags[0]
	if a := index.Manifests[0].Annotations; a["io.containerd.image.name"] != "docker.io/library/"+out.tag ||
		!strings.HasSuffix(out.tag, ":"+a["org.opencontainers.image.ref.name"]) {
		t.Errorf("%s is %v", out.tag, a)
	}
	return out
}

// TestImages: images are what the specifications say, and have the programs and nothing to run beside them. That of
// gostap-fleet has the layer of the other below.
func TestImages(t *testing.T) {
	gostap := []file{{"bin/gostap", 0o755, []byte("the command")}, {"bin/gostap-export", 0o755, []byte("the other")},
		{"LICENSE", 0o644, []byte("text")}, {"LICENSES", 0o644, []byte("texts")},
		{"sbom.cdx.json", 0o644, []byte("{}")}, {"man/x.1.gz", 0o644, nil}}
	fleet := []file{{"bin/gostap-fleet", 0o755, []byte("the controller")}, {"LICENSE", 0o644, []byte("text")},
		{"LICENSES", 0o644, []byte("more texts")}, {"sbom.cdx.json", 0o644, []byte("[]")}, {"fleet.md", 0o644, nil}}
	build := func() (out [2][]byte) {
		t.Helper()
		r := release{out: t.TempDir(), version: "1.0~rc1+2.g1234567", machine: "machine", at: noon}
		if err := r.images(gostap, fleet); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"gostap", fleetName} {
			data, err := os.ReadFile(filepath.Join(r.out, name+"_1.0~rc1+2.g1234567_linux_machine.oci.tar"))
			if err != nil {
				t.Fatal(err)
			}
			out[i] = data
		}
		return out
	}
	made := build()
	if again := build(); !bytes.Equal(made[0], again[0]) || !bytes.Equal(made[1], again[1]) {
		t.Error("two images of the same are not the same")
	}
	one, both := unpack(t, made[0]), unpack(t, made[1])
	if one.Entrypoint[0] != "/usr/bin/gostap" || one.User != "" || one.tag != "gostap:1.0-rc1-2.g1234567" {
		t.Errorf("%+v", one)
	}
	if both.Entrypoint[0] != "/usr/bin/gostap-fleet" || both.User != "65532:65532" ||
		both.tag != "gostap-fleet:1.0-rc1-2.g1234567" {
		t.Errorf("%+v", both)
	}
	for _, i := range []unpacked{one, both} { // by their names alone
		if !slices.Contains(i.Env, "PATH=/usr/bin") {
			t.Errorf("%q", i.Env)
		}
	}
	// Who is not root cannot look into /root: a configuration there would be one that cannot be read.
	if !slices.Contains(both.Env, "HOME=/") {
		t.Errorf("%q", both.Env)
	}
	if len(one.layers) != 1 || len(both.layers) != 2 || !maps.EqualFunc(one.layers[0], both.layers[0], bytes.Equal) {
		t.Errorf("%d and %d layers", len(one.layers), len(both.layers))
	}
	whole := maps.Clone(both.layers[0])
	maps.Copy(whole, both.layers[1])
	for name, want := range map[string]string{"usr/bin/gostap": "the command", "usr/bin/gostap-export": "the other",
		"usr/bin/gostap-fleet": "the controller", "usr/share/doc/gostap/LICENSES": "texts",
		"usr/share/doc/gostap/sbom.cdx.json": "{}", "usr/share/doc/gostap-fleet/LICENSES": "more texts",
		"usr/share/doc/gostap-fleet/sbom.cdx.json": "[]"} {
		if string(whole[name]) != want {
			t.Errorf("%s is %q", name, whole[name])
		}
	}
	if !strings.Contains(string(whole["etc/passwd"]), "\ngostap:x:65532:") {
		t.Errorf("%s", whole["etc/passwd"])
	}
	var files []string
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		if !strings.HasSuffix(name, "/") {
			files = append(files, name)
		}
	}
	if len(files) != 10 {
		t.Errorf("the image has %q", files)
	}
}

// untar gives what an archive has; every entry has to be root's and of the time of the commit.
func untar(t *testing.T, b []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(noon) || h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s: %v, owner %d:%d", h.Name, h.ModTime, h.Uid, h.Gid)
		}
		if out[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}
