package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// decode reads values. Plain JSON gives what Helm's values have: float64, string, bool, []any, map[string]any, nil.
// An object with one key that starts with `$` is a value of the Go type it names:
//
//	{"$int": 5}  {"$int64": "5"}  {"$uint8": 5} …   integers, as numbers or strings
//	{"$float64": "+Inf"}                            floats that JSON cannot write
//	{"$bytes": "aGk="}                              []byte, from base64
//	{"$text": "aGk="}                               a string, from base64, for what is not UTF-8
//	{"$strings": […]}  {"$ints": […]}               []string, []int
//	{"$stringmap": {…}}                             map[string]string
//	{"$nilmap": 0}  {"$nillist": 0}                 typed nils
//	{"$time": "2026-01-02T03:04:05Z"}               time.Time
//	{"$duration": 1500000000}  {"$error": "text"}   time.Duration, error
func decode(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return nil, err
	}
	return typed(plain)
}

func typed(plain any) (any, error) {
	switch v := plain.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			value, err := typed(item)
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	case map[string]any:
		if len(v) == 1 {
			for key, inner := range v {
				if strings.HasPrefix(key, "$") {
					return notation(key[1:], inner)
				}
			}
		}
		table := make(map[string]any, len(v))
		for key, item := range v {
			value, err := typed(item)
			if err != nil {
				return nil, err
			}
			table[key] = value
		}
		return table, nil
	default:
		return plain, nil
	}
}

func notation(name string, inner any) (any, error) {
	switch name {
	case "float64":
		return strconv.ParseFloat(fmt.Sprint(inner), 64)
	case "bytes", "text":
		bytes, err := base64.StdEncoding.DecodeString(fmt.Sprint(inner))
		if name == "text" {
			return string(bytes), err
		}
		return bytes, err
	case "strings":
		return each(inner, func(item any) (string, error) { return fmt.Sprint(item), nil })
	case "ints":
		return each(inner, func(item any) (int, error) { return strconv.Atoi(number(item)) })
	case "stringmap":
		table := map[string]string{}
		entries, _ := inner.(map[string]any)
		for key, item := range entries {
			table[key] = fmt.Sprint(item)
		}
		return table, nil
	case "nilmap":
		return map[string]any(nil), nil
	case "nillist":
		return []any(nil), nil
	case "time":
		return time.Parse(time.RFC3339Nano, fmt.Sprint(inner))
	case "duration":
		n, err := strconv.ParseInt(number(inner), 10, 64)
		return time.Duration(n), err
	case "error":
		return errors.New(fmt.Sprint(inner)), nil
	default:
		return integer(name, number(inner))
	}
}

func each[T any](inner any, convert func(any) (T, error)) ([]T, error) {
	items, _ := inner.([]any)
	list := make([]T, len(items))
	for i, item := range items {
		value, err := convert(item)
		if err != nil {
			return nil, err
		}
		list[i] = value
	}
	return list, nil
}

// number writes a JSON number or string without an exponent.
func number(value any) string {
	if f, ok := value.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

func integer(name, text string) (any, error) {
	if strings.HasPrefix(name, "u") {
		n, err := strconv.ParseUint(text, 10, 64)
		switch name {
		case "uint":
			return uint(n), err
		case "uint8":
			return uint8(n), err
		case "uint16":
			return uint16(n), err
		case "uint32":
			return uint32(n), err
		case "uint64":
			return n, err
		}
		return nil, fmt.Errorf("unknown type %q", name)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch name {
	case "int":
		return int(n), err
	case "int8":
		return int8(n), err
	case "int16":
		return int16(n), err
	case "int32":
		return int32(n), err
	case "int64":
		return n, err
	}
	return nil, fmt.Errorf("unknown type %q", name)
}
