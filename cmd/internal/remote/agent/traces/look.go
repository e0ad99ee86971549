package traces

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/asked"
)

// look looks at what is in the directory.
func (k *Keeper) look() {
	k.looked = time.Now()
	k.forgotten()
	k.notes.watch()
	dir, err := openDir(k.Dir)
	if errors.Is(err, unix.ENOENT) {
		k.trouble(k.Dir, nil)
		k.seen = true
		for _, t := range k.traces {
			t.there = false
		}
		return
	}
	var names []string
	var more bool
	if err == nil {
		defer dir.Close()
		names, more, err = entries(dir)
	}
	if err != nil {
		// What runs goes on: it is as it was when the directory was good.
		k.trouble(k.Dir, fmt.Errorf("nothing is taken from there: %w", err))
		return
	}
	k.trouble(k.Dir, nil)
	text := ""
	if k.seen = true; more {
		text = fmt.Sprintf("WARNING: %s has more than %d files: not all of them are looked at", k.Dir, mostEntries)
	}
	k.tell("entries", text)
	files, left, odd := map[string]string{}, 0, map[string]bool{}
	strange := func(file, why string) {
		if odd[file] = true; !k.odd[file] {
			k.Log(fmt.Sprintf("WARNING: %s is not taken: %s", filepath.Join(k.Dir, file), why))
		}
	}
	if more { // the files that are taken are among them, wherever the directory has its end
		for _, t := range k.traces {
			if _, err := look(dir, t.file); t.there && err == nil {
				names = append(names, t.file)
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	room := mostFiles
	for _, file := range names {
		if t := k.traces[nameOf(file)]; t != nil && t.there && t.file == file {
			files[t.name] = file
			room--
		}
	}
	for _, file := range names {
		name := nameOf(file)
		switch {
		case name == "":
			strange(file, "a Trace is in NAME.yaml, NAME.yml or NAME.json, a script in NAME.stp")
		case files[name] == file:
		case files[name] != "":
			strange(file, "there is "+files[name]+", and both would be the trace "+name)
		case room == 0:
			left++
		default:
			files[name] = file
			room--
		}
	}
	k.odd = odd
	text = ""
	if left > 0 {
		text = fmt.Sprintf("WARNING: %s has more than %d Traces: %d are not taken", k.Dir, mostFiles, left)
	}
	k.tell("left", text)
	for name, t := range k.traces {
		if files[name] == "" {
			t.there = false
		}
	}
	for name, file := range files {
		t := k.traces[name]
		if t == nil {
			t = &trace{name: name}
			k.traces[name] = t
		}
		now, err := look(dir, file)
		if err != nil {
			t.there = false
			continue
		}
		if now != t.stamp || file != t.file || !t.there {
			if t.taken || !t.there {
				t.changes = time.Now()
			}
			t.stamp, t.file, t.there, t.since, t.taken = now, file, true, time.Now(), false
		}
		if !t.taken && time.Since(t.since) >= settled {
			k.take(t, dir)
		}
		if !t.taken { // it is looked at again before the directory's time
			if time.Since(t.changes) > longChange {
				k.tell("trace "+name+": file", "trace "+name+": waits until "+file+" is written")
			}
			k.looked = time.Now().Add(settled + tick - every)
		}
	}
}

// take reads a file that has not changed for a while.
func (k *Keeper) take(t *trace, dir *os.File) {
	b, err := take(dir, t.file, t.stamp)
	if errors.Is(err, errBusy) || errors.Is(err, unix.ENOENT) {
		return
	}
	k.tell("trace "+t.name+": file", "")
	t.taken = true
	var spec *Trace
	digest := ""
	if err == nil {
		sum := sha256.Sum256(b)
		if digest = hex.EncodeToString(sum[:]); digest == t.digest {
			return // it was touched
		}
		spec, err = Parse(t.file, b)
	}
	if err == nil && spec.Guru && !k.Guru {
		err = asked.Refuse(t.file+": error: spec.guru: this agent runs no Traces that change what they trace",
			"gostap agent --guru")
	}
	if err == nil {
		var no *asked.Refusal
		if _, err = k.Exports.Of("gostap agent", spec.Export); errors.As(err, &no) {
			err = asked.Refuse(t.file+": error: spec.export: "+no.Text, "")
		}
	}
	t.digest, t.spec, t.tried, t.refused = digest, spec, err != nil, ""
	if err != nil {
		t.refused = refusal(err)
	}
}
