//! A scenario as it stands in its file.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use lynceus_object::{Value, patch, value, yaml};

/// Where what the doctor says begins; everything from there on is written by the test.
const FOUND: &str = "== found";

/// The address of the repository.
pub(crate) const URL: &str = "https://git.example.com/team/platform.git";
/// Another address of the same files, for applications with sources in two repositories.
pub(crate) const OTHER: &str = "https://git.example.com/team/values.git";

/// Files by their paths. Those that say nothing are not there.
pub(crate) type Files = BTreeMap<String, String>;

/// What a scenario is played with.
#[derive(Clone)]
pub(crate) struct Setting {
    /// The files of the repository.
    pub(crate) files: Files,
    /// What is committed once the files have been synced.
    pub(crate) change: Files,
    /// Other branches.
    pub(crate) branches: BTreeMap<String, Files>,
    /// The keys of the stage.
    pub(crate) stage: String,
    /// What is in the cluster before; nothing is assumed then.
    pub(crate) cluster: String,
    /// What people do when everything is at rest.
    pub(crate) then: String,
    /// How the controller itself is.
    pub(crate) engine: String,
    /// How long nothing new happens before what is not done counts as stuck.
    pub(crate) patience: SignedDuration,
}

/// The same once more with something else in it.
pub(crate) struct Variant {
    /// What is else, in a sentence.
    pub(crate) title: String,
    pub(crate) setting: Setting,
}

/// One trouble.
pub(crate) struct Scenario {
    /// What the test never writes.
    pub(crate) given: String,
    /// What the test has written.
    pub(crate) found: String,
    /// What near misses must not have, if it is not what the causes are called.
    pub(crate) codes: Vec<String>,
    /// The causes that there are, by their stable names.
    pub(crate) roots: Vec<String>,
    /// The fixes after which everything is well, as `2 of LYN0101/shop/ConfigMap/x`, or by number where there is one cause.
    pub(crate) heals: Vec<String>,
    /// Whether causes of one slip are told as one, by where in Git they are written.
    pub(crate) is_folded: bool,
    pub(crate) setting: Setting,
    /// What only a person can do, done.
    pub(crate) by_hand: Vec<Variant>,
    /// What looks like it, and is not.
    pub(crate) near_misses: Vec<Variant>,
}

impl Scenario {
    pub(crate) fn read(text: &str) -> Self {
        let (given, found) = match text.find(&format!("\n{FOUND}\n")) {
            Some(at) => (&text[..=at], &text[at + 1..]),
            None => (text, ""),
        };
        let (head, sections) = sections(given);
        let mut scenario = Scenario {
            given: given.to_owned(),
            found: found.to_owned(),
            codes: told(head, "code: "),
            roots: told(head, "roots: "),
            heals: told(head, "heals: "),
            is_folded: told(head, "folded: ").iter().any(|word| word == "yes"),
            setting: Setting::new(told(head, "patience: ").first()),
            by_hand: Vec::new(),
            near_misses: Vec::new(),
        };
        // What varies comes from all that is given.
        let (varied, given): (Vec<_>, Vec<_>) =
            sections.into_iter().partition(|(title, _)| title.contains(": "));
        given.into_iter().chain(varied).for_each(|(title, body)| scenario.take(title, body));
        scenario
    }

    fn take(&mut self, title: &str, body: &str) {
        let variant = |title: &str, setting: &Setting| {
            let mut setting = setting.clone();
            entries(body).into_iter().for_each(|(name, text)| setting.put(name, text));
            Variant { title: title.to_owned(), setting }
        };
        if let Some(title) = title.strip_prefix("near miss: ") {
            self.near_misses.push(variant(title, &self.setting));
        } else if let Some(title) = title.strip_prefix("by hand: ") {
            self.by_hand.push(variant(title, &self.setting));
        } else if let Some(branch) = title.strip_prefix("branch ") {
            let files = entries(body).into_iter().map(|(name, text)| file(name, text));
            self.setting.branches.insert(branch.to_owned(), files.collect());
        } else if title == "change" {
            self.setting.change = entries(body).into_iter().map(|(name, text)| file(name, text)).collect();
        } else {
            assert_eq!(title, "repository", "there is no such section");
            entries(body).into_iter().for_each(|(name, text)| self.setting.put(name, text));
        }
    }
}

impl Setting {
    fn new(patience: Option<&String>) -> Self {
        Setting {
            files: Files::new(),
            change: Files::new(),
            branches: BTreeMap::new(),
            stage: String::new(),
            cluster: String::new(),
            then: String::new(),
            engine: String::new(),
            // A Deployment gives up after ten minutes.
            patience: patience.map_or(SignedDuration::from_mins(11), |text| text.parse().expect("a time")),
        }
    }

    fn put(&mut self, name: &str, text: &str) {
        let place = match name {
            "stage" => &mut self.stage,
            "cluster" => &mut self.cluster,
            "then" => &mut self.then,
            "engine" => &mut self.engine,
            _ => {
                let (is_change, name) =
                    name.strip_prefix("change ").map_or((false, name), |name| (true, name));
                let (path, text) = file(name, text);
                // What a change has is told anew by a variant in the change.
                let is_change = is_change || self.change.contains_key(&path);
                let files = if is_change { &mut self.change } else { &mut self.files };
                files.insert(path, text);
                return;
            }
        };
        text.clone_into(place);
    }
}

/// A file, or an Application of which only what is special is told.
fn file(name: &str, text: &str) -> (String, String) {
    match name.strip_prefix("app ") {
        Some(app) if !text.is_empty() => (format!("apps/{app}.yaml"), application(app, text)),
        Some(app) => (format!("apps/{app}.yaml"), String::new()),
        None => (name.to_owned(), text.to_owned()),
    }
}

/// An Application that syncs the folder of its name by itself into the namespace of its name, with something merged into its spec.
fn application(name: &str, special: &str) -> String {
    let mut spec = value!({
        "project": "default",
        "source": {"repoURL": URL, "path": name, "targetRevision": "main"},
        "destination": {"server": "https://kubernetes.default.svc", "namespace": name},
        "syncPolicy": {
            "automated": {"prune": true, "selfHeal": true},
            "syncOptions": ["CreateNamespace=true"],
            "retry": {"limit": 2, "backoff": {"duration": "5s"}},
        },
    });
    let special = yaml::parse(special.as_bytes()).expect("a spec");
    spec = patch::merge(&spec, &special).expect("a spec that can be merged");
    let object = value!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd"}, "spec": spec,
    });
    yaml::to_string(&object)
}

/// What stands before the first section, and the sections with their titles.
fn sections(text: &str) -> (&str, Vec<(&str, &str)>) {
    parts(text, |line| line.strip_prefix("== "))
}

fn entries(text: &str) -> Vec<(&str, &str)> {
    parts(text, |line| line.strip_prefix("-- ")?.strip_suffix(" --")).1
}

/// A text, cut at the lines that are titles.
fn parts<'a>(
    text: &'a str,
    title: impl Fn(&'a str) -> Option<&'a str>,
) -> (&'a str, Vec<(&'a str, &'a str)>) {
    let mut parts: Vec<(&str, usize, usize)> = Vec::new();
    let (mut at, mut head) = (0, text.len());
    for line in text.split_inclusive('\n') {
        if let Some(title) = title(line.trim_end_matches('\n')) {
            match parts.last_mut() {
                Some(last) => last.2 = at,
                None => head = at,
            }
            parts.push((title, at + line.len(), text.len()));
        }
        at += line.len();
    }
    (&text[..head], parts.into_iter().map(|(title, from, to)| (title, &text[from..to])).collect())
}

fn told(head: &str, key: &str) -> Vec<String> {
    let lines = head.lines().filter_map(|line| line.strip_prefix(key));
    lines.flat_map(|line| line.split(", ")).filter(|one| *one != "none").map(str::to_owned).collect()
}

/// The documents of a text.
pub(crate) fn documents(text: &str) -> Vec<Value> {
    let all = yaml::documents(text.as_bytes(), &yaml::Options::default());
    all.into_iter().filter(|one| !one.is_empty).map(|one| one.result.expect("YAML")).collect()
}
