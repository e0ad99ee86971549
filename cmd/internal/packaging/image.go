package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Names of forms of the Open Container Initiative.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// image is what containers are made of: layers, each over the one before, and the program that runs if none is said.
type image struct {
	name   string // and that of the program
	user   string // by number, "" is root
	home   string
	layers []layer
}

// layer is one of an image: the digest of its files, and the files packed.
type layer struct {
	digest string
	packed []byte
}

func newLayer(files []file, at time.Time) (layer, error) {
	plain, err := tree(files, "", at)
	if err != nil {
		return layer{}, err
	}
	packed, err := zip(plain)
	return layer{fmt.Sprintf("sha256:%x", sha256.Sum256(plain)), packed}, err
}

// inImage is what an image has of a release, and where.
func inImage(name string, files []file) (out []file) {
	for _, f := range files {
		switch {
		case strings.HasPrefix(f.name, "bin/"):
			out = append(out, file{"usr/" + f.name, f.mode, f.data})
		case f.name == "LICENSE" || f.name == "LICENSES" || f.name == "sbom.cdx.json":
			out = append(out, file{"usr/share/doc/" + name + "/" + f.name, f.mode, f.data})
		}
	}
	return out
}

const rootUser = "root:x:0:0:root:/root:/nowhere\n"

// gostapLayer is all that there is in the image of gostap: beside it nothing but /tmp and /etc/passwd.
func gostapLayer(files []file, at time.Time) (layer, error) {
	return newLayer(append([]file{
		{"etc/passwd", 0o644, []byte(rootUser)},
		{"root/", 0o700, nil},
		{"tmp/", 0o1777, nil},
	}, inImage("gostap", files)...), at)
}

// fleetUser is who the controller runs as.
const fleetUser = "65532"

// fleetLayer is what the image of gostap-fleet has over that of gostap.
func fleetLayer(files []file, at time.Time) (layer, error) {
	return newLayer(append([]file{
		{"etc/passwd", 0o644, []byte(rootUser + "gostap:x:" + fleetUser + ":" + fleetUser + ":gostap:/:/nowhere\n")},
	}, inImage(fleetName, files)...), at)
}

// archive is an image in an archive of both forms that are in use: an OCI layout, and what docker load reads.
func (i *image) archive(version, machine string, at time.Time) ([]byte, error) {
	tag := strings.NewReplacer("~", "-", "+", "-").Replace(version)
	labels := map[string]string{
		"org.opencontainers.image.title":    i.name,
		"org.opencontainers.image.version":  version,
		"org.opencontainers.image.licenses": "MIT",
		"org.opencontainers.image.source":   "https://github.com/gostap/gostap",
	}
	created := at.Format(time.RFC3339)
	out := []file{{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)}}
	blob := func(kind string, data []byte) descriptor {
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		out = append(out, file{"blobs/sha256/" + sum, 0o644, data})
		return descriptor{MediaType: kind, Digest: "sha256:" + sum, Size: len(data)}
	}
	var failed error
	text := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			failed = err
		}
		return b
	}
	in := func(d descriptor) string { return "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:") }
	var packed []descriptor
	var digests, paths []string
	var history []any
	for _, l := range i.layers {
		d := blob(layerType, l.packed)
		packed, digests, paths = append(packed, d), append(digests, l.digest), append(paths, in(d))
		history = append(history, map[string]any{"created": created, "created_by": "make packages"})
	}
	config := map[string]any{"Entrypoint": []string{"/usr/bin/" + i.name}, "WorkingDir": "/", "Labels": labels,
		"Env": []string{"PATH=/usr/bin", "HOME=" + i.home}}
	if i.user != "" {
		config["User"] = i.user + ":" + i.user
	}
	c := blob(configType, text(map[string]any{
		"created": created, "architecture": machine, "os": "linux", "config": config,
		"rootfs":  map[string]any{"type": "layers", "diff_ids": digests},
		"history": history,
	}))
	m := blob(manifestType, text(map[string]any{"schemaVersion": 2, "mediaType": manifestType, "config": c,
		"layers": packed, "annotations": labels}))
	// containerd has no name of an image but this, docker and podman take that of manifest.json.
	m.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag,
		"io.containerd.image.name": "docker.io/library/" + i.name + ":" + tag}
	out = append(out,
		file{"index.json", 0o644, text(map[string]any{"schemaVersion": 2, "mediaType": indexType,
			"manifests": []descriptor{m}})},
		file{"manifest.json", 0o644, text([]any{map[string]any{"Config": in(c),
			"RepoTags": []string{i.name + ":" + tag}, "Layers": paths}})})
	if failed != nil {
		return nil, failed
	}
	return tree(out, "", at)
}
