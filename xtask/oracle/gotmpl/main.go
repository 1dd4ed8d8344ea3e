// Command oracle-gotmpl answers what Go's text/template, sprig and Helm make of a template.
//
// It reads one JSON object per line and writes one per line, in the same order:
//
//	{"template": "{{ add 1 .a }}", "values": {"a": {"$int": 2}}, "functions": "sprig"}
//	{"output": "3"}
//
// `functions` says what the template may call, and which program evaluates it:
//
//	builtin  text/template alone
//	sprig    text/template with the functions of sprig as Helm takes them (the default)
//	helm     Helm's own engine; the values are `.Values` of a chart named `c`, the template is `templates/t`
//
// The first two execute a template named `t` over `values` with missing keys as Helm has them, and give
// errors as text/template words them; `helm` gives Helm's words. `templates` adds further named templates.
// An answer has `output` (or `output_base64` where it is not UTF-8) or `error`.
//
// Run it from this directory; it needs the `go` tool and the Go module proxy: `go build -o <where> .`
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/Masterminds/sprig/v3"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
)

// longestLine bounds one question: templates of public charts stay far below it.
const longestLine = 64 << 20

type question struct {
	Template  string            `json:"template"`
	Templates map[string]string `json:"templates"`
	Values    json.RawMessage   `json:"values"`
	Functions string            `json:"functions"`
}

type answer struct {
	Output       *string `json:"output,omitempty"`
	OutputBase64 *string `json:"output_base64,omitempty"`
	Error        *string `json:"error,omitempty"`
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 0, 1<<16), longestLine)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for in.Scan() {
		if err := encoder.Encode(reply(in.Bytes())); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		// A question that kills this program must not take earlier answers with it.
		out.Flush()
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func reply(line []byte) answer {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return failure(fmt.Errorf("question: %w", err))
	}
	values, err := decode(q.Values)
	if err != nil {
		return failure(fmt.Errorf("values: %w", err))
	}
	text, err := evaluate(q, values)
	if err != nil {
		return failure(err)
	}
	if !utf8.ValidString(text) {
		encoded := base64.StdEncoding.EncodeToString([]byte(text))
		return answer{OutputBase64: &encoded}
	}
	return answer{Output: &text}
}

func failure(err error) answer {
	text := err.Error()
	return answer{Error: &text}
}

func evaluate(q question, values any) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	switch q.Functions {
	case "builtin":
		return execute(q, values, nil)
	case "sprig", "":
		functions := sprig.TxtFuncMap()
		delete(functions, "env")
		delete(functions, "expandenv")
		return execute(q, values, functions)
	case "helm":
		return render(q, values)
	default:
		return "", fmt.Errorf("unknown functions %q", q.Functions)
	}
}

func execute(q question, values any, functions template.FuncMap) (string, error) {
	root := template.New("t").Option("missingkey=zero").Funcs(functions)
	for _, name := range names(q.Templates) {
		if _, err := root.New(name).Parse(q.Templates[name]); err != nil {
			return "", err
		}
	}
	if _, err := root.Parse(q.Template); err != nil {
		return "", err
	}
	var text strings.Builder
	if err := root.Execute(&text, values); err != nil {
		return "", err
	}
	return text.String(), nil
}

func render(q question, values any) (string, error) {
	c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "c", Version: "0.1.0"}}
	c.Templates = append(c.Templates, &common.File{Name: "templates/t", Data: []byte(q.Template)})
	for _, name := range names(q.Templates) {
		c.Templates = append(c.Templates, &common.File{Name: "templates/" + name, Data: []byte(q.Templates[name])})
	}
	if values == nil {
		values = map[string]any{}
	}
	rendered, err := engine.Render(c, common.Values{
		"Values":       values,
		"Release":      map[string]any{"Name": "r", "Namespace": "default", "Revision": 1, "IsInstall": true, "IsUpgrade": false, "Service": "Helm"},
		"Capabilities": common.DefaultCapabilities,
	})
	return rendered["c/templates/t"], err
}

func names(templates map[string]string) []string {
	list := make([]string, 0, len(templates))
	for name := range templates {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}
