package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamic "k8s.io/client-go/dynamic/fake"
	clientset "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/argoproj/argo-cd/v3/applicationset/generators"
	"github.com/argoproj/argo-cd/v3/applicationset/services/scm_provider"
	"github.com/argoproj/argo-cd/v3/common"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/settings"
)

const namespace = "argocd"

type cluster struct {
	Name        string            `json:"name"`
	Server      string            `json:"server"`
	Project     *string           `json:"project"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type pull struct {
	Number       int64    `json:"number"`
	Title        string   `json:"title"`
	Branch       string   `json:"branch"`
	TargetBranch string   `json:"targetBranch"`
	HeadSHA      string   `json:"headSha"`
	Labels       []string `json:"labels"`
	Author       string   `json:"author"`
}

type repo struct {
	Organization string   `json:"organization"`
	Repository   string   `json:"repository"`
	URL          string   `json:"url"`
	Branch       string   `json:"branch"`
	SHA          string   `json:"sha"`
	Labels       []string `json:"labels"`
	ID           any      `json:"id"`
	Paths        []string `json:"paths"`
}

// world is everything outside of the ApplicationSet.
type world struct {
	generators map[string]generators.Generator
	client     client.Client
	close      func()
}

func newWorld(asked *question) *world {
	ctx, cancel := context.WithCancel(context.Background())
	server := httptest.NewServer(handler(asked))
	objects, secrets := stored(asked, server.URL)
	scheme := runtime.NewScheme()
	_ = v1alpha1.AddToScheme(scheme)
	_ = corev1.AddToScheme(scheme)
	inCluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	kube := clientset.NewSimpleClientset(secrets...)
	informer, err := settings.NewClusterInformer(kube, namespace)
	if err != nil {
		panic(err)
	}
	go informer.Run(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	config := generators.NewSCMConfig("", []string{}, true, false, nil, false)
	terminal := map[string]generators.Generator{
		"List":                    generators.NewListGenerator(),
		"Clusters":                generators.NewClusterGenerator(inCluster, namespace),
		"Git":                     generators.NewGitGenerator(checkout(asked.Files), namespace),
		"SCMProvider":             generators.NewTestSCMProviderGenerator(provider(asked.Repos)),
		"ClusterDecisionResource": generators.NewDuckTypeGenerator(ctx, decisions(asked), kube, namespace, informer),
		"PullRequest":             generators.NewPullRequestGenerator(inCluster, config),
		"Plugin":                  generators.NewPluginGenerator(inCluster, namespace),
	}
	nested := with(terminal, terminal)
	top := with(terminal, nested)
	point(asked.Set, server.URL)
	return &world{generators: top, client: inCluster, close: func() { cancel(); server.Close() }}
}

// with gives the generators, and the two that combine those inside.
func with(terminal, inside map[string]generators.Generator) map[string]generators.Generator {
	all := map[string]generators.Generator{
		"Matrix": generators.NewMatrixGenerator(inside),
		"Merge":  generators.NewMergeGenerator(inside),
	}
	for name, one := range terminal {
		all[name] = one
	}
	return all
}

// point has the pull requests of GitHub asked for here.
func point(set *v1alpha1.ApplicationSet, url string) {
	for i := range set.Spec.Generators {
		if pulls := set.Spec.Generators[i].PullRequest; pulls != nil && pulls.Github != nil {
			pulls.Github.API = url
		}
	}
}

func stored(asked *question, url string) ([]client.Object, []runtime.Object) {
	var objects []client.Object
	var plain []runtime.Object
	for _, name := range []string{"default", "", "team"} {
		if name != "" {
			objects = append(objects, &v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}})
		}
	}
	for i, one := range asked.Clusters {
		labels := map[string]string{common.LabelKeySecretType: common.LabelValueSecretTypeCluster}
		for key, value := range one.Labels {
			labels[key] = value
		}
		data := map[string][]byte{"name": []byte(one.Name), "server": []byte(one.Server), "config": []byte("{}")}
		if one.Project != nil {
			data["project"] = []byte(*one.Project)
		}
		secret := corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name: "cluster-" + string(rune('a'+i)), Namespace: namespace, Labels: labels, Annotations: one.Annotations,
			},
			Data: data,
		}
		objects = append(objects, secret.DeepCopy())
		plain = append(plain, secret.DeepCopy())
	}
	config := asked.ConfigMap
	if config == nil {
		config = map[string]string{"baseUrl": url, "token": "$plugin-token"}
	}
	meta := metav1.ObjectMeta{Name: "config", Namespace: namespace}
	objects = append(objects, &corev1.ConfigMap{ObjectMeta: meta, Data: config})
	plain = append(plain, &corev1.ConfigMap{ObjectMeta: meta, Data: config})
	objects = append(objects, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "argocd-secret", Namespace: namespace},
		Data:       map[string][]byte{"plugin-token": []byte("none")},
	})
	return objects, plain
}

func handler(asked *question) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/getparams.execute", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"output": map[string]any{"parameters": asked.Plugin}})
	})
	mux.HandleFunc("/api/v3/repos/", func(w http.ResponseWriter, _ *http.Request) {
		found := []map[string]any{}
		for _, one := range asked.Pulls {
			labels := []map[string]any{}
			for _, label := range one.Labels {
				labels = append(labels, map[string]any{"name": label})
			}
			found = append(found, map[string]any{
				"number": one.Number, "title": one.Title, "labels": labels,
				"head": map[string]any{"ref": one.Branch, "sha": one.HeadSHA},
				"base": map[string]any{"ref": one.TargetBranch},
				"user": map[string]any{"login": one.Author},
			})
		}
		_ = json.NewEncoder(w).Encode(found)
	})
	return mux
}

func decisions(asked *question) *dynamic.FakeDynamicClient {
	kinds := map[schema.GroupVersionResource]string{
		{Group: "mallard.io", Version: "v1beta1", Resource: "ducks"}: "duckList",
	}
	var objects []runtime.Object
	for _, one := range asked.Decisions {
		objects = append(objects, &unstructured.Unstructured{Object: one})
	}
	return dynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
}

// checkout is a repository with these files, which git itself lists.
type checkout map[string]string

func (c checkout) GetFiles(_ context.Context, _, _, _, pattern string, _ bool, _ *v1alpha1.SourceIntegrity) (map[string][]byte, error) {
	found := map[string][]byte{}
	err := c.in(func(root string) error {
		out, err := run(root, "ls-files", "--full-name", "-z", "--", pattern)
		for _, name := range strings.Split(out, "\000") {
			if name != "" {
				found[name] = []byte(c[name])
			}
		}
		return err
	})
	return found, err
}

func (c checkout) GetDirectories(_ context.Context, _, _, _ string, _ bool, _ *v1alpha1.SourceIntegrity) ([]string, error) {
	var found []string
	err := c.in(func(root string) error {
		return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			switch {
			case err != nil:
				return err
			case !entry.IsDir() || name == ".":
				return nil
			case strings.HasPrefix(entry.Name(), "."):
				return filepath.SkipDir
			}
			found = append(found, name)
			return nil
		})
	})
	return found, err
}

// in writes the files to a repository and does something there.
func (c checkout) in(do func(root string) error) error {
	root, err := os.MkdirTemp("", "appset-oracle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	for name, content := range c {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	if _, err := run(root, "init", "--quiet"); err != nil {
		return err
	}
	if _, err := run(root, "add", "--all", "--force"); err != nil {
		return err
	}
	return do(root)
}

func run(root string, arguments ...string) (string, error) {
	command := exec.Command("git", arguments...)
	command.Dir = root
	out, err := command.Output()
	return string(out), err
}

// provider is a host of repositories that has these.
type provider []repo

func (p provider) ListRepos(context.Context, string) ([]*scm_provider.Repository, error) {
	var found []*scm_provider.Repository
	for _, one := range p {
		found = append(found, &scm_provider.Repository{
			Organization: one.Organization, Repository: one.Repository, URL: one.URL, Branch: one.Branch,
			SHA: one.SHA, Labels: one.Labels, RepositoryId: one.ID,
		})
	}
	return found, nil
}

func (p provider) RepoHasPath(_ context.Context, asked *scm_provider.Repository, path string) (bool, error) {
	for _, one := range p {
		if one.Repository != asked.Repository || one.Branch != asked.Branch {
			continue
		}
		for _, has := range one.Paths {
			if has == path {
				return true, nil
			}
		}
	}
	return false, nil
}

func (p provider) GetBranches(_ context.Context, asked *scm_provider.Repository) ([]*scm_provider.Repository, error) {
	return []*scm_provider.Repository{asked}, nil
}
