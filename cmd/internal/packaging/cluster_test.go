package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gostap/gostap/cmd/internal/fleet/chart"
)

func unzip(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestChartArchive: the archive is the chart of this version, and the same bytes each time.
func TestChartArchive(t *testing.T) {
	const described = "v1.2-rc1-3-gabcdef01"
	name, data, err := chartArchive(described, noon)
	if err != nil || name != "gostap-fleet-1.2.0-rc1+3.gabcdef01.tgz" {
		t.Fatalf("%s, %v", name, err)
	}
	if _, again, _ := chartArchive(described, noon); !bytes.Equal(data, again) {
		t.Error("two archives of the same are not the same")
	}
	in := untar(t, unzip(t, data))
	files, err := chart.Files(described)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if string(in["gostap-fleet/"+f.Name]) != f.Text {
			t.Errorf("%s is not in it", f.Name)
		}
	}
	var c struct{ Name, Version, AppVersion string }
	if err := yaml.Unmarshal(in["gostap-fleet/Chart.yaml"], &c); err != nil || c.AppVersion != described ||
		name != c.Name+"-"+c.Version+".tgz" || len(files) < 8 {
		t.Errorf("%+v, %v", c, err)
	}
	for path := range in {
		if !strings.HasPrefix(path, "gostap-fleet/") {
			t.Errorf("%s is in it", path)
		}
	}
}
