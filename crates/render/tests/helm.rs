//! Charts with an Application's parameters: files and a source in, values out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::sync::Arc;

use lynceus_api::ApplicationSource;
use lynceus_files::Tree;
use lynceus_object::{Value, to_typed, value};
use lynceus_render::{Bases, Charts, Fetched, Field, Job, Reason, References, Setting, explain, render};

mod given;

use given::{Still, tree};

/// A chart that prints what it was given.
const CHART: &str = "\
=== app/Chart.yaml
apiVersion: v2
name: app
version: 1.0.0
=== app/values.yaml
colour: blue
=== app/templates/map.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data:
  colour: {{ .Values.colour | quote }}
  all: {{ omit .Values \"colour\" | toJson | quote }}
  namespace: {{ .Release.Namespace }}
  version: {{ .Capabilities.KubeVersion.Version }}
";

/// What the chart prints with some parameters, and what is wrong otherwise.
fn given(files: &str, helm: &Value) -> String {
    let source = value!({"repoURL": "https://git.example.com/x", "path": "app", "helm": helm.clone()});
    let source: ApplicationSource = to_typed(&source).unwrap();
    let (tree, other) = (tree(&format!("{CHART}{files}")), tree("=== env/eu.yaml\nfrom: other\n"));
    let references: References = [("values".into(), Arc::new(other) as Arc<dyn Tree>)].into();
    let setting = Setting {
        application: "shop".into(),
        namespace: "prod".into(),
        revision: "0123456789".into(),
        kube_version: "v1.36.3-cloud.7+x".into(),
        value_schemes: vec!["https".into()],
        ..Setting::default()
    };
    let job = Job {
        tree: &tree,
        source: &source,
        setting: &setting,
        references: &references,
        fetched: &Fetched::new(),
        bases: &Bases::new(),
        charts: &Charts::none(),
    };
    match render(&job, &mut Still) {
        Ok(rendered) => {
            let object = &rendered.manifests[0].object;
            let data = |key: &str| object.value().str_at(&["data", key]).unwrap_or_default().to_owned();
            let words = ["colour", "all", "namespace", "version"].map(data);
            format!("{} {}", object.name(), words.join(" "))
        }
        Err(error) => {
            let mut text = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                text.push_str(&format!(": {cause}"));
                source = cause.source();
            }
            text
        }
    }
}

#[test]
fn without_parameters_the_release_is_called_as_the_application() {
    assert_eq!(given("", &value!({})), "shop blue {} prod v1.36.3");
}

#[test]
fn the_release_the_namespace_and_the_version_can_be_chosen() {
    let helm = value!({"releaseName": "web", "namespace": "own", "kubeVersion": "1.30"});
    assert_eq!(given("", &helm), "web blue {} own v1.30");
}

#[test]
fn what_comes_later_wins() {
    let files = "=== app/a.yaml\ncolour: a\nx: 1\n=== app/b.yaml\ncolour: b\n";
    for (helm, expected) in [
        (value!({"valueFiles": ["a.yaml", "b.yaml"]}), "b {\"x\":1}"),
        (value!({"valueFiles": ["b.yaml", "a.yaml"]}), "a {\"x\":1}"),
        (value!({"valueFiles": ["a.yaml"], "values": "colour: v\n"}), "v {\"x\":1}"),
        (value!({"values": "colour: v\n", "valuesObject": {"colour": "o"}}), "o {}"),
        (value!({"valuesObject": {"colour": "o"}, "parameters": [{"name": "colour", "value": "p"}]}), "p {}"),
        (
            value!({"parameters": [{"name": "n", "value": "1"}, {"name": "s", "value": "1", "forceString": true}]}),
            "blue {\"n\":1,\"s\":\"1\"}",
        ),
        (
            value!({"parameters": [{"name": "l", "value": "{a,b}"}, {"name": "t", "value": "a,b"}]}),
            "blue {\"l\":[\"a\",\"b\"],\"t\":\"a,b\"}",
        ),
        (value!({"fileParameters": [{"name": "f", "path": "b.yaml"}]}), "blue {\"f\":\"colour: b\\n\"}"),
    ] {
        assert_eq!(given(files, &helm), format!("shop {expected} prod v1.36.3"));
    }
}

#[test]
fn value_files_come_from_the_chart_the_root_patterns_and_other_sources() {
    let files = "=== app/v/a.yaml\na: 1\n=== app/v/b.yaml\nb: 1\na: 2\n=== shared/c.yaml\nc: 1\n=== app/shop.yaml\nd: 1\n";
    for (file, expected) in [
        ("v/*.yaml", r#"{"a":2,"b":1}"#),
        ("/shared/c.yaml", r#"{"c":1}"#),
        ("../shared/c.yaml", r#"{"c":1}"#),
        ("$ARGOCD_APP_NAME.yaml", r#"{"d":1}"#),
        ("$values/env/eu.yaml", r#"{"from":"other"}"#),
    ] {
        assert_eq!(
            given(files, &value!({"valueFiles": [file]})),
            format!("shop blue {expected} prod v1.36.3")
        );
    }
    let explicit = value!({"valueFiles": ["v/b.yaml", "v/*.yaml"]});
    assert_eq!(
        given(files, &explicit),
        r#"shop blue {"a":1,"b":1} prod v1.36.3"#,
        "a file keeps its own place"
    );
}

#[test]
fn what_is_not_there_or_not_allowed_is_told() {
    let missing = value!({"valueFiles": ["nope.yaml"]});
    assert_eq!(
        given("", &missing),
        "value file app/nope.yaml cannot be read: no such file or directory: app/nope.yaml"
    );
    let ignored = value!({"valueFiles": ["nope.yaml", "no/*.yaml"], "ignoreMissingValueFiles": true});
    assert_eq!(given("", &ignored), "shop blue {} prod v1.36.3");
    for (file, expected) in [
        (
            "../../x.yaml",
            "value file ../../x.yaml cannot be read: it resolves to outside the repository root",
        ),
        (
            "$values/../../x",
            "value file $values/../../x cannot be read: it resolves to outside the repository root",
        ),
        ("no/*.yaml", "values file glob \"no/*.yaml\" matched no files"),
        (
            "file:///etc/passwd",
            "value file file:///etc/passwd cannot be read: the URL scheme 'file' is not allowed",
        ),
        ("https://example.com/v.yaml", "https://example.com/v.yaml is needed first"),
    ] {
        assert_eq!(given("", &value!({"valueFiles": [file]})), expected);
    }
    let link = "=== shared/link.yaml -> ../../../etc/passwd\n";
    assert_eq!(
        given(link, &value!({"valueFiles": ["/shared/link.yaml"]})),
        "value file shared/link.yaml cannot be read: shared/link.yaml is a symbolic link to \"../../../etc/passwd\", which \
         leaves the repository"
    );
}

#[test]
fn the_repository_can_give_parameters_of_its_own() {
    let files = "=== app/.argocd-source.yaml\nhelm: {parameters: [{name: colour, value: all}]}\n=== \
                 app/.argocd-source-shop.yaml\nhelm: {parameters: [{name: colour, value: mine}]}\npath: elsewhere\n";
    assert_eq!(given(files, &value!({})), "shop mine {} prod v1.36.3");
}

#[test]
fn dependencies_come_from_beside_the_chart_or_are_needed() {
    let dependency = |repository: &str| {
        format!(
            "=== app/Chart.yaml\napiVersion: v2\nname: app\nversion: 1.0.0\ndependencies: [{{name: lib, version: 1.x, \
             repository: {repository:?}}}]\n=== lib/Chart.yaml\napiVersion: v2\nname: lib\nversion: 1.0.0\n=== \
             lib/values.yaml\ninner: 1\n"
        )
    };
    let beside = given(&dependency("file://../lib"), &value!({}));
    assert!(beside.contains(r#""lib":{"global":{},"inner":1}"#), "{beside}");
    assert_eq!(
        given(&dependency("https://charts.example.com"), &value!({})),
        "chart lib 1.x of https://charts.example.com is needed first"
    );
    let nowhere = given(&dependency(""), &value!({}));
    assert!(nowhere.contains("missing in charts/ directory: lib"), "{nowhere}");
}

#[test]
fn a_field_is_traced_to_its_template_and_its_value() {
    let tree = tree(CHART);
    let source = value!({"path": "app", "helm": {"valuesObject": {"colour": "red"}}});
    let source: ApplicationSource = to_typed(&source).unwrap();
    let setting = Setting { application: "shop".into(), ..Setting::default() };
    let (references, fetched) = (References::new(), Fetched::new());
    let job = Job {
        tree: &tree,
        source: &source,
        setting: &setting,
        references: &references,
        fetched: &fetched,
        bases: &Bases::new(),
        charts: &Charts::none(),
    };
    let field: Field = "configmap/shop:data.colour".parse().unwrap();
    let Some(Reason::Template(found)) = explain(&job, &field, &mut Still).unwrap() else {
        panic!("a template made it")
    };
    assert_eq!((found.place.template.as_str(), found.place.line), ("app/templates/map.yaml", 5));
    let values: Vec<String> = found
        .values
        .iter()
        .map(|fed| {
            format!("{} {}", fed.path, fed.origin.as_ref().map(ToString::to_string).unwrap_or_default())
        })
        .collect();
    assert_eq!(values, [".Values.colour spec.source.helm.valuesObject"]);
}

#[test]
fn a_chart_that_was_loaded_before_counts_as_read_again() {
    let tree = tree(CHART).identified("sha256:1");
    let setting = Setting { application: "shop".into(), ..Setting::default() };
    let (references, fetched) = (References::new(), Fetched::new());
    let rendered = |colour: &str, charts: &Charts| {
        let source = value!({"path": "app", "helm": {"valuesObject": {"colour": colour}}});
        let source: ApplicationSource = to_typed(&source).unwrap();
        let job = Job {
            tree: &tree,
            source: &source,
            setting: &setting,
            references: &references,
            fetched: &fetched,
            bases: &Bases::new(),
            charts,
        };
        let rendered = render(&job, &mut Still).unwrap();
        let colour = rendered.manifests[0].object.value().str_at(&["data", "colour"]).unwrap().to_owned();
        (colour, rendered.read_set)
    };
    let charts = Charts::new(1 << 20);
    let first = rendered("red", &charts);
    let again = rendered("green", &charts);
    assert_eq!((first.0.as_str(), again.0.as_str()), ("red", "green"));
    assert_eq!(again.1, first.1);
    assert_eq!(again.1, rendered("green", &Charts::none()).1);
}
