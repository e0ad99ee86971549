package main

import (
	"time"

	"github.com/gostap/gostap/cmd/internal/fleet/chart"
)

// chartArchive is the chart for Helm, as helm package makes it but for times and owners, and its name.
func chartArchive(described string, at time.Time) (name string, data []byte, err error) {
	parts, err := chart.Files(described)
	if err != nil {
		return "", nil, err
	}
	var files []file
	for _, p := range parts {
		files = append(files, file{p.Name, 0o644, []byte(p.Text)})
	}
	data, err = tarball(files, chart.Name+"/", at)
	return chart.Name + "-" + chart.Semver(described) + ".tgz", data, err
}
