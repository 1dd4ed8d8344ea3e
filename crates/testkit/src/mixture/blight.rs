//! What may be wrong with the pods of any workload: what chains begin with.

use super::scene::{Pods, Scene};
use super::verdict::Expected;
use super::workload::PLAIN;

/// Something that keeps pods from running, as lines for their template, and under what it is found.
pub(super) struct Blight {
    image: String,
    pod: String,
    container: String,
    codes: &'static [&'static str],
    subjects: Vec<String>,
}

impl Blight {
    fn new(codes: &'static [&'static str]) -> Self {
        let (pod, container) = (String::new(), String::new());
        Blight { image: PLAIN.to_owned(), pod, container, codes, subjects: Vec::new() }
    }

    fn about(mut self, subject: String) -> Self {
        self.subjects.push(subject);
        self
    }

    /// One of any sort.
    pub(super) fn any(scene: &mut Scene) -> Self {
        match scene.random.below(8) {
            0 => Blight::program(scene, "exitCode: 1, after: 3s, message: no settings", &["LYN0901"]),
            1 => Blight::program(scene, "oom: true, after: 5s", &["LYN0902"]),
            _ => Blight::waiting(scene),
        }
    }

    /// One that keeps pods from starting at all.
    pub(super) fn waiting(scene: &mut Scene) -> Self {
        let name = scene.name();
        match scene.random.below(6) {
            0 => {
                let image = format!("ghcr.io/acme/{name}");
                scene.staged("images", format!("{{image: {image}, tags: [v1, v2]}}"));
                let image = format!("{image}:v7");
                Blight { image: image.clone(), ..Blight::new(&["LYN0501"]) }.about(format!("Image/{image}"))
            }
            1 => {
                let container = format!("envFrom: [{{secretRef: {{name: {name}}}}}]\n");
                Blight { container, ..Blight::new(&["LYN0301"]) }.about(format!("Secret/{name}"))
            }
            2 => {
                let pod = format!("volumes: [{{name: settings, configMap: {{name: {name}}}}}]\n");
                Blight { pod, ..Blight::new(&["LYN0301"]) }.about(format!("ConfigMap/{name}"))
            }
            3 => {
                let pod = format!("serviceAccountName: {name}\n");
                Blight { pod, ..Blight::new(&["LYN0301"]) }.about(format!("ServiceAccount/{name}"))
            }
            4 => Blight { pod: format!("nodeSelector: {{disk: {name}}}\n"), ..Blight::new(&["LYN0403"]) },
            _ => {
                let container = "resources: {requests: {cpu: \"60\"}}\n".to_owned();
                Blight { container, ..Blight::new(&["LYN0404"]) }
            }
        }
    }

    fn program(scene: &mut Scene, what: &str, codes: &'static [&'static str]) -> Self {
        let name = scene.name();
        scene.staged("programs", format!("{{image: \"*/acme/{name}:*\", {what}}}"));
        Blight { image: format!("ghcr.io/acme/{name}:v1"), ..Blight::new(codes) }
    }

    /// Pods that have it.
    pub(super) fn pods<'a>(&'a self, name: &'a str) -> Pods<'a> {
        Pods {
            image: &self.image,
            pod: self.pod.clone(),
            container: self.container.clone(),
            ..Pods::new(name)
        }
    }

    /// What is to be found of it.
    pub(super) fn expected(&self, sort: &'static str, app: &str) -> Expected {
        let expected = Expected::new(sort, self.codes).of(app);
        self.subjects.iter().fold(expected, |expected, one| expected.about(one.clone()))
    }
}
