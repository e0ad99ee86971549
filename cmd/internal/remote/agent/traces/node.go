package traces

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// kind is what a node of a file is.
type kind int

const (
	null kind = iota
	text
	whole // a number
	other // a number with a fraction
	truth
	object
	list
)

func (k kind) String() string {
	return [...]string{"nothing", "a text", "a whole number", "a number", "true or false", "an object", "a list"}[k]
}

// node is a part of a file, of YAML or JSON, with the place where it begins.
type node struct {
	line, col int
	kind      kind
	text      string // of all but objects and lists, as it is written
	number    int64
	truth     bool
	key       string  // of a field
	in        []*node // the fields or items
}

// deepest is how many objects and lists are inside each other: a Trace has five.
const deepest = 20

// fault is what is wrong at a place of a file.
type fault struct {
	line, col  int
	text, hint string
}

func (f *fault) Error() string { return f.text }

func (n *node) fault(hint, format string, args ...any) error {
	return &fault{n.line, n.col, fmt.Sprintf(format, args...), hint}
}

// tree reads a file of JSON or YAML.
func tree(b []byte, isJSON bool) (n *node, err error) {
	if i := bytes.IndexByte(b, 0); i >= 0 || !utf8.Valid(b) {
		return nil, &fault{text: "it is no text of UTF-8"}
	}
	if isJSON {
		r := &jsonReader{dec: json.NewDecoder(bytes.NewReader(b)), text: b}
		r.dec.UseNumber()
		if n, err = r.value(0); err == nil {
			if _, more := r.dec.Token(); more != io.EOF {
				err = r.at().fault("", "there is more behind the end")
			}
		}
		var at *fault
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = r.at().fault("", "it ends too early")
		}
		if err != nil && !errors.As(err, &at) {
			err = r.at().fault("", "it is no JSON: %v", strings.TrimPrefix(err.Error(), "invalid character "))
		}
		return n, err
	}
	defer func() {
		if x := recover(); x != nil {
			n, err = nil, &fault{text: fmt.Sprintf("it is no YAML that can be read: %v", x)}
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case err == io.EOF:
		return nil, &fault{text: "it is empty"}
	case err != nil:
		return nil, &fault{text: "it is no YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	if err := dec.Decode(&more); err != io.EOF {
		return nil, &fault{text: "it has more than one document", hint: "a file has one Trace"}
	}
	return fromYAML(&doc, 0)
}

// fromYAML takes what is the same in JSON: no references, no types of its own.
func fromYAML(y *yaml.Node, depth int) (*node, error) {
	n := &node{line: y.Line, col: y.Column, text: y.Value}
	if depth > deepest {
		return nil, n.fault("", "there are more than %d objects inside each other", deepest)
	}
	switch y.Kind {
	case yaml.DocumentNode:
		return fromYAML(y.Content[0], depth)
	case yaml.AliasNode:
		return nil, n.fault("write what it stands for", "*%s refers to another place, which is not taken here", y.Value)
	case yaml.SequenceNode:
		n.kind = list
		for _, c := range y.Content {
			item, err := fromYAML(c, depth+1)
			if err != nil {
				return nil, err
			}
			n.in = append(n.in, item)
		}
		return n, nil
	case yaml.MappingNode:
		n.kind = object
		for i := 0; i+1 < len(y.Content); i += 2 {
			k := y.Content[i]
			at := &node{line: k.Line, col: k.Column, key: k.Value}
			if k.Kind != yaml.ScalarNode {
				return nil, at.fault("", "a name is a word")
			}
			field, err := fromYAML(y.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			if err := n.add(at, field); err != nil {
				return nil, err
			}
		}
		return n, nil
	}
	var err error
	switch tag := y.ShortTag(); tag {
	case "!!null":
	case "!!str", "!!timestamp":
		n.kind = text
	case "!!bool":
		n.kind, n.truth = truth, strings.EqualFold(y.Value, "true")
	case "!!float":
		n.kind = other
	case "!!int":
		n.kind = whole
		if n.number, err = strconv.ParseInt(y.Value, 0, 64); err != nil {
			return nil, n.fault("", "%s is no number that is taken here", y.Value)
		}
	default:
		return nil, n.fault("", "a value of the type %s is not taken here", tag)
	}
	return n, nil
}

// add adds a field, whose place is that of its name.
func (n *node) add(name, field *node) error {
	for _, f := range n.in {
		if f.key == name.key {
			return name.fault("", "%s is there twice", name.key)
		}
	}
	if len(n.in) == 1000 {
		return name.fault("", "there are more than 1000 fields")
	}
	field.key, field.line, field.col = name.key, name.line, name.col
	n.in = append(n.in, field)
	return nil
}

// jsonReader makes nodes of JSON.
type jsonReader struct {
	dec  *json.Decoder
	text []byte
	// read bytes of it are counted: so many lines, and so many characters of the next one.
	read, line, col int
}

// at is a node without a value for the next token.
func (r *jsonReader) at() *node {
	next := min(int(r.dec.InputOffset()), len(r.text))
	rest := r.text[next:]
	next += len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
	for ; r.read < next; r.read++ { // each byte is counted once: a file may have many tokens
		switch c := r.text[r.read]; {
		case c == '\n':
			r.line, r.col = r.line+1, 0
		case utf8.RuneStart(c):
			r.col++
		}
	}
	return &node{line: r.line + 1, col: r.col + 1}
}

func (r *jsonReader) value(depth int) (*node, error) {
	n := r.at()
	if depth > deepest {
		return nil, n.fault("", "there are more than %d objects inside each other", deepest)
	}
	token, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case string:
		n.kind, n.text = text, v
	case bool:
		n.kind, n.truth = truth, v
	case json.Number:
		n.text = v.String()
		if n.kind = whole; strings.ContainsAny(n.text, ".eE") {
			n.kind = other
		} else if n.number, err = v.Int64(); err != nil {
			return nil, n.fault("", "%s is no number that is taken here", n.text)
		}
	case json.Delim:
		n.kind = list
		if v == '{' {
			n.kind = object
		}
		for r.dec.More() {
			name := r.at()
			if n.kind == object {
				k, err := r.dec.Token()
				if err != nil {
					return nil, err
				}
				name.key, _ = k.(string)
			}
			item, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			if n.kind == list {
				n.in = append(n.in, item)
			} else if err := n.add(name, item); err != nil {
				return nil, err
			}
		}
		if _, err := r.dec.Token(); err != nil { // its end
			return nil, err
		}
	}
	return n, nil
}
