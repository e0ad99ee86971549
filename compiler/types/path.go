package types

// Path finds the way to the field of t called name: itself, or through anonymous members (C)
// and embedded fields (Go), the shallowest first.
func (t *Ctype) Path(name string) []Field {
	type way struct {
		t    *Ctype
		path []Field
	}
	level := []way{{t, nil}}
	seen := map[*Ctype]bool{t: true}
	for depth := 0; len(level) > 0 && depth < 8; depth++ {
		var next []way
		for _, w := range level {
			for _, f := range w.t.Fields() {
				path := append(append([]Field(nil), w.path...), f)
				if f.Name == name && name != "" {
					return path
				}
				if f.Name != "" && !f.Embedded || f.Type == nil {
					continue
				}
				et := f.Type
				if et.Kind == Pointer && f.Embedded {
					et = et.Elem()
				}
				if et != nil && (et.Kind == Struct || et.Kind == Union) && !seen[et] {
					seen[et] = true
					next = append(next, way{et, path})
				}
			}
		}
		level = next
	}
	return nil
}
