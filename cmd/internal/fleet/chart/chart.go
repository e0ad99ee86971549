// Package chart is what a cluster needs of gostap-fleet and of gostap's agents as a chart for Helm, made of the same
// texts as the manifests.
//
// In: a version, as git describe has it. Out: the chart's files.
package chart

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/fleet/manifests"
	"github.com/gostap/gostap/cmd/internal/kube/agents"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// Version is gostap's, as git describe has it. The linker sets it.
var Version = "unknown"

// Name is the chart's.
const Name = "gostap-fleet"

// What the values are if nobody says otherwise.
const (
	image    = "gostap:latest"
	replicas = 2
	days     = 365
)

var (
	//go:embed head.tpl
	head string
	//go:embed values.yaml
	values string
	//go:embed notes.txt
	notes string
)

// File is one of a chart, by its path in it.
type File struct{ Name, Text string }

// chartYAML is Chart.yaml; its annotations are what registries of charts show.
const chartYAML = `apiVersion: v2
name: ` + Name + `
version: %s
appVersion: %q
type: application
description: Traces pods of a cluster for those who ask by a resource, Trace; agents on all nodes, and a controller
home: https://github.com/gostap/gostap
sources: [https://github.com/gostap/gostap]
keywords: [tracing, ebpf, systemtap, go]
kubeVersion: ">=1.25.0-0"
annotations: {licenses: MIT}
`

// Files are those of the chart for a version of gostap.
func Files(described string) ([]File, error) {
	schema, err := schema()
	if err != nil {
		return nil, err
	}
	top := "{{- $agents := .Values.agents.namespace | default .Release.Namespace }}\n"
	nodes := top + each(agents.Source, func(doc string) string {
		return "{{- if ne $agents .Release.Namespace }}\n" + doc + "\n{{- end }}"
	})
	// What there is with a port for metrics alone.
	told := func(text, value string) string {
		return "{{ with int ." + value + " }}" + strings.ReplaceAll(text, "{{PORT}}", "{{ . }}") + "{{ end }}"
	}
	const ofAgents, ofController = "Values.agents.metrics", "Values.metrics"
	nodes = strings.NewReplacer("{{NAMESPACE}}", "{{ $agents }}", "{{METRICS}}", told(agents.Metrics, ofAgents),
		"{{PORTS}}", told(agents.Ports, ofAgents),
		"{{IMAGE}}", "{{ .Values.agents.image | default .Values.image }}").Replace(nodes)
	// One file, since all that has the certificate in it has to have the same one. The namespace is helm's to make.
	fleet := head + each(manifests.Controller+"---\n"+manifests.Hooks, func(string) string { return "" })
	way := func(path string) string {
		return `{{ if .Values.url }}url: {{ printf "%s` + path + `" .Values.url | quote }}{{ else }}` +
			`service: {namespace: "{{ .Release.Namespace }}", name: ` + manifests.Name + `, path: ` + path + `}{{ end }}`
	}
	fleet = strings.NewReplacer("{{NAMESPACE}}", "{{ .Release.Namespace }}", "{{AGENTS}}", "{{ $agents }}",
		"{{IMAGE}}", "{{ .Values.image }}", "{{REPLICAS}}", "{{ int .Values.replicas }}", "{{CA}}", "{{ $tls.ca }}",
		"{{CERT}}", "{{ $tls.cert }}", "{{KEY}}", "{{ $tls.key }}", "{{HOST}}", "{{ $host }}",
		"{{RENEW}}", "{{ $tls.renew }}", "{{DIGEST}}", "{{ $tls.cert | sha256sum }}",
		"{{EXPORTS}}", `{{ range $n, $to := .Values.export }}, "--export", {{ printf "%s=%s" $n $to | quote }}{{ end }}`,
		"{{METRICS}}", told(agents.Metrics, ofController), "{{PORTS}}", told(manifests.Ports, ofController),
		"{{MUTATE}}", way(manifests.MutatePath), "{{VALIDATE}}", way(manifests.ValidatePath)).Replace(fleet)
	return []File{
		{"Chart.yaml", fmt.Sprintf(chartYAML, Semver(described), described)},
		{"crds/traces.yaml", manifests.CRD},
		{"templates/NOTES.txt", notes},
		{"templates/agents.yaml", nodes},
		{"templates/controller.yaml", fleet},
		{"templates/roles.yaml", manifests.Roles},
		{"values.schema.json", schema},
		{"values.yaml", strings.NewReplacer("{{IMAGE}}", image, "{{REPLICAS}}", strconv.Itoa(replicas),
			"{{DAYS}}", strconv.Itoa(days)).Replace(values)},
	}, nil
}

var namespace = regexp.MustCompile(`(?m)^kind: Namespace$`)

// each has namespaces in a text of several documents replaced.
func each(text string, replace func(doc string) string) string {
	var out []string
	for _, doc := range strings.Split(strings.TrimSuffix(text, "\n"), "\n---\n") {
		if namespace.MatchString(doc) {
			doc = replace(doc)
		}
		if doc != "" {
			out = append(out, doc)
		}
	}
	return strings.Join(out, "\n---\n") + "\n"
}

// schema is of the values. What the commands refuse it refuses, too.
func schema() (string, error) {
	type m = map[string]any
	object := func(properties m) m {
		return m{"type": "object", "additionalProperties": false, "properties": properties}
	}
	text := func(pattern string) m { return m{"type": "string", "pattern": pattern} }
	number := func(least, most int) m { return m{"type": "integer", "minimum": least, "maximum": most} }
	port := func(taken ...int) m {
		not := []m{{"minimum": 1, "maximum": agents.LowestPort - 1}}
		for _, p := range taken {
			not = append(not, m{"enum": []int{p}})
		}
		return m{"type": "integer", "minimum": 0, "maximum": agents.HighestPort, "not": m{"anyOf": not}}
	}
	all := object(m{
		"image":    text(agents.ImagePattern),
		"replicas": number(0, manifests.MaxReplicas),
		"url":      text("^$|" + manifests.URLPattern),
		"agents": object(m{"namespace": text("^$|" + agents.NamespacePattern),
			"image": text("^$|" + agents.ImagePattern), "metrics": port()}),
		"metrics":     port(manifests.Taken[:]...),
		"certificate": object(m{"days": number(1, 3650)}),
		// A session that is asked listens at one address, and several run at a time.
		"export": m{"type": "object", "propertyNames": text(asked.ExportPattern), "additionalProperties": m{
			"type": "string", "pattern": "://", "not": m{"pattern": "^prometheus:"}}},
		"global": m{"type": "object"}, // helm's own, of charts that have this one in them
	})
	all["$schema"] = "http://json-schema.org/draft-07/schema#"
	all["title"] = "Values of " + Name
	all["required"] = []string{"image", "replicas", "agents", "certificate"}
	b, err := json.MarshalIndent(all, "", "  ")
	return string(b) + "\n", err
}

// Write leaves the chart in a folder that is new, or has nothing in it.
func Write(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return slip.New(dir+" is not empty", "a chart is written into a new folder")
	case err != nil && !os.IsNotExist(err):
		return slip.Plain(err)
	}
	files, err := Files(Version)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return slip.Plain(err)
		}
		if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
			return slip.Plain(err)
		}
	}
	return nil
}
