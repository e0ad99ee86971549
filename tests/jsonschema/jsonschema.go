// Package jsonschema holds JSON against a schema: the part of draft 2020-12 that our schemas use. A word that it does
// not know is an error, so that no part of a schema goes unchecked.
//
// In: the text of a schema, texts. Out: what is wrong with them, by its path.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
)

// Schema is a schema that was read.
type Schema struct {
	root     map[string]any
	patterns map[string]*regexp.Regexp
}

// Read reads a schema.
func Read(text string) (*Schema, error) {
	v, err := decode([]byte(text))
	root, ok := v.(map[string]any)
	if err == nil && !ok {
		err = fmt.Errorf("the schema is no object")
	}
	return &Schema{root, map[string]*regexp.Regexp{}}, err
}

// decode reads one value; numbers stay as they are written.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one value")
	}
	return v, nil
}

// Check holds a text against the schema and gives its value.
func (s *Schema) Check(text []byte) (any, error) {
	v, err := decode(text)
	if err != nil {
		return nil, err
	}
	return v, s.check("", s.root, v)
}

func (s *Schema) check(at string, schema map[string]any, v any) error {
	object, _ := v.(map[string]any)
	list, _ := v.([]any)
	for word, want := range schema {
		var err error
		switch word {
		case "$schema", "$defs", "title", "description":
		case "$ref":
			defs := s.root["$defs"].(map[string]any)
			err = s.check(at, defs[strings.TrimPrefix(want.(string), "#/$defs/")].(map[string]any), v)
		case "oneOf":
			err = s.oneOf(at, want.([]any), v)
		case "const":
			err = unless(reflect.DeepEqual(v, want), at, "is %v and not %v", v, want)
		case "enum":
			found := false
			for _, w := range want.([]any) {
				found = found || reflect.DeepEqual(v, w)
			}
			err = unless(found, at, "is none of %v", want)
		case "type":
			err = unless(is(v, want.(string)), at, "is %v and no %s", v, want)
		case "pattern":
			re := s.patterns[want.(string)]
			if re == nil {
				re = regexp.MustCompile(want.(string))
				s.patterns[want.(string)] = re
			}
			text, _ := v.(string)
			err = unless(re.MatchString(text), at, "is %q, which %s does not match", text, want)
		case "minimum":
			n, _ := v.(json.Number)
			a, _ := n.Float64()
			b, _ := want.(json.Number).Float64()
			err = unless(a >= b, at, "is %v, less than %v", v, want)
		case "required":
			for _, name := range want.([]any) {
				if _, ok := object[name.(string)]; !ok {
					return fmt.Errorf("%s: there is no %s", at, name)
				}
			}
		case "properties":
			for name, sub := range want.(map[string]any) {
				if member, ok := object[name]; ok && err == nil {
					err = s.check(at+"/"+name, sub.(map[string]any), member)
				}
			}
		case "additionalProperties":
			err = s.others(at, schema, want, object)
		case "items":
			for i, e := range list {
				if err == nil {
					err = s.check(fmt.Sprintf("%s/%d", at, i), want.(map[string]any), e)
				}
			}
		default:
			err = fmt.Errorf("%s: the schema says %s, which is not known here", at, word)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) oneOf(at string, choices []any, v any) error {
	n := 0
	var why []string
	for _, c := range choices {
		if err := s.check(at, c.(map[string]any), v); err != nil {
			why = append(why, err.Error())
		} else {
			n++
		}
	}
	return unless(n == 1, at, "is %d of the choices: %s", n, strings.Join(why, "; "))
}

// others checks the members that the schema does not name.
func (s *Schema) others(at string, schema map[string]any, want any, object map[string]any) error {
	named, _ := schema["properties"].(map[string]any)
	for name, member := range object {
		if _, ok := named[name]; ok {
			continue
		}
		sub, ok := want.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: no member is called %s", at, name)
		}
		if err := s.check(at+"/"+name, sub, member); err != nil {
			return err
		}
	}
	return nil
}

func unless(ok bool, at, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
}

func is(v any, kind string) bool {
	switch v := v.(type) {
	case map[string]any:
		return kind == "object"
	case []any:
		return kind == "array"
	case string:
		return kind == "string"
	case json.Number:
		return kind == "number" || kind == "integer" && !strings.ContainsAny(v.String(), ".eE")
	}
	return false
}
