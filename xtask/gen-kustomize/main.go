// Command gen-kustomize writes the table of kinds that the crate `kustomize` embeds: what Kustomize's own copy of the
// Kubernetes API says about merging lists, and which kinds are in a namespace.
//
// It asks the Go module of Kustomize and keeps facts only. Run it from this directory; it needs the `go` tool and the Go
// module proxy:
//
//	go run . > ../../crates/kustomize/data/kinds.txt
//
// # The format
//
// One line per fact; the first word of a line says what it is.
//
//	kind apps/v1 Deployment namespaced 12     a kind: its scope ("cluster", "namespaced" or "-") and its type ("-": none)
//	type 12 io.k8s.api.apps.v1.Deployment     a type and its definition; the fields that lead to a merged list follow
//	metadata 3                                a field of another type
//	* 4                                       any other field
//	[containers 5                             a list of another type ("-": of something without such fields)
//	[containers 5 merge name                  the same, merged by these keys; none if it is a list of scalars
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

type field struct {
	name, kind string
	list       bool
	strategy   string
	keys       []string
}

type table struct {
	definitions spec.Definitions
	relevant    map[string]bool
	numbers     map[string]int
	order       []string
}

func main() {
	root := openapi.Schema()
	t := &table{definitions: root.Definitions, relevant: map[string]bool{}, numbers: map[string]int{}}
	t.findRelevant()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# What Kustomize 5.8.1 knows of kinds. Written by xtask/gen-kustomize, which explains the format.")
	t.writeKinds(out)
	for i := 0; i < len(t.order); i++ {
		fmt.Fprintf(out, "type %d %s\n", i, t.order[i])
		for _, f := range t.fields(t.order[i]) {
			t.writeField(out, f)
		}
	}
}

func (t *table) writeKinds(out *bufio.Writer) {
	byKind := map[string]string{}
	for name, definition := range t.definitions {
		list, _ := definition.Extensions["x-kubernetes-group-version-kind"].([]interface{})
		for _, entry := range list {
			gvk, _ := entry.(map[string]interface{})
			version, _ := gvk["version"].(string)
			if group, _ := gvk["group"].(string); group != "" {
				version = group + "/" + version
			}
			kind, _ := gvk["kind"].(string)
			byKind[version+" "+kind] = name
		}
	}
	kinds := make([]string, 0, len(byKind))
	for kind := range byKind {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		words := strings.Fields(kind)
		namespaced, found := openapi.IsNamespaceScoped(yaml.TypeMeta{APIVersion: words[0], Kind: words[1]})
		scope := "-"
		if found {
			scope = map[bool]string{true: "namespaced", false: "cluster"}[namespaced]
		}
		number := "-"
		if t.relevant[byKind[kind]] {
			number = t.number(byKind[kind])
		}
		if scope != "-" || number != "-" {
			fmt.Fprintf(out, "kind %s %s %s\n", kind, scope, number)
		}
	}
}

func (t *table) number(name string) string {
	if name == "" {
		return "-"
	}
	if _, known := t.numbers[name]; !known {
		t.numbers[name] = len(t.order)
		t.order = append(t.order, name)
	}
	return fmt.Sprint(t.numbers[name])
}

func (t *table) writeField(out *bufio.Writer, f field) {
	if !f.list {
		fmt.Fprintf(out, "%s %s\n", f.name, t.number(f.kind))
		return
	}
	fmt.Fprintf(out, "[%s %s", f.name, t.number(f.kind))
	if f.strategy != "" {
		fmt.Fprintf(out, " %s %s", f.strategy, strings.Join(f.keys, " "))
	}
	fmt.Fprintln(out)
}

// findRelevant marks the definitions that lead to a list with a strategy, until nothing is added.
func (t *table) findRelevant() {
	for changed := true; changed; {
		changed = false
		for name := range t.definitions {
			if !t.relevant[name] && len(t.fields(name)) > 0 {
				t.relevant[name] = true
				changed = true
			}
		}
	}
}

// fields are those of a definition that matter, by name.
func (t *table) fields(name string) []field {
	definition := t.definitions[name]
	var found []field
	add := func(name string, schema spec.Schema) {
		if f, ok := t.field(name, schema); ok {
			found = append(found, f)
		}
	}
	for property, schema := range definition.Properties {
		add(property, schema)
	}
	if definition.AdditionalProperties != nil && definition.AdditionalProperties.Schema != nil {
		add("*", *definition.AdditionalProperties.Schema)
	}
	sort.Slice(found, func(i, j int) bool { return found[i].name < found[j].name })
	return found
}

func (t *table) field(name string, schema spec.Schema) (field, bool) {
	f := field{name: name}
	strategy, keys := (&openapi.ResourceSchema{Schema: &schema}).PatchStrategyAndKeyList()
	if schema.Items != nil && schema.Items.Schema != nil {
		f.list = true
		if target := t.reference(*schema.Items.Schema); t.relevant[target] {
			f.kind = target
		}
		f.strategy, f.keys = strategy, keys
		return f, f.kind != "" || strings.Contains(","+strategy+",", ",merge,")
	}
	if len(schema.Properties) > 0 {
		panic("a type without a name: " + name)
	}
	if target := t.reference(schema); t.relevant[target] {
		f.kind = target
		return f, true
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		if _, ok := t.field("*", *schema.AdditionalProperties.Schema); ok {
			panic("a map without a name: " + name)
		}
	}
	return f, false
}

func (t *table) reference(schema spec.Schema) string {
	return strings.TrimPrefix(schema.Ref.String(), "#/definitions/")
}
