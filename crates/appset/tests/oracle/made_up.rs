//! Questions that are made up: generators in each other, with templates that ask for what they may or may not have.

use lynceus_object::{Seq, Value, value};

/// A sequence of numbers that looks like chance and is the same each time.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.next(all.len())].clone()
    }

    fn is(&mut self, percent: usize) -> bool {
        self.next(100) < percent
    }
}

/// So many questions, each with its name.
pub(crate) fn questions(count: usize) -> Vec<(String, Value)> {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    (0..count).map(|at| (format!("made up {at}"), question(&mut chance))).collect()
}

fn question(chance: &mut Chance) -> Value {
    if chance.is(8) {
        return slug(chance);
    }
    let go = chance.is(60);
    let mut spec = value!({"template": {"metadata": {}, "spec": {}}});
    if go {
        spec.set(&["goTemplate"], true);
        if chance.is(50) {
            spec.set(
                &["goTemplateOptions"],
                value!([chance.of(&["missingkey=error", "missingkey=zero", "missingkey=default"])]),
            );
        }
    }
    let generators: Seq = (0..1 + chance.next(2)).map(|_| generator(chance, go, 0)).collect();
    spec.set(&["generators"], Value::Seq(generators));
    spec.set(&["template"], template(chance, go));
    if chance.is(25) {
        spec.set(&["templatePatch"], patch(chance, go));
    }
    if chance.is(20) {
        spec.set(&["syncPolicy", "preserveResourcesOnDeletion"], chance.is(50));
    }
    let mut asked = world(chance);
    asked.set(&["set", "metadata", "name"], "set");
    asked.set(&["set", "metadata", "namespace"], "argocd");
    asked.set(&["set", "spec"], spec);
    asked
}

fn slug(chance: &mut Chance) -> Value {
    let parts = [
        "feat",
        "/",
        "_",
        "-",
        "Größe",
        "&",
        "@",
        "a-rather-long-name-of-a-branch",
        " ",
        "ветка",
        "x",
        "..",
        "ABC",
        "é",
    ];
    let text: String = (0..1 + chance.next(9)).map(|_| chance.of(&parts)).collect();
    value!({"slug": (text)})
}

/// A text with placeholders, of names that are often there.
fn text(chance: &mut Chance, go: bool) -> String {
    let plain = ["", "web", "a-", "-b", "x.y", "é"];
    let names = [
        "name",
        "path",
        "path.basename",
        "path[0]",
        "values.env",
        "metadata.labels.env",
        "server",
        "n",
        "branch",
        "nested.a",
        "unknown",
        "number",
        "branch_slug",
        "path.filenameNormalized",
        "clusters",
        "short_sha",
    ];
    let calls = [
        ".name",
        ".path.path",
        ".path.basename",
        "index .path.segments 0",
        ".values.env",
        ".metadata.labels.env",
        ".server",
        ".n",
        ".branch",
        ".nested.a",
        ".unknown",
        ".number",
        ".name | upper",
        ".name | normalize",
        "slugify 10 .name",
        "toYaml .",
        "default \"d\" .unknown",
        ".values",
        "len .clusters",
        "range .clusters }}{{ .name }}{{ end",
        ".nested | toJson",
        "join \",\" .labels",
        "(fromYaml \"a: 1\").a",
        "printf \"%v\" .n",
        "kindOf .n",
        "hasKey . \"name\"",
    ];
    let mut out = String::from(chance.of(&plain));
    for _ in 0..chance.next(3) {
        let inner = if go && !chance.is(4) { chance.of(&calls) } else { chance.of(&names) };
        let open = if chance.is(50) { "{{ " } else { "{{" };
        out.push_str(open);
        out.push_str(inner);
        out.push_str(if chance.is(97) { "}}" } else { "" });
        out.push_str(chance.of(&plain));
    }
    out
}

fn template(chance: &mut Chance, go: bool) -> Value {
    let mut template = value!({"metadata": {"name": (text(chance, go))}, "spec": {"project": "default", "destination": {"server": (text(chance, go))}}});
    if chance.is(40) {
        let (key, of) = (chance.of(&["team", "{{name}}", "{{.name}}"]), text(chance, go));
        template.set(&["metadata", chance.of(&["labels", "annotations"]), key], of);
    }
    if chance.is(15) {
        template.set(&["metadata", "finalizers"], value!(["a.b/c"]));
    }
    template.set(&["spec", "source", "repoURL"], text(chance, go));
    if chance.is(30) {
        let (a, b) = (text(chance, go), text(chance, go));
        template.set(&["spec", "source", "helm"], value!({"valuesObject": {"a": {"b": (a), "c": null, "n": 3}, "list": [(b), 1, null]}, "parameters": [{"name": "p", "value": (text(chance, go))}]}));
    }
    if chance.is(20) {
        template.set(&["spec", "syncPolicy"], value!({"automated": {"prune": true}, "syncOptions": [(text(chance, go))], "retry": {"limit": 2}}));
    }
    template
}

fn patch(chance: &mut Chance, go: bool) -> String {
    let text = text(chance, go).replace(['\n', '"'], " ");
    let pieces = [
        format!("metadata:\n  labels:\n    patched: \"{text}\"\n"),
        "spec:\n  syncPolicy:\n    automated: null\n".to_owned(),
        "spec:\n  project: other\n  source:\n    helm:\n      releaseName: r\n".to_owned(),
        "metadata:\n  finalizers: [d.e/f]\n".to_owned(),
        "{\"spec\": {\"source\": {\"path\": \"p\"}}}".to_owned(),
        "spec:\n  sources:\n  - repoURL: x\n".to_owned(),
        "spec:\n  source:\n    $patch: replace\n    repoURL: y\n".to_owned(),
    ];
    chance.of(&pieces)
}

fn generator(chance: &mut Chance, go: bool, depth: usize) -> Value {
    let combined = if depth < 2 && chance.is(35) { chance.next(2) + 1 } else { 0 };
    let mut made = match combined {
        1 => {
            value!({"matrix": {"generators": [(generator(chance, go, depth + 1)), (generator(chance, go, depth + 1))]}})
        }
        2 => {
            let key = chance.of(&["name", "path", "n", "server", "values.env"]);
            value!({"merge": {"mergeKeys": [(key)], "generators": [(generator(chance, go, depth + 1)), (generator(chance, go, depth + 1))]}})
        }
        _ => plain(chance, go),
    };
    if chance.is(15) {
        let key = chance.of(&["name", "n", "values.env", "metadata.labels.env", "path.basename", "path"]);
        let value = chance.of(&["web", "1", "prod", "a", "apps/a"]);
        let operator = chance.of(&["In", "NotIn"]);
        made.set(
            &["selector"],
            value!({"matchExpressions": [{"key": (key), "operator": (operator), "values": [(value)]}]}),
        );
    }
    made
}

fn values(chance: &mut Chance, go: bool, made: &mut Value, kind: &str) {
    if chance.is(35) {
        made.set(&[kind, "values", "env"], text(chance, go));
    }
    if chance.is(10) {
        made.set(&[kind, "template"], value!({"metadata": {"labels": {"own": (text(chance, go))}}, "spec": {"project": "team", "destination": {"namespace": "n"}}}));
    }
}

fn plain(chance: &mut Chance, go: bool) -> Value {
    let kind =
        chance.of(&["list", "list", "clusters", "git", "git", "scmProvider", "plugin", "elementsYaml"]);
    let mut made = match kind {
        "list" => list(chance, go),
        "elementsYaml" => {
            value!({"list": {"elements": [], "elementsYaml": "- name: y\n  n: 1\n- {name: z, nested: {a: q}}\n"}})
        }
        "clusters" => clusters(chance),
        "git" => git(chance),
        "scmProvider" => scm(chance),
        _ => value!({"plugin": {"configMapRef": {"name": "config"}, "input": {"parameters": {"p": "q"}}}}),
    };
    if !matches!(kind, "list" | "elementsYaml") {
        values(chance, go, &mut made, kind);
    }
    made
}

fn list(chance: &mut Chance, go: bool) -> Value {
    let elements: Seq = (0..chance.next(3))
        .map(|_| {
            let name = chance.of(&["web", "db", "{{.name}}", "{{name}}", "A_b"]);
            let mut element = value!({"name": (name)});
            // With Go templates Argo CD stops at values of a list that meet those of another generator.
            if !go && chance.is(30) {
                element.set(&["values"], value!({"env": "prod"}));
            }
            if chance.is(if go { 40 } else { 6 }) {
                element.set(
                    &["n"],
                    chance.of(&[value!(1), value!(2.5), value!(10000000), value!(true), value!(null)]),
                );
            }
            if go && chance.is(30) {
                element.set(&["nested"], value!({"a": "x", "l": [1, "b"]}));
            }
            element
        })
        .collect();
    value!({"list": {"elements": (Value::Seq(elements))}})
}

fn clusters(chance: &mut Chance) -> Value {
    let mut made = value!({"clusters": {}});
    if chance.is(50) {
        made.set(&["clusters", "selector", "matchLabels", "env"], chance.of(&["prod", "dev", "none"]));
    }
    if chance.is(20) {
        // Argo CD shuffles clusters, so that there may be only one in a list.
        made.set(&["clusters", "flatList"], true);
        made.set(&["clusters", "selector", "matchLabels", "env"], "prod");
    }
    made
}

fn git(chance: &mut Chance) -> Value {
    let mut made = value!({"git": {"repoURL": "https://example.com/r.git", "revision": "main"}});
    let path = chance.of(&["apps/*", "*", "apps/a", "apps/*/*", "**", "a[p]ps/?", "none"]);
    let file = chance.of(&["apps/*.yaml", "**/c.json", "apps", "*.json", "apps/a/list.yaml", "*", "none"]);
    if chance.is(50) {
        made.set(
            &["git", "directories"],
            value!([{"path": (path)}, {"path": (chance.of(&["apps/b", "x/*"])), "exclude": true}]),
        );
    } else {
        made.set(
            &["git", "files"],
            value!([{"path": (file)}, {"path": (chance.of(&["*/b/*", "none"])), "exclude": true}]),
        );
    }
    if chance.is(20) {
        made.set(&["git", "pathParamPrefix"], "pre");
    }
    made
}

fn scm(chance: &mut Chance) -> Value {
    let mut made = value!({"scmProvider": {"github": {"organization": "org"}}});
    if chance.is(60) {
        let filters = [
            value!({"repositoryMatch": "^a"}),
            value!({"labelMatch": "x|y"}),
            value!({"branchMatch": "main"}),
            value!({"pathsExist": ["k/"]}),
            value!({"pathsDoNotExist": ["k"], "repositoryMatch": "b"}),
        ];
        made.set(&["scmProvider", "filters"], value!([(chance.of(&filters))]));
    }
    made
}

fn world(chance: &mut Chance) -> Value {
    let clusters = [
        value!({"name": "web", "server": "https://web", "labels": {"env": "prod"}, "annotations": {"a": "b"}}),
        value!({"name": "Dev_1", "server": "https://dev", "project": "team", "labels": {"env": "dev"}}),
        value!({"name": "in-cluster", "server": "https://kubernetes.default.svc"}),
    ];
    let chosen: Seq = clusters.into_iter().filter(|_| chance.is(60)).collect();
    let files = [
        ("apps/a/c.yaml", "name: web\nn: 1\nnested: {a: x, l: [1, {b: c}]}\n"),
        ("apps/b/c.json", "{\"name\": \"db\", \"n\": 2}"),
        ("apps/a/list.yaml", "- name: one\n- name: two\n  n: null\n"),
        ("README.md", "x: y\n"),
        ("x/.hidden/f.json", "{}"),
        ("x/Big_Name/e.yaml", ""),
    ];
    let mut asked = value!({"clusters": (Value::Seq(chosen)), "plugin": [{"name": "p1", "n": 1, "nested": {"a": "z"}}, {"name": "p2"}]});
    for (path, content) in files {
        if chance.is(70) {
            asked.set(&["files", path], content);
        }
    }
    asked.set(&["repos"], value!([
        {"organization": "org", "repository": "aa", "url": "https://h/aa", "branch": "main", "sha": "0123456789abcdef", "labels": ["x", "z"], "id": "7", "paths": ["k"]},
        {"organization": "org", "repository": "ab", "url": "https://h/ab", "branch": "Dev_1", "sha": "0123", "labels": [], "id": "8", "paths": []}
    ]));
    asked
}
