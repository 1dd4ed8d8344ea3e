package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// The messages and methods of Argo CD's API. The messages come from the Go structs, as for Kubernetes; the methods
// come from the services' definitions. Only what a method takes or answers is written.
//
// A method is one line behind the messages, another way to reach it one more with the same name:
//
//	> application.ApplicationService List GET /api/v1/applications - application.ApplicationQuery v1alpha1.ApplicationList -
//
// It has the service, the name, the HTTP verb and path, what of the request is the body (`*` all of it, `-` none),
// the message that it takes, the message that it answers, and `s` where the answer is a stream, `c` where the question is.

const (
	argocdVersion = "v3.5.3"
	engineVersion = "v0.0.0-20260914071520-c9c369efcc5b"
)

var argocdModules = []Module{
	{"github.com/argoproj/argo-cd/v3", argocdVersion, []string{"pkg/apis/application/v1alpha1", "pkg/apiclient/*",
		"reposerver/apiclient", "server/settings/oidc"}},
	{"github.com/argoproj/argo-cd/gitops-engine", engineVersion, []string{"pkg/health", "pkg/sync/common", "pkg/utils/kube"}},
	{"k8s.io/apimachinery", version, []string{"pkg/apis/meta/v1"}},
	{"k8s.io/api", version, []string{"core/v1"}},
	{"k8s.io/apiextensions-apiserver", version, []string{"pkg/apis/apiextensions/v1"}},
}

func argocd(out io.Writer) error {
	packages, err := loadAll(argocdModules)
	if err != nil {
		return err
	}
	root, err := download(argocdModules[0])
	if err != nil {
		return err
	}
	for _, pkg := range packages {
		pkg.id = shortName(pkg.path)
	}
	methods, err := readMethods(root)
	if err != nil {
		return err
	}
	types := map[string][]string{}
	for _, path := range ordered(packages) {
		var text bytes.Buffer
		writer := &Writer{out: &text, packages: packages, here: packages[path], lenient: true}
		if err := writer.write(); err != nil {
			return err
		}
		split(types, packages[path].id, text.String())
	}
	fmt.Fprintf(out, "# Argo CD %s: the messages and methods of its API. Written by xtask/gen-schema, which explains the format.\n", argocdVersion)
	var wanted []string
	for i := range methods {
		method := &methods[i]
		// Two Go packages have one name in the definitions: what is not in the one is in the other.
		for _, name := range []*string{&method.in, &method.out} {
			if last, ok := strings.CutPrefix(*name, "repositories."); ok && types[*name] == nil {
				for j, line := range method.lines {
					method.lines[j] = strings.ReplaceAll(line, " "+*name+" ", " repository."+last+" ")
				}
				*name = "repository." + last
			}
		}
		wanted = append(wanted, method.in, method.out)
	}
	printReachable(out, types, wanted)
	for _, method := range methods {
		for _, line := range method.lines {
			fmt.Fprintln(out, line)
		}
	}
	return nil
}

// shortName is how references name a package: by its last word, or the last two where that is only a version.
func shortName(path string) string {
	words := strings.Split(path, "/")
	last := words[len(words)-1]
	switch {
	case strings.HasSuffix(path, "application/v1alpha1"):
		return "v1alpha1"
	case strings.HasSuffix(path, "reposerver/apiclient"):
		return "repository"
	case strings.HasSuffix(path, "apiclient/repository"):
		return "repositories"
	case regexp.MustCompile(`^v\d`).MatchString(last):
		return words[len(words)-2] + "/" + last
	}
	return last
}

// split cuts the lines of a package into its types, by full name.
func split(types map[string][]string, id, text string) {
	name := ""
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "@" {
			continue
		}
		if strings.Contains("=:*:a*a", words[0]) && len(words) > 1 {
			name = id + "." + words[1]
		}
		types[name] = append(types[name], line)
	}
}

// printReachable writes the types that `wanted` refer to, package by package.
func printReachable(out io.Writer, types map[string][]string, wanted []string) {
	found := map[string]bool{}
	for len(wanted) > 0 {
		name := wanted[0]
		wanted = wanted[1:]
		if found[name] || types[name] == nil {
			continue
		}
		found[name] = true
		id := name[:strings.LastIndex(name, ".")]
		for _, line := range types[name] {
			words := strings.Fields(line)
			for _, word := range words[1:] {
				word = strings.TrimLeft(word, "*[{")
				if !strings.Contains(word, ".") {
					word = id + "." + word
				}
				wanted = append(wanted, word)
			}
		}
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	sort.Strings(names)
	here := ""
	for _, name := range names {
		if id := name[:strings.LastIndex(name, ".")]; id != here {
			here = id
			fmt.Fprintf(out, "@ %s -\n", here)
		}
		for _, line := range types[name] {
			fmt.Fprintln(out, line)
		}
	}
}

// Method is a method of a service, with a line for each way to reach it.
type Method struct {
	in, out string
	lines   []string
}

var (
	packageLine = regexp.MustCompile(`(?m)^package (\w+);`)
	serviceLine = regexp.MustCompile(`service\s+(\w+)\s*\{`)
	rpcLine     = regexp.MustCompile(`rpc\s+(\w+)\s*\(\s*(stream\s+)?([\w.]+)\s*\)\s*returns\s*\(\s*(stream\s+)?([\w.]+)\s*\)`)
	wayLine     = regexp.MustCompile(`\b(get|post|put|patch|delete)\s*[:=]\s*"([^"]+)"(?:\s*body\s*:\s*"([^"]+)")?`)
)

func readMethods(root string) ([]Method, error) {
	files, err := filepath.Glob(filepath.Join(root, "server/*/*.proto"))
	if err != nil {
		return nil, err
	}
	var methods []Method
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text := string(data)
		in := packageLine.FindStringSubmatch(text)
		if in == nil {
			continue
		}
		folder := filepath.Base(filepath.Dir(file))
		service := serviceLine.FindStringSubmatch(text)
		found := rpcLine.FindAllStringSubmatchIndex(text, -1)
		for i, at := range found {
			// What a method can be reached by stands between it and the next one.
			end := len(text)
			if i+1 < len(found) {
				end = found[i+1][0]
			}
			rpc := append(rpcLine.FindStringSubmatch(text[at[0]:at[1]]), text[at[1]:end])
			methods = append(methods, readMethod(in[1]+"."+service[1], folder, rpc))
		}
	}
	return methods, nil
}

func readMethod(service, folder string, rpc []string) Method {
	method := Method{in: messageName(folder, rpc[3]), out: messageName(folder, rpc[5])}
	mark := "-"
	if rpc[2] != "" {
		mark = "c"
	} else if rpc[4] != "" {
		mark = "s"
	}
	ways := wayLine.FindAllStringSubmatch(rpc[6], -1)
	if len(ways) == 0 {
		ways = [][]string{{"", "none", "-", ""}}
	}
	for _, way := range ways {
		body := way[3]
		if body == "" {
			body = "-"
		}
		method.lines = append(method.lines, strings.Join([]string{">", service, rpc[1], strings.ToUpper(way[1]), way[2], body,
			method.in, method.out, mark}, " "))
	}
	return method
}

// messageName turns the name that a definition uses into that of the Go package.
func messageName(folder, name string) string {
	last := name[strings.LastIndex(name, ".")+1:]
	switch {
	case strings.Contains(name, "application.v1alpha1."):
		return "v1alpha1." + last
	case strings.HasPrefix(name, "repository."):
		return "repository." + last
	case strings.HasPrefix(name, "events."):
		return "events." + last
	case strings.Contains(name, "google.protobuf.Empty"):
		return "empty"
	case strings.Contains(name, "."):
		return name
	case folder == "repository":
		return "repositories." + last
	}
	return folder + "." + last
}
