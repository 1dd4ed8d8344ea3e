// Answers what Argo CD's rights come to: the same casbin, the same glob library, the same model and built-in roles, and
// the same order of questions. Reads a question per line, as JSON, and writes the answers to each of its requests.
package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/casbin/casbin/v2"
	"github.com/casbin/casbin/v2/model"
	"github.com/casbin/casbin/v2/util"
	"github.com/gobwas/glob"
)

const rules = `
[request_definition]
r = sub, res, act, obj
[policy_definition]
p = sub, res, act, obj, eft
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = g(r.sub, p.sub) && match(r.res, p.res) && match(r.act, p.act) && match(r.obj, p.obj)
`

type question struct {
	Builtin     string      `json:"builtin"`
	Policy      string      `json:"policy"`
	Project     string      `json:"project"`
	ProjectName string      `json:"projectName"`
	Mode        string      `json:"mode"`
	Default     string      `json:"default"`
	Subject     string      `json:"subject"`
	Groups      []string    `json:"groups"`
	Requests    [][3]string `json:"requests"`
}

// adapter hands the lines of a policy to casbin as Argo CD's does.
type adapter struct{ texts []string }

func (a adapter) LoadPolicy(m model.Model) error {
	for _, text := range a.texts {
		for _, line := range strings.Split(text, "\n") {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			reader := csv.NewReader(strings.NewReader(line))
			reader.TrimLeadingSpace = true
			fields, err := reader.Read()
			if err != nil {
				return err
			}
			sort := fields[0]
			if sort == "" || sort == "g" && len(fields) != 3 || sort == "p" && len(fields) != 6 {
				return fmt.Errorf("bad line %q", line)
			}
			if _, known := m[sort[:1]][sort]; !known {
				return fmt.Errorf("bad line %q", line)
			}
			m[sort[:1]][sort].Policy = append(m[sort[:1]][sort].Policy, fields[1:])
		}
	}
	return nil
}

func (adapter) SavePolicy(model.Model) error                              { return nil }
func (adapter) AddPolicy(string, string, []string) error                  { return nil }
func (adapter) RemovePolicy(string, string, []string) error               { return nil }
func (adapter) RemoveFilteredPolicy(string, string, int, ...string) error { return nil }

func enforcer(mode string, texts ...string) (enforcer *casbin.CachedEnforcer, err error) {
	defer func() {
		if trouble := recover(); trouble != nil {
			enforcer, err = nil, fmt.Errorf("%v", trouble)
		}
	}()
	m, err := model.NewModelFromString(rules)
	if err != nil {
		return nil, err
	}
	enforcer, err = casbin.NewCachedEnforcer(m, adapter{texts})
	if err != nil {
		return nil, err
	}
	match := func(args ...any) (any, error) {
		pattern, err := glob.Compile(args[1].(string))
		return err == nil && pattern.Match(args[0].(string)), nil
	}
	if mode == "regex" {
		match = util.RegexMatchFunc
	}
	enforcer.AddFunction("match", match)
	return enforcer, nil
}

func ask(enforcer *casbin.CachedEnforcer, defaultRole, subject string, request [3]string) bool {
	allowed := func(subject string) bool {
		ok, err := enforcer.Enforce(subject, request[0], request[1], request[2])
		return ok && err == nil
	}
	return defaultRole != "" && allowed(defaultRole) || allowed(subject)
}

func answer(q question) []bool {
	answers := make([]bool, len(q.Requests))
	base, err := enforcer(q.Mode, q.Builtin, q.Policy)
	if err != nil {
		return answers
	}
	with, err := enforcer(q.Mode, q.Builtin, q.Policy, q.Project)
	if err != nil {
		with = base
	}
	for i, request := range q.Requests {
		answers[i] = decide(q, base, with, request)
	}
	return answers
}

func decide(q question, base, with *casbin.CachedEnforcer, request [3]string) bool {
	if ask(base, q.Default, "", request) {
		return true
	}
	chosen, isOfProject := base, concerns(q.ProjectName, request)
	if isOfProject {
		chosen = with
		if parts := strings.Split(q.Subject, ":"); len(parts) == 3 && parts[0] == "proj" {
			return parts[1] == q.ProjectName && ask(with, q.Default, q.Subject, request)
		}
	}
	if ask(chosen, q.Default, q.Subject, request) {
		return true
	}
	roles, _ := chosen.GetGroupingPolicy()
	return slices.ContainsFunc(q.Groups, func(group string) bool {
		named := slices.ContainsFunc(roles, func(role []string) bool { return role[0] == group })
		return named && ask(chosen, q.Default, group, request)
	})
}

// concerns says whether a request is about a thing of the project.
func concerns(project string, request [3]string) bool {
	switch request[0] {
	case "applications", "applicationsets", "repositories", "clusters", "logs", "exec":
		name, _, found := strings.Cut(request[2], "/")
		return found && name == project
	case "projects":
		return request[2] == project
	}
	return false
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		line, _ := json.Marshal(answer(q))
		fmt.Fprintf(out, "%s\n", line)
	}
}
