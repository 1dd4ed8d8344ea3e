//! A question, and what our code answers to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_api::ApplicationSet;
use lynceus_appset::{
    Answer, Answers, Cluster, Need, Outcome, PullRequest, Repository, RepositoryId, generate,
};
use lynceus_files::{FilePath, MemoryTree};
use lynceus_gotmpl::Environment;
use lynceus_object::{Map, Selector, Str, Value, from_typed, json, to_typed};

/// A world without time or chance.
struct Still;

impl Environment for Still {
    fn now(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn host(&mut self) -> &mut dyn std::any::Any {
        self
    }
}

/// What is sent to the oracle: the question without what is said about it.
pub(crate) fn sent(question: &Value) -> Value {
    let mut question = question.clone();
    question.remove(&["name"]);
    question.remove(&["deviates"]);
    question
}

/// Our answer, in the form of [`normal`].
pub(crate) fn answer(question: &Value) -> Value {
    if let Some(text) = question.str_at(&["slug"]) {
        let slug = lynceus_appset::slugify(&text.trim().replace('_', "-"), 50, true);
        let text: Map =
            [("text", Value::from(slug))].into_iter().filter(|(_, slug)| !slug.is_empty()).collect();
        return normal(&Value::Map(text));
    }
    let set: ApplicationSet = to_typed(question.get("set").expect("a set")).expect("an ApplicationSet");
    let mut answers = Answers::new();
    for _ in 0..20 {
        match generate(&set, &answers, &mut Still) {
            Outcome::Needs(needs) => needs.iter().for_each(|need| answers.give(need, got(question, need))),
            Outcome::Done(generation) => {
                let mut given = Value::default();
                match generation.faults.first() {
                    Some(fault) => given.set(&["reason"], fault.kind.reason()),
                    None => {
                        let apps = generation
                            .applications
                            .iter()
                            .map(|one| from_typed(&one.application).expect("a value"));
                        given.set(&["apps"], apps.collect::<Value>());
                    }
                }
                return normal(&given);
            }
        }
    }
    panic!("it needs more and more")
}

/// An answer without what makes no difference: the order, and what stands in every Application.
pub(crate) fn normal(answer: &Value) -> Value {
    if let Some(text) = answer.get("text") {
        return [("text", text.clone())].into_iter().collect::<Map>().into();
    }
    let mut given = Value::default();
    // Argo CD stops at what it cannot convert, and calls that nothing.
    if let Some(reason) = answer.str_at(&["reason"]).filter(|reason| !reason.is_empty()) {
        let reason = if reason == "panic" { "ApplicationGenerationFromParamsError" } else { reason };
        given.set(&["reason"], reason);
        return given;
    }
    let mut apps: Vec<Value> = answer.items_at(&["apps"]).iter().map(application).collect();
    apps.sort_by_key(json::to_string);
    given.set(&["apps"], apps.into_iter().collect::<Value>());
    given
}

fn application(app: &Value) -> Value {
    let mut kept = Value::default();
    for field in ["name", "namespace", "labels", "annotations", "finalizers"] {
        if let Some(value) = app.at(&["metadata", field]).filter(|value| !value.is_empty()) {
            kept.set(&["metadata", field], value.clone());
        }
    }
    let typed: lynceus_api::Application = to_typed(app).expect("an Application");
    kept.set(&["spec"], from_typed(&typed.spec).expect("a spec"));
    kept
}

fn got(question: &Value, need: &Need) -> Answer {
    match need {
        Need::Clusters => Answer::Clusters(question.items_at(&["clusters"]).iter().map(cluster).collect()),
        Need::Tree { .. } => Answer::Tree(Arc::new(tree(question))),
        Need::ConfigMap { .. } => Answer::ConfigMap(texts(question.get("configMap"))),
        Need::Decisions { name, selector, .. } => {
            let selector = Selector::from_object(from_typed(selector).ok().as_ref()).expect("a selector");
            let fits = |object: &&Value| match name.is_empty() {
                true => selector.matches_labels(object.at(&["metadata", "labels"])),
                // The stand-in of a cluster that the oracle asks knows no field selectors.
                false => true,
            };
            Answer::Objects(question.items_at(&["decisions"]).iter().filter(fits).cloned().collect())
        }
        Need::Plugin { .. } => {
            let maps = question.items_at(&["plugin"]).iter().filter_map(Value::as_map).cloned();
            Answer::Parameters(maps.collect())
        }
        Need::Repositories { .. } => {
            Answer::Repositories(question.items_at(&["repos"]).iter().map(repository).collect())
        }
        Need::Branches { repository, .. } => Answer::Repositories(vec![repository.clone()]),
        Need::Path { repository, path, .. } => {
            let mut repos = question.items_at(&["repos"]).iter();
            let is_meant = |repo: &&Value| repo.str_at(&["repository"]) == Some(&repository.repository);
            let paths = repos.find(is_meant).map_or(&[][..], |repo| repo.items_at(&["paths"]));
            Answer::Exists(paths.iter().any(|one| one.as_str() == Some(path)))
        }
        Need::PullRequests { .. } => {
            Answer::PullRequests(question.items_at(&["pulls"]).iter().map(pull).collect())
        }
    }
}

fn text(value: &Value, key: &str) -> Str {
    value.str_at(&[key]).unwrap_or_default().into()
}

fn list(value: &Value, key: &str) -> Vec<Str> {
    value.items_at(&[key]).iter().filter_map(Value::as_str).map(Str::from).collect()
}

fn texts(value: Option<&Value>) -> BTreeMap<Str, Str> {
    let map = value.and_then(Value::as_map).cloned().unwrap_or_default();
    map.iter().map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().into())).collect()
}

fn cluster(value: &Value) -> Cluster {
    let mut labels = texts(value.get("labels"));
    labels.insert("argocd.argoproj.io/secret-type".into(), "cluster".into());
    Cluster {
        name: text(value, "name"),
        server: text(value, "server"),
        project: text(value, "project"),
        labels,
        annotations: texts(value.get("annotations")),
    }
}

fn tree(question: &Value) -> MemoryTree {
    let mut tree = MemoryTree::new();
    for (path, content) in texts(question.get("files")) {
        tree.insert(FilePath::new(&path).expect("a path"), content.as_bytes().to_vec());
    }
    tree
}

fn repository(value: &Value) -> Repository {
    Repository {
        organization: text(value, "organization"),
        repository: text(value, "repository"),
        id: value.get("id").map(|id| match id.as_int() {
            Some(number) => RepositoryId::Number(number),
            None => RepositoryId::Text(text(value, "id")),
        }),
        url: text(value, "url"),
        branch: text(value, "branch"),
        sha: text(value, "sha"),
        labels: list(value, "labels"),
    }
}

fn pull(value: &Value) -> PullRequest {
    PullRequest {
        number: value.int_at(&["number"]).unwrap_or_default(),
        title: text(value, "title"),
        branch: text(value, "branch"),
        target_branch: text(value, "targetBranch"),
        head_sha: text(value, "headSha"),
        labels: list(value, "labels"),
        author: text(value, "author"),
    }
}
