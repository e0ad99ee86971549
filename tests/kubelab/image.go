package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// imageName is what pods call an image.
func imageName(name string) string { return "localhost/" + name + ":lab" }

// loadImage has an image on nodes.
func (l *lab) loadImage(nodes []string, name, path string, entry []string) error {
	if len(nodes) == 0 {
		return hinted("there are no nodes", "kubelab up")
	}
	var layer bytes.Buffer
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case st.IsDir() && len(entry) == 0:
		return hinted(path+" is a folder, and nothing says what is started there",
			fmt.Sprintf("kubelab load-image %s %s /bin/PROGRAM", name, path))
	case st.IsDir():
		err = folderLayer(&layer, path)
	default:
		if len(entry) == 0 {
			entry = []string{"/" + name}
		}
		err = programLayer(&layer, name, path)
	}
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := writeImage(&archive, name, layer.Bytes(), entry); err != nil {
		return err
	}
	done := make(chan error)
	for _, node := range nodes {
		go func() { done <- l.ctr(node, bytes.NewReader(archive.Bytes()), "images", "import", "--local", "-") }()
	}
	for range nodes {
		err = errors.Join(err, <-done)
	}
	return err
}

func (l *lab) ctrArgs(node string, args ...string) []string {
	return append([]string{"--address", filepath.Join(l.run, node, "cri.sock"), "--namespace", "k8s.io"}, args...)
}

// ctr asks a node's containerd for something.
func (l *lab) ctr(node string, in io.Reader, args ...string) error {
	cmd := exec.Command(filepath.Join(l.bin, "ctr"), l.ctrArgs(node, args...)...)
	cmd.Stdin = in
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: ctr %s: %w\n%s", node, args[0], err, out)
	}
	return nil
}

// programLayer is the file system of an image that has one program, and a folder for temporary files.
func programLayer(w io.Writer, name, path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return hinted(fmt.Sprintf("%s is no program: %v", path, err),
			"an image is made of a static program, or of a folder")
	}
	defer f.Close()
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return hinted(path+" needs libraries, which the image would not have",
			"build it with CGO_ENABLED=0, or -static")
	}
	t := tar.NewWriter(w)
	for _, h := range []tar.Header{{Name: "tmp/", Mode: 0o1777, Typeflag: tar.TypeDir},
		{Name: "etc/", Mode: 0o755, Typeflag: tar.TypeDir}} {
		if err := t.WriteHeader(&h); err != nil {
			return err
		}
	}
	if err := writeFile(t, "etc/passwd", 0o644, []byte("root:x:0:0::/:/\n")); err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := addFile(t, name, path, st); err != nil {
		return err
	}
	return t.Close()
}

// folderLayer is a file system as a folder has it.
func folderLayer(w io.Writer, root string) error {
	t := tar.NewWriter(w)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return addFile(t, name, path, st)
	})
	return errors.Join(err, t.Close())
}

// addFile adds what is at a path, as root's.
func addFile(t *tar.Writer, name, path string, st fs.FileInfo) error {
	link := ""
	if st.Mode()&fs.ModeSymlink != 0 {
		var err error
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(st, link)
	if err != nil {
		return err
	}
	h.Name, h.Uid, h.Gid, h.Uname, h.Gname = name, 0, 0, "", ""
	if st.IsDir() {
		h.Name += "/"
	}
	if err := t.WriteHeader(h); err != nil || !st.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(t, f)
	return err
}

func writeFile(t *tar.Writer, name string, mode int64, text []byte) error {
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(text))}); err != nil {
		return err
	}
	_, err := t.Write(text)
	return err
}

// writeImage writes an image of one layer in the form that Docker saves images in.
func writeImage(w io.Writer, name string, layer []byte, entry []string) error {
	type object = map[string]any
	config, err := json.Marshal(object{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": object{"Entrypoint": entry, "Env": []string{"PATH=/usr/local/bin:/usr/bin:/bin:/"}},
		"rootfs": object{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return err
	}
	configName := fmt.Sprintf("%x.json", sha256.Sum256(config))
	index, err := json.Marshal([]object{{"Config": configName, "RepoTags": []string{imageName(name)},
		"Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	return errors.Join(writeFile(t, "manifest.json", 0o644, index), writeFile(t, configName, 0o644, config),
		writeFile(t, "layer.tar", 0o644, layer), t.Close())
}
