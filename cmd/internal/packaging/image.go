package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
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

// inImage is what the image has of a release, and where. There is nothing else in it but /tmp and /etc/passwd.
func inImage(files []file) []file {
	out := []file{
		{"etc/passwd", 0o644, []byte("root:x:0:0:root:/root:/nowhere\n")},
		{"root/", 0o700, nil},
		{"tmp/", 0o1777, nil},
	}
	for _, f := range files {
		switch f.name {
		case "bin/gostap", "bin/gostap-export":
			out = append(out, file{"usr/" + f.name, f.mode, f.data})
		case "LICENSE", "LICENSES", "sbom.cdx.json":
			out = append(out, file{"usr/share/doc/gostap/" + f.name, f.mode, f.data})
		}
	}
	return out
}

// containerImage is an image in an archive of both forms that are in use: an OCI layout, and what docker load reads.
func containerImage(files []file, version, machine string, at time.Time) ([]byte, error) {
	layer, err := tree(inImage(files), "", at)
	if err != nil {
		return nil, err
	}
	zipped, err := zip(layer)
	if err != nil {
		return nil, err
	}
	tag := strings.NewReplacer("~", "-", "+", "-").Replace(version)
	labels := map[string]string{
		"org.opencontainers.image.title":    "gostap",
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
	l := blob(layerType, zipped)
	c := blob(configType, text(map[string]any{
		"created": created, "architecture": machine, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/usr/bin/gostap"}, "WorkingDir": "/", "Labels": labels,
			"Env": []string{"PATH=/usr/bin", "HOME=/root"}},
		"rootfs": map[string]any{"type": "layers",
			"diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
		"history": []any{map[string]any{"created": created, "created_by": "make packages"}},
	}))
	m := blob(manifestType, text(map[string]any{"schemaVersion": 2, "mediaType": manifestType, "config": c,
		"layers": []descriptor{l}, "annotations": labels}))
	m.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag}
	in := func(d descriptor) string { return "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:") }
	out = append(out,
		file{"index.json", 0o644, text(map[string]any{"schemaVersion": 2, "mediaType": indexType,
			"manifests": []descriptor{m}})},
		file{"manifest.json", 0o644, text([]any{map[string]any{"Config": in(c), "RepoTags": []string{"gostap:" + tag},
			"Layers": []string{in(l)}}})})
	if failed != nil {
		return nil, failed
	}
	return tree(slices.Clip(out), "", at)
}
