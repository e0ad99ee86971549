package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"
)

// The list of what a command is made of, in the form of CycloneDX 1.5.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Ref        string     `json:"bom-ref"`
		Type       string     `json:"type"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Licences   []licence  `json:"licenses"`
		PURL       string     `json:"purl"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	licence struct {
		Licence struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn,omitempty"`
	}
)

// sbom says what a command is made of, as it says so itself (go version -m).
func sbom(info *buildinfo.BuildInfo, modules []module, digest [sha256.Size]byte, version string, at time.Time) ([]byte,
	error) {
	under := func(id string) []licence {
		var l licence
		l.Licence.ID = id
		return []licence{l}
	}
	name, purl := info.Main.Path, "pkg:golang/"+info.Main.Path+"@"+version
	if path.Base(info.Path) != path.Base(info.Main.Path) { // not the command that the module is named after
		name, purl = info.Path, purl+"#"+strings.TrimPrefix(info.Path, info.Main.Path+"/")
	}
	self := component{Type: "application", Name: name, Version: version, PURL: purl,
		Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", digest)}}, Licences: under("MIT"),
		Properties: []property{{"go:version", info.GoVersion}}}
	self.Ref = self.PURL
	for _, s := range info.Settings {
		if built[s.Key] != "" || strings.HasPrefix(s.Key, "GO") {
			self.Properties = append(self.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	b := bom{Format: "CycloneDX", Spec: "1.5", Version: 1, Components: []component{},
		Metadata: metadata{at.Format(time.RFC3339), self}, Dependencies: []dependency{{Ref: self.Ref}}}
	d := digest[:16] // a UUID of what the list is about: the same command has the same
	d[6], d[8] = d[6]&0x0f|0x80, d[8]&0x3f|0x80
	b.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", d[:4], d[4:6], d[6:8], d[8:10], d[10:])
	for _, m := range modules {
		purl, sum := "pkg:golang/"+m.path+"@"+m.version, "go:sum"
		if name, ok := strings.CutPrefix(m.path, npm); ok {
			purl, sum = "pkg:npm/"+name+"@"+m.version, "npm:integrity"
		}
		c := component{Ref: purl, Type: "library", Name: m.path, Version: m.version,
			Licences: under(m.licence), PURL: purl}
		if m.sum != "" {
			c.Properties = []property{{sum, m.sum}}
		}
		b.Components = append(b.Components, c)
		b.Dependencies[0].DependsOn = append(b.Dependencies[0].DependsOn, purl)
		b.Dependencies = append(b.Dependencies, dependency{Ref: purl})
	}
	out, err := json.MarshalIndent(b, "", "  ")
	return append(out, '\n'), err
}
