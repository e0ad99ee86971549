package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// program is one that was built, and what is linked into it.
type program struct {
	file    file
	info    *buildinfo.BuildInfo
	machine string
	modules []module
}

// look reads a program.
func look(path string) (*program, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := &program{file: file{"bin/" + filepath.Base(path), 0o755, data}}
	if p.info, err = buildinfo.ReadFile(path); err != nil {
		return nil, err
	}
	if p.machine, err = machineOf(p.info); err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	if p.modules, err = linked(p.info); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// built is how the programs in packages are built.
var built = map[string]string{
	"GOOS": "linux", "CGO_ENABLED": "0", "-trimpath": "true",
}

// machineOf is the machine that a program is for, as Go names it. A program that is not static, or has paths of where
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

// about are the files about a program and these modules: licences, the list of what it is made of, the version.
func (p *program) about(modules []module, described string, at time.Time) ([]file, error) {
	bom, err := sbom(p.info, modules, sha256.Sum256(p.file.data), described, at)
	return []file{{"LICENSES", 0o644, licenceTexts(modules)}, {"sbom.cdx.json", 0o644, bom},
		{"VERSION", 0o644, []byte(described + "\n")}}, err
}
