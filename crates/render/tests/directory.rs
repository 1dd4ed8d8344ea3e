//! Folders of manifests: files in, objects and diagnostics out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_api::{ApplicationSource, ApplicationSourceDirectory};
use lynceus_files::FilePath;
use lynceus_render::{Setting, SourceType, Tools};

mod given;

use given::{render, render_in, tree};

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
fn a_manifest_that_lacks_something_is_told_of_as_gravely_as_argo_cd_takes_it() {
    let told = |text: &str| rendered(&format!("=== app/a.yaml\n{text}"), None);
    // With all three words it is a manifest gone wrong, wherever they stand.
    let wrong = told("apiVersion: ''\nkind: Pod\nmetadata:\n  name: x\n");
    assert!(wrong.starts_with("error: ") && wrong.contains("apiVersion"), "{wrong}");
    let broken = told("apiVersion: v1\nkind: Pod\nmetadata: {\n");
    assert!(broken.starts_with("error: "), "{broken}");
    // Beside an object that was read, so is everything.
    let beside = told(&format!("{MAP}a\n---\nx: 1\n"));
    assert!(beside.starts_with("app/a.yaml:1 ConfigMap/a\nerror: document 2 has no kind"), "{beside}");
    // With two of them at the beginnings of lines it may have been meant as one; the result stands.
    let perhaps = told("apiVersion: v1\nmetadata:\n  name: x\n");
    assert!(perhaps.starts_with("warning: document 1 has no kind\n  at app/a.yaml:1"), "{perhaps}");
    // So it may with one, in a file that broke off.
    let cut = told("kind: {\n");
    assert!(cut.starts_with("warning: document 1 is not valid YAML"), "{cut}");
}

#[test]
fn yaml_that_is_no_manifest_is_passed_over() {
    for text in [
        "replicas: 3\n- broken\n",
        "issuer:\n  kind: ClusterIssuer\n  metadata: {}\n",
        "kind: pipeline\nsteps: []\n",
        "- a\n- b\n",
        "# nothing\n",
    ] {
        assert_eq!(rendered(&format!("=== app/values.yaml\n{text}"), None), "", "{text}");
    }
}

#[test]
fn a_json_file_holds_one_object() {
    let pod = |name: &str| {
        format!("{{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {{\"name\": \"{name}\"}}}}\n")
    };
    assert_eq!(rendered(&format!("=== app/a.json\n{}", pod("a")), None), "app/a.json:1 Pod/a\n");
    assert_eq!(
        rendered(&format!("=== app/a.json\n{}{}", pod("a"), pod("b")), None),
        "error: a JSON file holds one object, and this one holds several\n  at app/a.json\n  \
         hint: put them into a List, or into files of their own\n"
    );
    assert_eq!(
        rendered(&format!("=== app/a.yaml\n{}{}", pod("a"), pod("b")), None),
        "app/a.yaml:1 Pod/a\napp/a.yaml:2 Pod/b\n"
    );
}

#[test]
fn any_extension_is_taken_when_asked() {
    let files = format!(
        "=== app/a\n{MAP}a\n=== app/b.tmpl\n{MAP}b\n=== app/c.yaml\n{MAP}c\n=== app/README.md\n# Read me\n"
    );
    assert_eq!(rendered(&files, None), "app/c.yaml:1 ConfigMap/c\n");
    let any = ApplicationSourceDirectory { disable_extension_filter: true, ..directory(false, "", "") };
    assert_eq!(
        rendered(&files, Some(any)),
        "app/a:1 ConfigMap/a\napp/b.tmpl:1 ConfigMap/b\napp/c.yaml:1 ConfigMap/c\n"
    );
}

#[test]
fn excluding_wins_over_including_and_a_broken_pattern_is_told_of() {
    let files = format!("=== app/a.yaml\n{MAP}a\n=== app/b.yaml\n{MAP}b\n=== app/c/d.yaml\n{MAP}d\n");
    assert_eq!(rendered(&files, Some(directory(true, "*", "{b,c/*}.yaml"))), "app/a.yaml:1 ConfigMap/a\n");
    assert_eq!(
        rendered(&files, Some(directory(true, "{a", ""))),
        "error: the source's include or exclude is not usable\n"
    );
}

#[test]
fn links_to_nothing_and_to_folders_are_passed_over() {
    let files = format!(
        "=== app/a.yaml\n{MAP}a\n=== app/gone.yaml -> none.yaml\n=== app/more.yaml -> ../other\n=== other/b.yaml\n{MAP}b\n"
    );
    assert_eq!(
        rendered(&files, None),
        "app/a.yaml:1 ConfigMap/a\n\
         warning: app/gone.yaml is a symbolic link to \"none.yaml\", which is not a file\n  at app/gone.yaml\n\
         warning: app/more.yaml is a symbolic link to \"../other\", which is not a file\n  at app/more.yaml\n"
    );
}

#[test]
fn text_in_utf_16_is_read_as_argo_cd_reads_it() {
    let mut files = tree("");
    let utf_16: Vec<u8> = format!("\u{feff}{MAP}wide\n").encode_utf16().flat_map(u16::to_le_bytes).collect();
    files.insert(FilePath::new("app/a.yaml").unwrap(), utf_16);
    let source = ApplicationSource { path: "app".into(), ..ApplicationSource::default() };
    let made = render(&files, &source).unwrap();
    assert_eq!(made.manifests.iter().map(|made| made.object.name()).collect::<Vec<_>>(), ["wide"]);
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
fn what_was_read_is_written_down() {
    let files = tree(&format!("=== app/a.yaml\n{MAP}a\n=== elsewhere/b.yaml\n{MAP}b\n"));
    let source = ApplicationSource { path: "app".into(), ..ApplicationSource::default() };
    let read = render(&files, &source).unwrap().read_set;
    let paths: Vec<&str> = read.files.iter().map(FilePath::as_str).collect();
    assert!(paths.contains(&"app/a.yaml") && !paths.contains(&"elsewhere/b.yaml"), "{paths:?}");
    assert_eq!(read.directories.iter().map(FilePath::as_str).collect::<Vec<_>>(), ["app"]);
}

#[test]
fn tools_that_are_switched_off_leave_their_folders_as_manifests() {
    let files = tree(&format!(
        "=== chart/Chart.yaml\nname: c\nversion: 1.0.0\n=== overlay/kustomization.yaml\nresources: [a.yaml]\n=== \
         overlay/a.yaml\n{MAP}a\n=== programs/a.jsonnet\n{{}}\n"
    ));
    let off = Tools { helm: false, kustomize: false, jsonnet: false };
    let chosen = |path: &str, tools: Tools| {
        let source = ApplicationSource { path: path.into(), ..ApplicationSource::default() };
        let rendered =
            render_in(&Setting { application: "shop".into(), tools, ..Setting::default() }, &files, &source)
                .unwrap();
        (rendered.source_type, rendered.manifests.len(), rendered.diagnostics.len())
    };
    let all = Tools::default();
    assert_eq!(chosen("chart", Tools { kustomize: false, ..all }).0, SourceType::Helm);
    assert_eq!(chosen("chart", off).0, SourceType::Directory);
    assert_eq!(chosen("overlay", all), (SourceType::Kustomize, 1, 0));
    assert_eq!((chosen("overlay", off).0, chosen("overlay", off).1), (SourceType::Directory, 1));
    assert_eq!(chosen("programs", off), (SourceType::Directory, 0, 0), "passed over without a word");
}

#[test]
fn the_size_of_a_folder_is_a_setting() {
    let files = tree(&format!("=== app/a.yaml\n{MAP}a\n=== app/b.yaml\n{MAP}b\n"));
    let source = ApplicationSource { path: "app".into(), ..ApplicationSource::default() };
    let setting = Setting { directory_bytes: Some(80), ..Setting::default() };
    let error = render_in(&setting, &files, &source).unwrap_err();
    assert_eq!(error.to_string(), "the manifests below app have more than 80 bytes together");
}
