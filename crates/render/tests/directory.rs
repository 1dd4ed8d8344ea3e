//! Folders of manifests: files in, objects and diagnostics out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_api::{ApplicationSource, ApplicationSourceDirectory};
use lynceus_files::FilePath;

mod given;

use given::{render, tree};

fn directory(recurse: bool, include: &str, exclude: &str) -> ApplicationSourceDirectory {
    ApplicationSourceDirectory {
        recurse,
        include: include.into(),
        exclude: exclude.into(),
        ..ApplicationSourceDirectory::default()
    }
}

/// Renders `app` and prints what came out, one line each.
fn rendered(files: &str, options: Option<ApplicationSourceDirectory>) -> String {
    let source = ApplicationSource { path: "app".into(), directory: options, ..ApplicationSource::default() };
    match render(&tree(files), &source) {
        Err(error) => format!("error: {error}\n"),
        Ok(rendered) => {
            let objects = rendered.manifests.iter().map(|manifest| {
                format!("{} {}/{}\n", manifest.span, manifest.object.kind(), manifest.object.name())
            });
            let told = rendered.diagnostics.iter().map(|diagnostic| format!("{}\n", diagnostic.to_text()));
            objects.chain(told).collect()
        }
    }
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ";

#[test]
fn files_are_read_in_the_order_of_their_names_and_documents() {
    let files = format!(
        "=== app/b.yml\n{MAP}b\n=== app/a.yaml\n{MAP}a1\n---\n# nothing\n---\n{MAP}a2\n=== app/notes.txt\nkind: x\n"
    );
    assert_eq!(
        rendered(&files, None),
        "app/a.yaml:1 ConfigMap/a1\napp/a.yaml:8 ConfigMap/a2\napp/b.yml:1 ConfigMap/b\n"
    );
}

#[test]
fn folders_below_are_read_only_when_asked() {
    let files = format!("=== app/a.yaml\n{MAP}a\n=== app/deep/down/b.yaml\n{MAP}b\n");
    assert_eq!(rendered(&files, None), "app/a.yaml:1 ConfigMap/a\n");
    assert_eq!(
        rendered(&files, Some(directory(true, "", ""))),
        "app/a.yaml:1 ConfigMap/a\napp/deep/down/b.yaml:1 ConfigMap/b\n"
    );
}

#[test]
fn patterns_choose_files_below_the_path() {
    let files = format!("=== app/a.yaml\n{MAP}a\n=== app/b.yaml\n{MAP}b\n=== app/sub/c.yaml\n{MAP}c\n");
    assert_eq!(
        rendered(&files, Some(directory(true, "{a,sub/*}.yaml", ""))),
        "app/a.yaml:1 ConfigMap/a\napp/sub/c.yaml:1 ConfigMap/c\n"
    );
    assert_eq!(rendered(&files, Some(directory(true, "", "*b.yaml"))).lines().count(), 2);
}

#[test]
fn lists_and_json_are_flattened() {
    let files = "=== app/list.json\n{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\
                 {\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"x\"}}]}\n";
    assert_eq!(rendered(files, None), "app/list.json:1 Pod/x\n");
}

#[test]
fn a_broken_file_is_told_of_and_the_others_are_still_there() {
    let files = format!(
        "=== app/a.yaml\n{MAP}a\n=== app/tab.yaml\napiVersion: v1\nkind: Pod\nmetadata:\n\tname: x\n"
    );
    let out = rendered(&files, None);
    assert!(out.starts_with("app/a.yaml:1 ConfigMap/a\nerror: "), "{out}");
    assert!(out.contains("app/tab.yaml:4"), "{out}");
}

#[test]
fn a_manifest_without_a_kind_is_told_of() {
    let out = rendered("=== app/a.yaml\napiVersion: v1\nmetadata:\n  name: x\n", None);
    assert!(out.starts_with("error: ") && out.contains("kind") && out.contains("app/a.yaml:1"), "{out}");
}

#[test]
fn yaml_that_is_no_manifest_is_passed_over() {
    assert_eq!(rendered("=== app/values.yaml\nreplicas: 3\n- broken\n", None), "");
}

#[test]
fn a_file_can_ask_to_be_skipped() {
    assert_eq!(rendered(&format!("=== app/a.yaml\n# +argocd:skip-file-rendering\n{MAP}a\n"), None), "");
}

#[test]
fn a_link_inside_the_repository_is_followed_and_one_that_leaves_it_is_told_of() {
    let files = format!(
        "=== shared/a.yaml\n{MAP}a\n=== app/in.yaml -> ../shared/a.yaml\n=== app/out.yaml -> ../../etc/passwd\n"
    );
    assert_eq!(
        rendered(&files, None),
        "app/in.yaml:1 ConfigMap/a\n\
         error: app/out.yaml is a symbolic link to \"../../etc/passwd\", which leaves the repository\n  at app/out.yaml\n  \
         hint: copy the file into the repository, or link inside it\n"
    );
}

#[test]
fn a_missing_path_a_file_and_a_path_outside_are_three_errors() {
    assert_eq!(rendered("=== other/a.yaml\n", None), "error: app path app does not exist\n");
    assert_eq!(rendered("=== app\nx: 1\n", None), "error: app path app is not a directory\n");
    let outside = ApplicationSource { path: "../app".into(), ..ApplicationSource::default() };
    let error = render(&tree(""), &outside).unwrap_err();
    assert_eq!(error.to_string(), "the source's path is not usable");
}

#[test]
fn kustomizations_say_that_their_turn_has_not_come() {
    assert_eq!(
        rendered("=== app/kustomization.yml\nresources: []\n", None),
        "error: app is a Kustomize source, which this version of Lynceus does not render yet\n"
    );
}

#[test]
fn what_was_read_is_written_down() {
    let files = tree(&format!("=== app/a.yaml\n{MAP}a\n=== elsewhere/b.yaml\n{MAP}b\n"));
    let source = ApplicationSource { path: "app".into(), ..ApplicationSource::default() };
    let read = render(&files, &source).unwrap().read_set;
    let paths: Vec<&str> = read.files.iter().map(FilePath::as_str).collect();
    assert!(paths.contains(&"app/a.yaml") && !paths.contains(&"elsewhere/b.yaml"), "{paths:?}");
    assert_eq!(read.directories.iter().map(FilePath::as_str).collect::<Vec<_>>(), ["app"]);
}
