//! A repository, a stage and a cluster in the making.

use std::collections::BTreeMap;

use super::random::Random;
use super::verdict::Expected;
use super::workload::indented;
pub(super) use super::workload::{Pods, all, config_map, definition, in_wave, service};

/// What the causes and the noise are written into.
pub(super) struct Scene {
    pub(super) random: Random,
    /// The files of the repository.
    pub(super) files: BTreeMap<String, String>,
    /// The Applications.
    pub(super) applications: Vec<(String, String)>,
    /// Entries of the lists of the stage, by key.
    pub(super) stage: BTreeMap<&'static str, Vec<String>>,
    /// What is in the cluster before.
    pub(super) given: Vec<String>,
    /// What is to be found.
    pub(super) expected: Vec<Expected>,
    has_secrets_operator: bool,
    /// Whether an application of this mixture brings what makes certificates.
    pub(super) has_certificates: bool,
}

/// One Application.
#[derive(Clone, Copy)]
pub(super) struct App<'a> {
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
    pub(super) path: &'a str,
    pub(super) revision: &'a str,
    /// More lines of its source, such as value files.
    pub(super) source: &'a str,
    /// The lines of a second source of the same repository, if it has one.
    pub(super) other: &'a str,
    /// The wave that it comes in, where others bring it.
    pub(super) wave: i32,
    pub(super) automated: bool,
    pub(super) creates_namespace: bool,
}

impl<'a> App<'a> {
    /// One that syncs by itself from a folder of its own name.
    pub(super) fn new(name: &'a str, namespace: &'a str) -> Self {
        App {
            name,
            namespace,
            path: name,
            revision: "main",
            source: "",
            other: "",
            wave: 0,
            automated: true,
            creates_namespace: true,
        }
    }
}

/// The address of the repository.
const URL: &str = "https://git.example.com/team/platform.git";

impl Scene {
    pub(super) fn new(random: Random) -> Self {
        Scene {
            random,
            files: BTreeMap::new(),
            applications: Vec::new(),
            stage: BTreeMap::new(),
            given: Vec::new(),
            expected: Vec::new(),
            has_secrets_operator: false,
            has_certificates: false,
        }
    }

    pub(super) fn name(&mut self) -> String {
        self.random.name()
    }

    pub(super) fn file(&mut self, path: String, text: impl Into<String>) {
        self.files.insert(path, text.into());
    }

    /// Adds an entry to a list of the stage.
    pub(super) fn staged(&mut self, list: &'static str, entry: String) {
        self.stage.entry(list).or_default().push(entry);
    }

    /// Writes an Application.
    pub(super) fn application(&mut self, app: &App<'_>) {
        let App { name, namespace, path, revision, source, other, .. } = app;
        let automated = if app.automated { "    automated: {prune: true, selfHeal: true}\n" } else { "" };
        let options = if app.creates_namespace { "CreateNamespace=true" } else { "" };
        let first = format!("repoURL: {URL}\npath: {path}\ntargetRevision: {revision}\n{source}");
        let sources = match other.is_empty() {
            true => format!("  source:\n{}", indented(&first, 4)),
            false => format!("  sources:\n{}{}", item(&first), item(&format!("repoURL: {URL}\n{other}"))),
        };
        let wave = match app.wave {
            0 => String::new(),
            wave => format!("  annotations: {{argocd.argoproj.io/sync-wave: \"{wave}\"}}\n"),
        };
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {name}\n  namespace: argocd\n{wave}spec:\n  \
             project: default\n{sources}  destination: {{server: \"https://kubernetes.default.svc\", namespace: {namespace}}}\n  \
             syncPolicy:\n{automated}    syncOptions: [{options}]\n    retry: {{limit: 2, backoff: {{duration: 5s}}}}\n"
        );
        self.applications.push(((*name).to_owned(), text));
    }

    /// External Secrets, whose kinds are there before.
    pub(super) fn secrets_operator(&mut self) {
        if std::mem::replace(&mut self.has_secrets_operator, true) {
            return;
        }
        for kind in ["SecretStore", "ExternalSecret"] {
            self.given.push(definition("external-secrets.io", "v1", kind));
        }
        let (app, namespace, work) = (self.name(), self.name(), self.name());
        let image = "ghcr.io/external-secrets/external-secrets:v1.0.0";
        self.deliver(&app, &namespace, &Pods { image, ..Pods::new(&work) }.deployment());
    }

    pub(super) fn expect(&mut self, expected: Expected) {
        self.expected.push(expected);
    }
}

/// Lines as an item of a list.
fn item(lines: &str) -> String {
    format!("  - {}", indented(lines, 4).trim_start())
}
