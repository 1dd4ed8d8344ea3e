//! A repository, a stage and a cluster in the making.

use std::collections::BTreeMap;

use super::random::Random;
use super::verdict::Expected;

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
}

/// One Application.
pub(super) struct App<'a> {
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
    pub(super) path: &'a str,
    pub(super) revision: &'a str,
    /// More of its source, such as value files.
    pub(super) source: &'a str,
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
        let App { name, namespace, path, revision, source, .. } = app;
        let automated = if app.automated { "    automated: {prune: true, selfHeal: true}\n" } else { "" };
        let options = if app.creates_namespace { "CreateNamespace=true" } else { "" };
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {name}\n  namespace: argocd\nspec:\n  \
             project: default\n  source:\n    repoURL: {URL}\n    path: {path}\n    targetRevision: {revision}\n{source}  \
             destination: {{server: \"https://kubernetes.default.svc\", namespace: {namespace}}}\n  syncPolicy:\n{automated}    \
             syncOptions: [{options}]\n    retry: {{limit: 2, backoff: {{duration: 5s}}}}\n"
        );
        self.applications.push(((*name).to_owned(), text));
    }

    /// An application of these manifests, as plain files, a chart or an overlay.
    pub(super) fn deliver(&mut self, name: &str, namespace: &str, manifests: &str) {
        let mut app = App::new(name, namespace);
        let overlay = format!("{name}/overlays/live");
        match self.random.below(3) {
            0 => self.file(format!("{name}/all.yaml"), manifests),
            1 => self.chart(name, manifests),
            _ => {
                self.file(format!("{name}/base/all.yaml"), manifests);
                self.file(format!("{name}/base/kustomization.yaml"), "resources: [all.yaml]\n");
                let text = "resources: [../../base]\nlabels: [{pairs: {team: blue}}]\n";
                self.file(format!("{overlay}/kustomization.yaml"), text);
                app.path = &overlay;
            }
        }
        self.application(&app);
    }

    /// A chart whose template takes the first image from its values.
    pub(super) fn chart(&mut self, name: &str, manifests: &str) {
        let mut template = manifests.to_owned();
        let mut values = "owner: blue\n".to_owned();
        let image = manifests.split("image: ").nth(1).and_then(|rest| rest.split(['\n', ',', '}']).next());
        if let Some(image) = image.map(str::to_owned).filter(|image| !image.is_empty()) {
            template = template.replacen(&format!("image: {image}"), "image: {{ .Values.image | quote }}", 1);
            values.push_str(&format!("image: {}\n", image.trim_matches(['\'', '"'])));
        }
        self.file(format!("{name}/Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n"));
        self.file(format!("{name}/values.yaml"), values);
        self.file(format!("{name}/templates/all.yaml"), template);
    }

    /// External Secrets, at work in the cluster before.
    pub(super) fn secrets_operator(&mut self) {
        if std::mem::replace(&mut self.has_secrets_operator, true) {
            return;
        }
        for kind in ["SecretStore", "ExternalSecret"] {
            self.given.push(definition("external-secrets.io", "v1", kind));
        }
        self.given.push("apiVersion: v1\nkind: Namespace\nmetadata: {name: external-secrets}\n".to_owned());
        let image = "ghcr.io/external-secrets/external-secrets:v1.0.0";
        let text = Pods { image, ..Pods::new("external-secrets") }.deployment();
        self.given.push(text.replacen("metadata: {", "metadata: {namespace: external-secrets, ", 1));
    }

    pub(super) fn expect(&mut self, expected: Expected) {
        self.expected.push(expected);
    }
}

/// The definition of a kind that takes any fields.
pub(super) fn definition(group: &str, version: &str, kind: &str) -> String {
    let singular = kind.to_lowercase();
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {singular}s.{group}}}\nspec:\n  \
         group: {group}\n  scope: Namespaced\n  names: {{kind: {kind}, plural: {singular}s, singular: {singular}}}\n  \
         versions:\n  - name: {version}\n    served: true\n    storage: true\n    subresources: {{status: {{ }}}}\n    schema: \
         {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}\n"
    )
}

/// A workload in the making.
pub(super) struct Pods<'a> {
    pub(super) name: &'a str,
    pub(super) image: &'a str,
    pub(super) replicas: usize,
    /// Lines of the pods' spec.
    pub(super) pod: String,
    /// Lines of the container.
    pub(super) container: String,
    /// The wave that it comes in.
    pub(super) wave: usize,
}

impl<'a> Pods<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        Pods {
            name,
            image: "docker.io/library/busybox:1.37",
            replicas: 1,
            pod: String::new(),
            container: String::new(),
            wave: 0,
        }
    }

    pub(super) fn deployment(&self) -> String {
        self.workload("Deployment", "")
    }

    pub(super) fn stateful_set(&self) -> String {
        self.workload("StatefulSet", &format!("  serviceName: {}\n", self.name))
    }

    /// A Deployment or a StatefulSet.
    pub(super) fn either(&self, random: &mut Random) -> String {
        if random.coin() { self.deployment() } else { self.stateful_set() }
    }

    fn workload(&self, kind: &str, more: &str) -> String {
        let Pods { name, replicas, wave, .. } = self;
        let annotations = match wave {
            0 => String::new(),
            wave => format!(", annotations: {{argocd.argoproj.io/sync-wave: \"{wave}\"}}"),
        };
        format!(
            "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}{annotations}}}\nspec:\n  replicas: {replicas}\n{more}  \
             selector: {{matchLabels: {{app: {name}}}}}\n{}",
            self.template()
        )
    }

    /// A Job, with these annotations.
    pub(super) fn job(&self, annotations: &str) -> String {
        let Pods { name, .. } = self;
        let template = self.template();
        let template = template.replacen("    spec:\n", "    spec:\n      restartPolicy: Never\n", 1);
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\nspec:\n  backoffLimit: 1\n{template}"
        )
    }

    fn template(&self) -> String {
        let Pods { name, image, .. } = self;
        let pod = indented(&self.pod, 6);
        let container = indented(&self.container, 8);
        format!(
            "  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n{pod}      containers:\n      - name: main\n        \
             image: {image}\n{container}"
        )
    }
}

fn indented(lines: &str, by: usize) -> String {
    lines.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
}

/// A Service before the pods of a workload.
pub(super) fn service(name: &str, port: u16) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{selector: {{app: {name}}}, ports: [{{port: {port}}}]}}\n"
    )
}

pub(super) fn config_map(name: &str, more: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  mode: fast\n{more}")
}

/// Documents as one file.
pub(super) fn all(documents: &[String]) -> String {
    documents.join("---\n")
}
