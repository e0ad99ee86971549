package gostap

import (
	"fmt"
	"reflect"
)

// Of is what values of a script can be as Go types.
type Of interface{ int64 | string | *Stats }

// Get gives a global that is no array: a number as int64, a string, or an aggregate as *Stats.
func Get[V Of](g Globals, name string) (v V, err error) {
	x, err := g.find(name, 0)
	if err != nil {
		return v, err
	}
	return as[V](name, &x.Elements[0])
}

// Map gives an array. K is int64 or string, or for several keys a struct with a field of these types for each, in
// order.
func Map[K comparable, V Of](g Globals, name string) (map[K]V, error) {
	t := reflect.TypeFor[K]()
	keys := 1
	if t.Kind() == reflect.Struct {
		keys = t.NumField()
		for i := range keys {
			if !t.Field(i).IsExported() {
				return nil, fmt.Errorf("field %s of %v is not exported", t.Field(i).Name, t)
			}
		}
	}
	x, err := g.find(name, keys)
	if err != nil {
		return nil, err
	}
	m := make(map[K]V, len(x.Elements))
	for i := range x.Elements {
		var k K
		to := reflect.ValueOf(&k).Elem()
		for n, from := range x.Elements[i].Key {
			field := to
			if t.Kind() == reflect.Struct {
				field = to.Field(n)
			}
			switch {
			case from.IsText && field.Kind() == reflect.String:
				field.SetString(from.Text)
			case !from.IsText && field.Kind() == reflect.Int64:
				field.SetInt(from.Int)
			default:
				return nil, fmt.Errorf("key %d of global %s is %s, not %v", n+1, name, from.what(), field.Type())
			}
		}
		if m[k], err = as[V](name, &x.Elements[i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// find gives a global with so many keys.
func (g Globals) find(name string, keys int) (Global, error) {
	x, ok := g[name]
	switch {
	case !ok:
		return x, fmt.Errorf("the script has no global %s", name)
	case x.Keys == keys:
		return x, nil
	case x.Keys == 0:
		return x, fmt.Errorf("global %s is no array", name)
	case keys == 0:
		return x, fmt.Errorf("global %s is an array: Map gives it", name)
	}
	return x, fmt.Errorf("global %s has %d keys, not %d", name, x.Keys, keys)
}

// as gives the value of an element.
func as[V Of](name string, e *Element) (v V, err error) {
	what := e.Value.what()
	if e.Stats != nil {
		what = "an aggregate"
	}
	switch to := any(&v).(type) {
	case *int64:
		if *to = e.Value.Int; e.Stats == nil && !e.Value.IsText {
			return v, nil
		}
	case *string:
		if *to = e.Value.Text; e.Value.IsText {
			return v, nil
		}
	case **Stats:
		if *to = e.Stats; e.Stats != nil {
			return v, nil
		}
	}
	return v, fmt.Errorf("global %s holds %s, not %T", name, what, v)
}

// what says what a value is.
func (v Value) what() string {
	if v.IsText {
		return "a string"
	}
	return "a number"
}
