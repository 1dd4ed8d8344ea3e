package main

import (
	"fmt"
	"go/ast"
	"io"
	"path"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// scalars are the types that the table knows by a word, because they are written in a way of their own.
var scalars = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "microtime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "fields",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "intorstring",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "quantity",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "raw",
	"k8s.io/apimachinery/pkg/runtime.Object":                                                "raw",
	"encoding/json.RawMessage":                                                              "json",
	"k8s.io/apimachinery/pkg/watch.EventType":                                               "string",
	"k8s.io/apimachinery/pkg/types.UID":                                                     "string:types.UID",
	"k8s.io/apimachinery/pkg/types.NodeName":                                                "string:types.NodeName",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "json",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "schemaorarray",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "schemaorbool",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "schemaorstrings",
}

// Writer prints one package.
type Writer struct {
	out      io.Writer
	packages map[string]*Package
	here     *Package
	lenient  bool // leave out fields whose type is not of the wire
}

func (w *Writer) write() error {
	version := path.Base(w.here.id)
	if w.here.group != "" {
		version = w.here.group + "/" + version
	}
	fmt.Fprintf(w.out, "@ %s %s\n", w.here.id, version)
	sort.Slice(w.here.types, func(i, j int) bool { return w.here.types[i].name < w.here.types[j].name })
	for _, typ := range w.here.types {
		if _, ok := scalars[w.here.path+"."+typ.name]; ok || !ast.IsExported(typ.name) {
			continue
		}
		if err := w.declare(typ); err != nil {
			return fmt.Errorf("%s.%s: %w", w.here.id, typ.name, err)
		}
	}
	return nil
}

func (w *Writer) declare(typ *Type) error {
	switch expr := typ.expr.(type) {
	case *ast.StructType:
		return w.structure(typ, expr)
	case *ast.SelectorExpr:
		// `type List metav1.List`: the same struct under another name.
		if pkg, name := w.selected(typ, expr); pkg != nil {
			if target := pkg.byName[name]; target != nil {
				if body, ok := target.expr.(*ast.StructType); ok {
					alias := &Writer{out: w.out, packages: w.packages, here: pkg}
					return alias.renamed(typ.name, target, body, w.here)
				}
			}
		}
	case *ast.InterfaceType, *ast.FuncType:
		return nil
	}
	text, err := w.typeOf(typ, typ.expr)
	if err != nil {
		return nil // not a type of the wire
	}
	name := typ.name
	if typ.markers.has("protobuf.nullable") {
		name += " w"
	}
	line := "= " + name + " " + text
	if values := w.here.enums[typ.name]; typ.markers.has("enum") && len(values) > 0 {
		sort.Strings(values)
		line += " " + strings.Join(unique(values), "|")
	}
	fmt.Fprintln(w.out, line)
	return nil
}

func (w *Writer) structure(typ *Type, body *ast.StructType) error {
	return w.renamed(typ.name, typ, body, w.here)
}

// renamed prints a struct under `name`, with its references written as seen from `from`.
func (w *Writer) renamed(name string, typ *Type, body *ast.StructType, from *Package) error {
	var lines []string
	kind := false
	for _, field := range w.fields(typ, body) {
		line, isMeta, err := w.field(typ, field, from)
		if err != nil && w.lenient {
			continue
		}
		if err != nil {
			return err
		}
		kind = kind || isMeta
		if line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 && len(body.Fields.List) > 0 && !w.lenient {
		return nil // an internal type
	}
	mark := ":"
	if kind {
		mark = "*"
	}
	if typ.markers.get("structType") == "atomic" || typ.markers.get("mapType") == "atomic" {
		mark += "a"
	}
	fmt.Fprintln(w.out, mark, name)
	for _, line := range lines {
		fmt.Fprintln(w.out, line)
	}
	return nil
}

// fields are those of a struct; in the place of a choice those that can be chosen, each of which Go has a struct for.
func (w *Writer) fields(typ *Type, body *ast.StructType) []*ast.Field {
	var found []*ast.Field
	for _, field := range body.Fields.List {
		if field.Tag == nil || !strings.Contains(field.Tag.Value, "protobuf_oneof") {
			found = append(found, field)
			continue
		}
		for _, choice := range w.here.types {
			choices, ok := choice.expr.(*ast.StructType)
			if ok && strings.HasPrefix(choice.name, typ.name+"_") {
				found = append(found, choices.Fields.List...)
			}
		}
	}
	return found
}

func (w *Writer) field(typ *Type, field *ast.Field, from *Package) (string, bool, error) {
	if field.Tag == nil {
		return "", false, nil
	}
	literal, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return "", false, err
	}
	tag := reflect.StructTag(literal)
	name, options, _ := strings.Cut(tag.Get("json"), ",")
	text, err := w.seenFrom(from, typ, field.Type)
	if name == "-" {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	number := protobufNumber(tag)
	inline := name == "" && (len(field.Names) == 0 || strings.Contains(options, "inline"))
	if inline && strings.HasSuffix(text, "TypeMeta") {
		return ". " + text + " 0 -", true, nil
	}
	if inline {
		return fmt.Sprintf(". %s %d -", text, number), false, nil
	}
	if name == "" {
		return "", false, nil
	}
	markers := readMarkers(field.Doc)
	return strings.TrimRight(fmt.Sprintf("%s %s %d %s %s", name, text, number, flags(options, markers),
		strings.Join(w.attributes(tag, markers), " ")), " "), false, nil
}

func flags(options string, markers Markers) string {
	out := ""
	empty := strings.Contains(options, "omitempty")
	if empty {
		out += "e"
	}
	if strings.Contains(options, "omitzero") {
		out += "z"
	}
	if markers.has("required") || !markers.has("optional") && !empty {
		out += "r"
	}
	if out == "" {
		return "-"
	}
	return out
}

func (w *Writer) attributes(tag reflect.StructTag, markers Markers) []string {
	var out []string
	if list := markers.get("listType"); list != "" {
		if keys := markers["listMapKey"]; len(keys) > 0 {
			list += ":" + strings.Join(keys, ",")
		}
		out = append(out, "list="+list)
	}
	for _, name := range []string{"mapType", "structType"} {
		if value := markers.get(name); value != "" {
			out = append(out, "map="+value)
		}
	}
	if strategy := tag.Get("patchStrategy"); strategy != "" {
		if key := tag.Get("patchMergeKey"); key != "" {
			strategy += ":" + key
		}
		out = append(out, "patch="+strategy)
	}
	if value := markers.get("default"); value != "" {
		if name, ok := strings.CutPrefix(value, "ref("); ok {
			value = strconv.Quote(w.here.consts[strings.TrimSuffix(name, ")")])
		}
		out = append(out, "default="+value)
	}
	return out
}

func protobufNumber(tag reflect.StructTag) int {
	parts := strings.Split(tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0
	}
	return number
}

func (w *Writer) typeOf(typ *Type, expr ast.Expr) (string, error) {
	return w.seenFrom(w.here, typ, expr)
}

func (w *Writer) seenFrom(from *Package, typ *Type, expr ast.Expr) (string, error) {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		inner, err := w.seenFrom(from, typ, expr.X)
		return "*" + inner, err
	case *ast.ArrayType:
		if ident, ok := expr.Elt.(*ast.Ident); ok && ident.Name == "byte" {
			return "bytes", nil
		}
		inner, err := w.seenFrom(from, typ, expr.Elt)
		return "[" + inner, err
	case *ast.MapType:
		inner, err := w.seenFrom(from, typ, expr.Value)
		return "{" + inner, err
	case *ast.Ident:
		return w.named(from, expr.Name)
	case *ast.SelectorExpr:
		local, ok := expr.X.(*ast.Ident)
		if !ok {
			break
		}
		target := typ.imports[local.Name]
		if word, ok := scalars[target+"."+expr.Sel.Name]; ok {
			return word, nil
		}
		pkg := w.packages[target]
		if pkg == nil {
			break
		}
		other := &Writer{packages: w.packages, here: pkg}
		return other.named(from, expr.Sel.Name)
	case *ast.InterfaceType:
		return "json", nil
	}
	return "", fmt.Errorf("cannot write the type %v", expr)
}

func (w *Writer) selected(typ *Type, expr *ast.SelectorExpr) (*Package, string) {
	local, ok := expr.X.(*ast.Ident)
	if !ok {
		return nil, ""
	}
	return w.packages[typ.imports[local.Name]], expr.Sel.Name
}

// named writes a type of this package, or of the language, as `from` refers to it.
func (w *Writer) named(from *Package, name string) (string, error) {
	switch name {
	case "string", "bool", "int32", "int64", "float64":
		return name, nil
	case "int", "uint64":
		return "int64", nil
	}
	if word, ok := scalars[w.here.path+"."+name]; ok {
		return word, nil
	}
	if w.here.byName[name] == nil {
		return "", fmt.Errorf("unknown type %s", name)
	}
	if from == w.here {
		return name, nil
	}
	return w.here.id + "." + name, nil
}

func unique(sorted []string) []string {
	var out []string
	for _, value := range sorted {
		if len(out) == 0 || out[len(out)-1] != value {
			out = append(out, value)
		}
	}
	return out
}
