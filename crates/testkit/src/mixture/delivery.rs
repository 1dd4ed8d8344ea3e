//! The ways in which manifests become an application: files, charts, charts of charts, overlays, several sources.

use super::noise;
use super::random::Random;
use super::scene::{App, Scene, all};

/// How manifests are brought.
#[derive(Clone, Copy)]
enum Way {
    Files,
    Chart,
    Umbrella,
    Overlay,
    Patched,
    TwoSources,
}

impl Way {
    const ALL: [Way; 6] =
        [Way::Files, Way::Chart, Way::Umbrella, Way::Overlay, Way::Patched, Way::TwoSources];
}

impl Scene {
    /// An application of these manifests, brought in any way.
    pub(super) fn deliver(&mut self, name: &str, namespace: &str, manifests: &str) {
        self.deliver_as(&App::new(name, namespace), manifests);
    }

    /// The same for an application that has more to be said of it. Its path and its source are set here.
    pub(super) fn deliver_as(&mut self, app: &App<'_>, manifests: &str) {
        let more = noise::company(self, worker(manifests).unwrap_or(app.name));
        let manifests = all(&std::iter::once(manifests.to_owned()).chain(more).collect::<Vec<_>>());
        let (name, manifests) = (app.name, manifests.as_str());
        let overlay = format!("{name}/overlays/live");
        let (mut path, mut source, mut other) = (name, "", "");
        match self.random.pick(&Way::ALL) {
            Way::Files => source = self.files(name, manifests),
            Way::Chart => self.chart(name, manifests),
            Way::Umbrella => {
                self.umbrella(name, manifests);
                source = "helm: {valueFiles: [values.yaml, values-live.yaml]}\n";
            }
            Way::Overlay => {
                self.overlay(name, manifests);
                path = &overlay;
            }
            Way::Patched => {
                self.patched(name, manifests);
                path = &overlay;
            }
            Way::TwoSources => {
                self.chart(name, manifests);
                let values = format!("{name}/values.yaml");
                let text =
                    self.files.insert(values.clone(), "owner: nobody\n".to_owned()).unwrap_or_default();
                self.file(format!("settings/{name}.yaml"), text);
                source = "helm: {valueFiles: [$settings/settings/APP.yaml]}\n";
                other = "targetRevision: main\nref: settings\n";
            }
        }
        let source = source.replace("APP", name);
        self.application(&App { path, source: &source, other, ..*app });
    }

    /// One file, or one for each object in folders.
    fn files(&mut self, name: &str, manifests: &str) -> &'static str {
        if self.random.coin() {
            self.file(format!("{name}/all.yaml"), manifests);
            return "";
        }
        for (place, document) in manifests.split("---\n").enumerate() {
            let folder = self.random.pick(&["run", "config"]);
            self.file(format!("{name}/{folder}/part-{place}.yaml"), document);
        }
        "directory: {recurse: true}\n"
    }

    /// A chart whose template takes the first image from its values.
    pub(super) fn chart(&mut self, name: &str, manifests: &str) {
        let (template, image) = templated(manifests, ".Values.image");
        self.file(format!("{name}/Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n"));
        self.file(format!("{name}/values.yaml"), format!("owner: blue\n{}", set("image", image.as_deref())));
        self.file(format!("{name}/templates/all.yaml"), template);
    }

    /// A chart around a chart, which is switched on and told its image from outside.
    fn umbrella(&mut self, name: &str, manifests: &str) {
        let (template, image) = templated(manifests, ".Values.main.image");
        let inner = format!("{name}/charts/inner");
        self.file(
            format!("{name}/Chart.yaml"),
            format!(
                "apiVersion: v2\nname: {name}\nversion: 1.0.0\ndependencies:\n- {{name: inner, version: 1.0.0, condition: inner.enabled}}\n"
            ),
        );
        self.file(format!("{name}/values.yaml"), "inner: {enabled: false}\nglobal: {team: blue}\n");
        let main = image.map_or("{ }".to_owned(), |image| format!("{{image: \"{image}\"}}"));
        self.file(
            format!("{name}/values-live.yaml"),
            format!("inner:\n  # On here, off elsewhere.\n  enabled: true\n  main: {main}\n"),
        );
        self.file(format!("{inner}/Chart.yaml"), "apiVersion: v2\nname: inner\nversion: 1.0.0\n");
        self.file(format!("{inner}/values.yaml"), "main: {image: \"example.com/none:0\"}\n");
        self.file(format!("{inner}/templates/all.yaml"), template);
    }

    fn base(&mut self, name: &str, manifests: &str) {
        self.file(format!("{name}/base/all.yaml"), manifests);
        self.file(format!("{name}/base/kustomization.yaml"), "resources: [all.yaml]\n");
    }

    fn overlay(&mut self, name: &str, manifests: &str) {
        self.base(name, manifests);
        let text = "resources: [../../base]\nlabels: [{pairs: {team: blue}}]\n";
        self.file(format!("{name}/overlays/live/kustomization.yaml"), text);
    }

    /// An overlay with a component, a patch, a generator, and the tag of the first image.
    fn patched(&mut self, name: &str, manifests: &str) {
        let image = first_image(manifests);
        let tagged = image.as_deref().and_then(|image| image.rsplit_once(':'));
        let tagged = tagged.filter(|(repository, tag)| !repository.is_empty() && !tag.contains('/'));
        let (base, images) = match tagged {
            Some((repository, tag)) => (
                manifests.replacen(
                    &format!("image: {repository}:{tag}"),
                    &format!("image: {repository}:base"),
                    1,
                ),
                format!("images: [{{name: {repository}, newTag: \"{tag}\"}}]\n"),
            ),
            None => (manifests.to_owned(), String::new()),
        };
        self.base(name, &base);
        let patch = |kind: &str, field: &str| {
            format!(
                "patches:\n- target: {{kind: {kind}}}\n  patch: |-\n    apiVersion: apps/v1\n    kind: {kind}\n    metadata: {{name: any, {field}}}\n"
            )
        };
        let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
        let marked = patch("Deployment", "annotations: {example.com/owner: blue}");
        self.file(format!("{name}/components/marks/kustomization.yaml"), format!("{component}{marked}"));
        let labelled = patch("StatefulSet", "labels: {tier: back}");
        let generated = format!("configMapGenerator: [{{name: {name}-notes, literals: [written=here]}}]\n");
        let text = format!(
            "resources: [../../base]\ncomponents: [../../components/marks]\n{images}{labelled}{generated}"
        );
        self.file(format!("{name}/overlays/live/kustomization.yaml"), text);
    }
}

/// The name by which the first workload of manifests selects its pods.
fn worker(manifests: &str) -> Option<&str> {
    manifests.split("matchLabels: {app: ").nth(1)?.split('}').next()
}

/// The first image of manifests, unless a template makes it.
fn first_image(manifests: &str) -> Option<String> {
    let image = manifests.split("image: ").nth(1)?.split(['\n', ',', '}']).next()?;
    (!image.is_empty() && !image.contains(['{', '"', '\''])).then(|| image.to_owned())
}

/// Manifests that take their first image from a value, and the image.
fn templated(manifests: &str, value: &str) -> (String, Option<String>) {
    let Some(image) = first_image(manifests) else { return (manifests.to_owned(), None) };
    let taken = format!("image: {{{{ {value} | quote }}}}");
    (manifests.replacen(&format!("image: {image}"), &taken, 1), Some(image))
}

fn set(field: &str, value: Option<&str>) -> String {
    value.map(|value| format!("{field}: \"{value}\"\n")).unwrap_or_default()
}

/// Applications of applications, one or two levels deep, or none.
pub(super) fn plant(scene: &mut Scene) {
    let mut applications = std::mem::take(&mut scene.applications);
    scene.random.shuffle(&mut applications);
    match scene.random.below(3) {
        0 => applications.into_iter().for_each(|(name, text)| scene.file(format!("apps/{name}.yaml"), text)),
        1 => {
            for (name, text) in applications {
                scene.file(format!("fleet/{name}.yaml"), text);
            }
            parent(scene, "", "fleet");
        }
        _ => {
            let folders = ["fleet/red", "fleet/green"];
            for (name, text) in applications {
                let folder = scene.random.pick(&folders);
                scene.file(format!("{folder}/{name}.yaml"), text);
            }
            for folder in folders {
                let is_used = scene.files.keys().any(|path| path.starts_with(&format!("{folder}/")));
                if is_used {
                    parent(scene, "groups/", folder);
                }
            }
            parent(scene, "", "groups");
        }
    }
}

/// The application of the applications in a folder.
fn parent(scene: &mut Scene, place: &str, folder: &str) {
    let name = scene.name();
    scene.application(&App { path: folder, ..App::new(&name, "argocd") });
    let text = scene.applications.pop().map(|(_, text)| text).unwrap_or_default();
    scene.file(format!("{place}{name}.yaml"), text);
}

/// Whether a cause comes once more, in applications of its own.
pub(super) fn again(random: &mut Random) -> bool {
    random.below(6) == 0
}
