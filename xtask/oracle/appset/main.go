// Answers what Argo CD makes of an ApplicationSet: its own generators and its own renderer, with clusters, repositories,
// pull requests, plugins and decisions that stand in the question. Reads a question per line, as JSON, and writes an answer
// per line: the Applications, sorted by name, or the error.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	"github.com/gosimple/slug"
	"github.com/gosimple/unidecode"
	log "github.com/sirupsen/logrus"

	"github.com/argoproj/argo-cd/v3/applicationset/controllers/template"
	"github.com/argoproj/argo-cd/v3/applicationset/utils"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
)

type question struct {
	// Set is a whole ApplicationSet; the fields below it are what it may ask for.
	Set       *v1alpha1.ApplicationSet `json:"set"`
	Clusters  []cluster                `json:"clusters"`
	Files     map[string]string        `json:"files"`
	Pulls     []pull                   `json:"pulls"`
	Repos     []repo                   `json:"repos"`
	Plugin    []map[string]any         `json:"plugin"`
	ConfigMap map[string]string        `json:"configMap"`
	Decisions []map[string]any         `json:"decisions"`
	// Slug is a text for the names of branches.
	Slug *string `json:"slug"`
	// Letter is a text to write in ASCII.
	Letter *string `json:"letter"`
}

type answer struct {
	Apps   []v1alpha1.Application `json:"apps"`
	Text   string                 `json:"text,omitempty"`
	Error  string                 `json:"error,omitempty"`
	Reason string                 `json:"reason,omitempty"`
}

func main() {
	log.SetLevel(log.PanicLevel)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<26)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for in.Scan() {
		var asked question
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil {
			_ = encoder.Encode(answer{Error: "cannot read: " + err.Error()})
			continue
		}
		_ = encoder.Encode(reply(&asked))
	}
}

func reply(asked *question) (given answer) {
	defer func() {
		if broken := recover(); broken != nil {
			given = answer{Error: fmt.Sprintf("panic: %v", broken), Reason: "panic"}
		}
	}()
	switch {
	case asked.Letter != nil:
		return answer{Text: unidecode.Unidecode(*asked.Letter)}
	case asked.Slug != nil:
		slug.MaxLength = 50
		slug.EnableSmartTruncate = true
		slug.CustomSub = map[string]string{"_": "-"}
		return answer{Text: slug.Make(*asked.Slug)}
	}
	world := newWorld(asked)
	defer world.close()
	apps, reason, err := template.GenerateApplications(
		log.NewEntry(log.StandardLogger()), *asked.Set, world.generators, &utils.Render{}, world.client)
	if err != nil {
		return answer{Error: err.Error(), Reason: string(reason)}
	}
	sort.SliceStable(apps, func(i, j int) bool { return apps[i].Name < apps[j].Name })
	return answer{Apps: apps}
}
