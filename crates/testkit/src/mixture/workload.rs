//! Workloads in the making: pods of all kinds, with their containers in all places.

use super::random::Random;

/// Where in the pod the container is that a cause or a need is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// The only container.
    Main,
    /// One that runs before the others.
    Init,
    /// A second one.
    Second,
    /// One that starts before the others and stays.
    Sidecar,
}

/// A workload in the making.
#[derive(Clone)]
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
    /// Which container the image and its lines are of.
    pub(super) spot: Spot,
    /// Annotations of the pods.
    pub(super) told: String,
}

/// An image that is always there.
pub(super) const PLAIN: &str = "docker.io/library/busybox:1.37";

impl<'a> Pods<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        Pods {
            name,
            image: PLAIN,
            replicas: 1,
            pod: String::new(),
            container: String::new(),
            wave: 0,
            spot: Spot::Main,
            told: String::new(),
        }
    }

    pub(super) fn deployment(&self) -> String {
        let replicas = format!("  replicas: {}\n", self.replicas);
        self.workload("Deployment", &replicas)
    }

    pub(super) fn stateful_set(&self) -> String {
        let more = format!("  replicas: {}\n  serviceName: {}\n", self.replicas, self.name);
        self.workload("StatefulSet", &more)
    }

    pub(super) fn daemon_set(&self) -> String {
        self.workload("DaemonSet", "")
    }

    /// A Deployment or a StatefulSet, with the container in any place.
    pub(super) fn either(&self, random: &mut Random) -> String {
        let pods = self.anywhere(random);
        if random.coin() { pods.deployment() } else { pods.stateful_set() }
    }

    /// A workload of any kind, with the container in any place.
    pub(super) fn any(&self, random: &mut Random) -> String {
        let pods = self.anywhere(random);
        match random.below(5) {
            0 | 1 => pods.deployment(),
            2 => pods.stateful_set(),
            3 => pods.daemon_set(),
            _ => Pods { spot: pods.lasting(), ..pods }.job(""),
        }
    }

    /// The same with the container in any place.
    pub(super) fn anywhere(&self, random: &mut Random) -> Self {
        let spot = random.pick(&[Spot::Main, Spot::Main, Spot::Init, Spot::Second, Spot::Sidecar]);
        Pods { spot, ..self.clone() }
    }

    /// A place in which a Job can end.
    fn lasting(&self) -> Spot {
        if self.spot == Spot::Second { Spot::Main } else { self.spot }
    }

    fn workload(&self, kind: &str, more: &str) -> String {
        let Pods { name, wave, .. } = self;
        let annotations = match wave {
            0 => String::new(),
            wave => format!(", annotations: {{argocd.argoproj.io/sync-wave: \"{wave}\"}}"),
        };
        format!(
            "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}{annotations}}}\nspec:\n{more}  \
             selector: {{matchLabels: {{app: {name}}}}}\n{}",
            self.template()
        )
    }

    /// A Job, with these annotations.
    pub(super) fn job(&self, annotations: &str) -> String {
        let Pods { name, .. } = self;
        let template = Pods { pod: format!("restartPolicy: Never\n{}", self.pod), ..self.clone() }.template();
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\nspec:\n  backoffLimit: 1\n{template}"
        )
    }

    /// A CronJob that runs each hour.
    pub(super) fn cron_job(&self) -> String {
        let Pods { name, .. } = self;
        let pods = Pods { pod: format!("restartPolicy: Never\n{}", self.pod), ..self.clone() };
        let template = indented(&pods.template(), 4);
        format!(
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: {name}}}\nspec:\n  schedule: \"7 * * * *\"\n  jobTemplate:\n    \
             spec:\n{template}"
        )
    }

    fn template(&self) -> String {
        let Pods { name, image, told, .. } = self;
        let pod = indented(&self.pod, 6);
        let one = |called: &str, image: &str, lines: &str| {
            format!("      - name: {called}\n        image: {image}\n{}", indented(lines, 8))
        };
        let plain = one("main", PLAIN, "");
        let containers = match self.spot {
            Spot::Main => format!("      containers:\n{}", one("main", image, &self.container)),
            Spot::Second => {
                format!("      containers:\n{plain}{}", one("helper", image, &self.container))
            }
            Spot::Init => {
                format!(
                    "      initContainers:\n{}      containers:\n{plain}",
                    one("setup", image, &self.container)
                )
            }
            Spot::Sidecar => {
                let lines = format!("restartPolicy: Always\n{}", self.container);
                format!("      initContainers:\n{}      containers:\n{plain}", one("agent", image, &lines))
            }
        };
        let told = if told.is_empty() { String::new() } else { format!(", annotations: {{{told}}}") };
        format!("  template:\n    metadata: {{labels: {{app: {name}}}{told}}}\n    spec:\n{pod}{containers}")
    }
}

pub(super) fn indented(lines: &str, by: usize) -> String {
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

/// The same in a wave. The object's metadata begins on the line of its field.
pub(super) fn in_wave(document: &str, wave: i32) -> String {
    let mark = format!("metadata: {{annotations: {{argocd.argoproj.io/sync-wave: \"{wave}\"}}, ");
    document.replacen("metadata: {", &mark, 1)
}

/// Documents as one file.
pub(super) fn all(documents: &[String]) -> String {
    documents.join("---\n")
}
