//! The kustomizations that are measured: a small overlay, one of 500 resources, and very large ones heavy with definitions.

use std::fmt::Write as _;
use std::path::Path;

/// A tree of files with `base` and `overlay`.
pub(super) struct Kustomization {
    pub(super) name: &'static str,
    files: Vec<(String, String)>,
}

/// How many lines are printed for one definition, near enough.
const LINES_OF_A_DEFINITION: usize = 3_150;

impl Kustomization {
    /// What a person would begin with.
    pub(super) fn small() -> Self {
        Kustomization::of("small", 2, 0)
    }

    /// An application of many parts.
    pub(super) fn resources() -> Self {
        Kustomization::of("500 resources", 250, 0)
    }

    /// Mostly definitions, as platforms have them.
    pub(super) fn lines(name: &'static str, lines: usize) -> Self {
        Kustomization::of(name, 100, lines / LINES_OF_A_DEFINITION)
    }

    /// Workloads with a Service each, and definitions.
    fn of(name: &'static str, workloads: usize, definitions: usize) -> Self {
        let mut files = Vec::new();
        let mut resources = String::new();
        for chunk in 0..workloads.div_ceil(25) {
            let file = format!("workloads-{chunk}.yaml");
            let numbers = chunk * 25..workloads.min(chunk * 25 + 25);
            files.push((format!("base/{file}"), numbers.map(workload).collect()));
            let _ = writeln!(resources, "- {file}");
        }
        for number in 0..definitions {
            let file = format!("definition-{number}.yaml");
            files.push((format!("base/{file}"), definition(number)));
            let _ = writeln!(resources, "- {file}");
        }
        let generator = "configMapGenerator:\n- name: settings\n  literals: [mode=fast, level=3]\n";
        files.push(("base/kustomization.yaml".to_owned(), format!("resources:\n{resources}{generator}")));
        files.push(("overlay/kustomization.yaml".to_owned(), OVERLAY.to_owned()));
        Kustomization { name, files }
    }

    /// Writes the files below a directory.
    pub(super) fn write(&self, directory: &Path) -> Result<(), String> {
        for (name, text) in &self.files {
            let path = directory.join(name);
            let folder = path.parent().unwrap_or(directory);
            std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

const OVERLAY: &str = "\
resources: [../base]
namespace: production
namePrefix: prod-
labels:
- pairs: {team: platform, tier: backend}
  includeSelectors: true
commonAnnotations: {owner: platform@example.com}
images:
- {name: registry.example.com/app, newTag: v2.4.1}
replicas:
- {name: app-0, count: 5}
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/template/spec/priorityClassName, value: high}
- patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: app-1}
    spec:
      template:
        spec:
          containers:
          - name: main
            env: [{name: EXTRA, value: \"1\"}]
          - {name: sidecar, image: \"registry.example.com/sidecar:1\"}
replacements:
- source: {kind: Service, name: app-0, fieldPath: metadata.name}
  targets:
  - select: {kind: Deployment, name: app-1}
    fieldPaths: [\"spec.template.spec.containers.[name=main].env.[name=PEER].value\"]
";

fn workload(number: usize) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-{number}
  labels: {{app: app-{number}}}
spec:
  replicas: 2
  selector:
    matchLabels: {{app: app-{number}}}
  template:
    metadata:
      labels: {{app: app-{number}}}
    spec:
      containers:
      - name: main
        image: registry.example.com/app:v1
        args: [--listen=:8080, --config=/etc/app/config.yaml]
        envFrom:
        - configMapRef: {{name: settings}}
        env:
        - {{name: PEER, value: none}}
        - name: POD
          valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}
        ports:
        - {{containerPort: 8080, name: http}}
        resources:
          requests: {{cpu: 100m, memory: 128Mi}}
          limits: {{memory: 256Mi}}
        readinessProbe:
          httpGet: {{path: /ready, port: http}}
---
apiVersion: v1
kind: Service
metadata:
  name: app-{number}
spec:
  selector: {{app: app-{number}}}
  ports:
  - {{port: 80, targetPort: http, name: http}}
---
"
    )
}

/// A definition with a deep schema and long descriptions, as generators write them.
fn definition(number: usize) -> String {
    let mut text = format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: v0.16.0
  name: things{number}.example.com
spec:
  group: example.com
  names: {{kind: Thing{number}, listKind: Thing{number}List, plural: things{number}, singular: thing{number}}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        description: A thing that the operator takes care of.
        type: object
        properties:
"
    );
    for group in 0..30 {
        let _ = write!(
            text,
            "          part{group}:
            description: |-
              Part{group} says how one part of the thing is set up. It is taken as it
              is written: what is left out has the default of the operator.
            type: object
            required: [name]
            properties:
"
        );
        for field in 0..6 {
            let _ = write!(
                text,
                "              field{field}:
                description: Field{field} is one of the settings of this part, see the manual for what it does and when to change it.
                type: string
                enum: [\"a\", \"b\", \"on\", \"off\"]
              count{field}:
                description: |-
                  Count{field} limits how many there may be.
                  Nothing means that there is no limit.
                type: integer
                format: int32
                minimum: 0
"
            );
        }
    }
    text
}
