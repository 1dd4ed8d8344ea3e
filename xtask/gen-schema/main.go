// Command gen-schema writes the table of Kubernetes' built-in kinds that the crate `object` embeds.
//
// It reads the public Go types of Kubernetes and keeps facts only: field names, types, protobuf
// numbers, and the markers that steer patches and server-side apply. No sentence is carried over.
//
// Run it from this directory; it needs the `go` tool and the Go module proxy:
//
//	go run . > ../../crates/object/data/kubernetes-1.36.txt
//	go run . argocd > ../../crates/server/data/argocd.txt
//
// The second is the same for the messages of Argo CD's API, with its methods behind them (see argocd.go).
//
// # The format
//
// One line per fact; the first word of a line says what it is.
//
//	@ core/v1 v1                  a package, by the name that references use, and its apiVersion ("-": none)
//	= Protocol string SCTP|TCP    a named type that is no struct; its values where it is an enumeration
//	: Container                   a struct; its fields follow. `:a` is one that is always replaced whole
//	* Pod                         the same for a struct that is a kind
//	name string 1 r               a field: JSON name, type, protobuf number (0: none), flags, attributes
//	. VolumeSource 2 -            an embedded struct, whose fields are printed inline
//
// Types: `*T` pointer, `[T` list, `{T` map from string; others are scalars or named types, in
// another package as `core/v1.Container`. Flags: `e` omitempty, `z` omitzero, `r` required.
// A list type with the mark `w` after its name is wrapped in a message of its own on the wire.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strings"
)

const version = "v0.36.3"

// Module is where types are; every package below `dirs` that has Go files is taken.
type Module struct {
	path    string
	version string
	dirs    []string
}

var modules = []Module{
	{"k8s.io/apimachinery", version, []string{"pkg/apis/meta/v1"}},
	{"k8s.io/api", version, []string{"*/v*"}},
	{"k8s.io/apiextensions-apiserver", version, []string{"pkg/apis/apiextensions/v1"}},
	{"k8s.io/kube-aggregator", version, []string{"pkg/apis/apiregistration/v1"}},
}

// left out: never served by a stock server and met by no client.
var skipped = map[string]bool{
	"imagepolicy/v1alpha1":       true,
	"apiserverinternal/v1alpha1": true,
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	if len(os.Args) > 1 && os.Args[1] == "argocd" {
		if err := argocd(out); err != nil {
			fail(err)
		}
		return
	}
	packages, err := loadAll(modules)
	if err != nil {
		fail(err)
	}
	fmt.Fprintf(out, "# Kubernetes %s: facts about the built-in kinds. Written by xtask/gen-schema, which explains the format.\n", version)
	for _, path := range ordered(packages) {
		writer := &Writer{out: out, packages: packages, here: packages[path]}
		if err := writer.write(); err != nil {
			fail(err)
		}
	}
}

func loadAll(modules []Module) (map[string]*Package, error) {
	packages := map[string]*Package{}
	for _, module := range modules {
		root, err := download(module)
		if err != nil {
			return nil, err
		}
		for _, dir := range module.dirs {
			if err := load(packages, module.path, root, dir); err != nil {
				return nil, err
			}
		}
	}
	return packages, nil
}

func ordered(packages map[string]*Package) []string {
	paths := make([]string, 0, len(packages))
	for path := range packages {
		paths = append(paths, path)
	}
	sort.Slice(paths, func(i, j int) bool { return packages[paths[i]].id < packages[paths[j]].id })
	return paths
}

func download(module Module) (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", module.path+"@"+module.version).Output()
	if err != nil {
		return "", fmt.Errorf("download %s: %w", module.path, err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		return "", err
	}
	return found.Dir, nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, strings.TrimSpace(err.Error()))
	os.Exit(1)
}
