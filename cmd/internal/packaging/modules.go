package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// module is one that is linked, with what its licence says. The standard library is the module std.
type module struct {
	path, version, sum string
	licence            string // as SPDX has it
	texts              []text
}

// text is a file with a licence.
type text struct {
	name string
	data []byte
}

var licenceName = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying|^notice|^patents|^copyright`)

// both are the modules of two programs, each once.
func both(a, b []module) []module {
	for _, m := range b {
		if !slices.ContainsFunc(a, func(o module) bool { return o.path == m.path }) {
			a = append(a, m)
		}
	}
	return a
}

// linked gives the modules in a command, with their licences: those of the module, and of the folders on the way to
// packages that are linked.
func linked(info *buildinfo.BuildInfo) ([]module, error) {
	dirs, root, err := packageFolders(info.Path, info.Settings)
	if err != nil {
		return nil, err
	}
	std := module{path: "std", version: strings.TrimPrefix(info.GoVersion, "go")}
	if std.texts, err = licencesOf(root, []string{root}); err != nil {
		return nil, err
	}
	out := []module{std}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s, which is no release", d.Path, d.Replace.Path)
		}
		m := module{path: d.Path, version: d.Version, sum: d.Sum}
		at := dirs[d.Path+"@"+d.Version]
		if len(at) == 0 {
			return nil, fmt.Errorf("the command has %s %s linked, and go list does not: was it built of these sources?",
				d.Path, d.Version)
		}
		if m.texts, err = licencesOf(at[0], at[1:]); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	for _, dir := range dirs[""] {
		list, err := vendored(filepath.Join(dir, "vendored"))
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	for i := range out {
		m := &out[i]
		if len(m.texts) == 0 {
			return nil, fmt.Errorf("%s %s has no licence", m.path, m.version)
		}
		if m.licence = licenceOf(m.texts[0].data); m.licence == "" {
			return nil, fmt.Errorf("%s %s: %s is a licence that is not known: look at it, and name it in licenceOf",
				m.path, m.version, m.texts[0].name)
		}
	}
	return out, nil
}

// npm is in front of the names of what comes from there.
const npm = "npm:"

// vendored gives what a folder has from npm, by its package-lock.json; nothing if there is none.
func vendored(dir string) (out []module, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	if err := json.Unmarshal(b, &lock); err != nil {
		return nil, fmt.Errorf("%s: package-lock.json: %w", dir, err)
	}
	for _, path := range slices.Sorted(maps.Keys(lock.Packages)) {
		name, ok := strings.CutPrefix(path, "node_modules/")
		if !ok {
			continue
		}
		m := module{path: npm + name, version: lock.Packages[path].Version, sum: lock.Packages[path].Integrity}
		if m.texts, err = licencesOf(dir, nil); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// packageFolders asks go list which packages a command is made of: for each module, PATH@VERSION, its folder and then
// those of its packages, and for "" those of the command's own packages; and where Go itself is.
func packageFolders(command string, settings []debug.BuildSetting) (dirs map[string][]string, root string,
	err error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", command)
	cmd.Env = os.Environ()
	for _, s := range settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "CGO_ENABLED" {
			cmd.Env = append(cmd.Env, s.Key+"="+s.Value)
		}
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, "", fmt.Errorf("go list: %w\n%s", err, &errs)
	}
	dirs = map[string][]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir    string
			Module *struct{ Path, Version, Dir string }
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, "", err
		}
		if m := p.Module; m != nil && m.Version == "" {
			dirs[""] = append(dirs[""], p.Dir)
		} else if m != nil {
			key := m.Path + "@" + m.Version
			if dirs[key] == nil {
				dirs[key] = []string{m.Dir}
			}
			dirs[key] = append(dirs[key], p.Dir)
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	return dirs, strings.TrimSpace(string(goroot)), err
}

// licencesOf reads the files with licences in a module's folder and in those on the way to packages.
func licencesOf(root string, packages []string) ([]text, error) {
	seen := map[string]bool{}
	var folders []string
	for _, p := range append([]string{root}, packages...) {
		for ; len(p) >= len(root) && !seen[p]; p = filepath.Dir(p) {
			seen[p] = true
			folders = append(folders, p)
		}
	}
	slices.Sort(folders)
	var out []text
	for _, dir := range folders {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !licenceName.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
				continue
			}
			path := filepath.Join(dir, e.Name())
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return nil, err
			}
			out = append(out, text{name, data})
		}
	}
	return out, nil
}

// licenceOf names a licence as SPDX does, "" if it is none of those that are known.
func licenceOf(data []byte) string {
	words := strings.Join(strings.Fields(string(data)), " ")
	has := func(s string) bool { return strings.Contains(words, s) }
	switch {
	case has("Apache License Version 2.0"):
		return "Apache-2.0"
	case has("Permission is hereby granted, free of charge"):
		return "MIT"
	case has("Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"):
		return "ISC"
	case has("Redistribution and use in source and binary forms") && (has("Neither the name") ||
		has("Neither name") || has("names of its contributors may not be used")):
		return "BSD-3-Clause"
	case has("Redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	}
	return ""
}

// licenceTexts is the file LICENSES.
func licenceTexts(modules []module) []byte {
	var b bytes.Buffer
	b.WriteString("gostap itself is under the licence in the file LICENSE. These modules are linked into it:\n\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "  %s %s: %s\n", m.path, m.version, m.licence)
	}
	for _, m := range modules {
		for _, t := range m.texts {
			rule := strings.Repeat("=", 80)
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n%s\n\n%s", rule, m.path, m.version, t.name, rule, t.data)
		}
	}
	return b.Bytes()
}
