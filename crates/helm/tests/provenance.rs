//! Where fields come from, and which files count.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use lynceus_files::{FilePath, MemoryTree};
use lynceus_helm::{
    Capabilities, Chart, Options, Release, UserValues, ValueOptions, ValuesFile, render_traced,
};
use lynceus_object::FieldPath;

mod flags;

const FILES: [(&str, &str); 9] = [
    ("top/Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\n"),
    ("top/values.yaml", "replicas: 1\nimage: {name: nginx, tag: a}\nenabled: true\nsub: {size: small}\n"),
    ("top/README.md", "# Read me"),
    ("top/templates/_helpers.tpl", "{{- define \"image\" -}}\n{{ .name }}:{{ .tag }}\n{{- end }}\n"),
    (
        "top/templates/deploy.yaml",
        "kind: Deployment\n{{- if .Values.enabled }}\nspec:\n  replicas: {{ .Values.replicas }}\n  \
         image: \"{{ include \"image\" .Values.image }}\"\n  name: {{ .Release.Name }}-x\n  fixed: yes\n{{- end }}\n",
    ),
    ("top/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
    ("top/charts/sub/values.yaml", "size: medium\ncolor: red\n"),
    (
        "top/charts/sub/templates/s.yaml",
        "# first\n---\nkind: Sub\ndata:\n  size: {{ .Values.size }}\n  color: {{ .Values.color }}\n",
    ),
    ("other/file", "x"),
];

fn chart() -> Arc<Chart> {
    let mut tree = MemoryTree::new();
    for (name, content) in FILES {
        tree.insert(FilePath::new(name).unwrap(), content.as_bytes());
    }
    Arc::new(Chart::from_tree(&tree, &FilePath::new("top").unwrap()).unwrap())
}

fn values() -> UserValues {
    let options = ValueOptions {
        files: vec![ValuesFile { name: "prod.yaml".into(), data: b"image: {tag: b}"[..].into() }],
        set: vec!["replicas=3".into()],
        ..ValueOptions::default()
    };
    options.merge(&mut |_| Ok(String::new())).unwrap()
}

fn explain(kind: &str, path: &str) -> String {
    let (rendering, traces) = render_traced(
        &chart(),
        &values(),
        &Release::new("r", "default"),
        &Capabilities::default(),
        &Options::default(),
        &mut flags::Still(1),
    )
    .unwrap();
    let manifest = rendering.manifests.iter().find(|manifest| manifest.kind == kind).unwrap();
    let explanation = traces.explain(manifest, &FieldPath::parse(path).unwrap()).unwrap();
    let values: Vec<String> = explanation
        .values
        .iter()
        .map(|fed| match &fed.origin {
            Some(origin) => format!("{} from {origin}", fed.path),
            None => fed.path.clone(),
        })
        .collect();
    let place = explanation.place;
    format!("{}:{}:{} {}", place.template, place.line, place.column, values.join(", "))
}

#[test]
fn a_field_is_traced_to_its_template_and_to_the_values_that_fed_it() {
    for (kind, path, expected) in [
        (
            "Deployment",
            "spec.replicas",
            "top/templates/deploy.yaml:4:16 .Values.replicas from --set replicas=3",
        ),
        (
            "Deployment",
            "spec.image",
            "top/templates/_helpers.tpl:2:4 .Values.image.name from top/values.yaml, .Values.image.tag from prod.yaml",
        ),
        ("Deployment", "spec.name", "top/templates/deploy.yaml:6:12 .Release.Name"),
        ("Deployment", "spec.fixed", "top/templates/deploy.yaml:7:10 "),
        ("Sub", "data.size", "top/charts/sub/templates/s.yaml:5:12 .Values.sub.size from top/values.yaml"),
        (
            "Sub",
            "data.color",
            "top/charts/sub/templates/s.yaml:6:13 .Values.sub.color from top/charts/sub/values.yaml",
        ),
    ] {
        assert_eq!(explain(kind, path), expected, "{path}");
    }
}

#[test]
fn only_files_that_can_matter_are_in_the_read_set() {
    let set = chart().read_set(&values());
    let has = |name: &str| set.files.contains(&FilePath::new(name).unwrap());
    assert!(has("top/Chart.yaml") && has("top/values.yaml") && has("top/templates/deploy.yaml"));
    assert!(has("top/charts/sub/values.yaml") && has("top/.helmignore"));
    assert!(!has("top/README.md") && !has("other/file"));
    assert!(set.directories.contains(&FilePath::new("top/templates").unwrap()));
    assert!(!set.directories.contains(&FilePath::new("other").unwrap()));
    // A value may be a template, and speak of files.
    let mut values = values();
    values.add_map(
        lynceus_helm::Origin::File("x".into()),
        lynceus_object::Map::from_iter([("t", "{{ .Files.Get \"README.md\" }}")]),
    );
    assert!(chart().read_set(&values).files.contains(&FilePath::new("top/README.md").unwrap()));
}
