//! `lynceus doctor` and `lynceus fix` as a user types them: for a repository, and for what was written down of a cluster.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use lynceus_source::compose::{Change, Composition, Layout, Message};
use support::folder::{APPLICATION, Folder};

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      # Kept.
      containers:
      - {name: main, image: 'example/web:1'}
";

const MENDED: &str = "      - {name: main, image: 'example/web:1'}
      tolerations:
      - effect: NoSchedule
        key: env
        operator: Equal
        value: dev
";

const STAGE: &str = "apiVersion: sim.lynceus.dev/v1alpha1
kind: Stage
nodePools:
- {name: a, count: 2, taints: [{key: env, value: dev, effect: NoSchedule}]}
";

const REPOSITORY: [&str; 4] = ["--repo", "repository", "--stage", "stage.yaml"];

fn shop() -> Folder {
    Folder::new(&[
        ("repository/apps/web.yaml", APPLICATION),
        ("repository/web/web.yaml", DEPLOYMENT),
        ("stage.yaml", STAGE),
    ])
}

fn run(folder: &Folder, arguments: &[&str]) -> (i32, String, String) {
    folder.run(&[arguments, &REPOSITORY].concat())
}

#[test]
fn a_fix_is_proposed_until_it_is_verified_by_rehearsal() {
    let folder = shop();
    let (code, text, _) = run(&folder, &["doctor"]);
    assert_eq!(code, 1);
    assert!(
        text.contains("   fix (proposed, low risk): Have the pods of Deployment web tolerate env=dev"),
        "{text}"
    );
    let (code, text, _) = run(&folder, &["doctor", "--verify"]);
    assert_eq!(code, 1);
    assert!(
        text.contains("   fix (verified, low risk): Have the pods of Deployment web tolerate env=dev"),
        "{text}"
    );
    assert!(text.contains("     rehearsed: web from Synced Degraded to Synced Healthy\n"), "{text}");
    let (_, markdown, _) = run(&folder, &["doctor", "--verify", "-o", "markdown"]);
    let table =
        "| Application | Before | After |\n|---|---|---|\n| `web` | Synced Degraded | Synced Healthy |\n";
    assert!(markdown.contains(table), "{markdown}");
    let (_, json, _) = run(&folder, &["doctor", "--verify", "-o", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let proof = &json["roots"][0]["finding"]["fixes"][0]["proof"];
    let wanted = r#"{"state":"verified","table":[["web","Synced Degraded","Synced Healthy"]]}"#;
    assert_eq!(proof.to_string(), wanted);
    assert_eq!(folder.read("repository/web/web.yaml"), DEPLOYMENT, "nothing is written");
}

#[test]
fn a_fix_is_written_as_it_was_rehearsed_and_the_rest_of_the_file_stays() {
    let folder = shop();
    let (code, patch, told) = run(&folder, &["fix", "LYN0401", "--dry-run"]);
    assert_eq!(code, 0, "{told}");
    assert!(
        patch.starts_with("diff --git a/web/web.yaml b/web/web.yaml\n")
            && patch.contains("+        key: env\n")
    );
    assert!(told.contains("rehearsed    1 healed, 0 harmed\n"), "{told}");
    assert!(told.contains("web          Synced Degraded  Synced Healthy\n"), "{told}");
    assert_eq!(folder.read("repository/web/web.yaml"), DEPLOYMENT);
    let (code, again, told) = run(&folder, &["fix", "lyn0401/web/deployment/web", "--no-rehearsal"]);
    assert_eq!((code, again.as_str()), (0, patch.as_str()), "{told}");
    assert!(!told.contains("rehears") && told.contains("written      repository/web/web.yaml\n"), "{told}");
    let mended = folder.read("repository/web/web.yaml");
    assert!(mended.starts_with(DEPLOYMENT) && mended.ends_with(MENDED), "{mended}");
    let (code, text, _) = run(&folder, &["doctor"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("1 application, 1 fine"), "{text}");
    let (code, _, told) = run(&folder, &["fix", "LYN0401"]);
    assert_eq!(code, 20);
    assert!(told.contains("there is no finding LYN0401 now"), "{told}");
}

#[test]
fn a_fix_can_be_committed_to_a_branch_and_the_working_tree_is_left_alone() {
    let folder = Folder::new(&[("stage.yaml", STAGE)]);
    let repository = Composition::create(folder.0.join("repository"), Layout::WorkTree).unwrap();
    let files = [("apps/web.yaml", APPLICATION), ("web/web.yaml", DEPLOYMENT)];
    let files = files.map(|(path, text)| {
        (lynceus_files::FilePath::new(path).unwrap(), Change::Write(text.as_bytes().to_vec()))
    });
    let when = "2026-01-01T00:00:00Z".parse().unwrap();
    let message = Message { name: "Test", email: "test@example.com", when, text: "A change\n" };
    repository.commit("main", &message, files).unwrap();
    repository.checkout().unwrap();
    let (code, _, told) = run(&folder, &["fix", "LYN0401", "--branch", "mended", "--no-rehearsal"]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains(" to mended; nothing was pushed\n"), "{told}");
    assert_eq!(folder.read("repository/web/web.yaml"), DEPLOYMENT);
    let played = ["rehearse", "repository", "--to", "mended", "--stage", "stage.yaml"];
    let (code, text, _) = folder.run(&played);
    assert_eq!(code, 0, "{text}");
}

/// An Application that is not fine for want of a Secret.
const OBJECTS: [&str; 3] = [
    r#"{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web","namespace":"argocd"},"spec":{"project":"default","destination":{"server":"https://kubernetes.default.svc","namespace":"shop"}},"status":{"sync":{"status":"Synced"},"health":{"status":"Degraded"},"resources":[{"kind":"Pod","version":"v1","namespace":"shop","name":"web","status":"Synced","health":{"status":"Degraded"}}]}}"#,
    r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"1"},"spec":{"nodeName":"a","containers":[{"name":"main","image":"example/web:1","envFrom":[{"secretRef":{"name":"credentials"}}]}]},"status":{"phase":"Pending","containerStatuses":[{"name":"main","state":{"waiting":{"reason":"CreateContainerConfigError","message":"secret \"credentials\" not found"}}}]}}"#,
    r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"last","namespace":"shop"}}"#,
];

fn snapshot(version: &str, objects: &[&str], more: &str) -> String {
    let count = OBJECTS.len();
    format!(
        r#"{{"apiVersion":"{version}","kind":"Snapshot","objectCount":{count},"objects":[{}]{more}}}"#,
        objects.join(",")
    )
}

const VERSION: &str = "sim.lynceus.dev/v1alpha1";

fn looked_at(name: &str, content: &[u8]) -> (i32, String, String) {
    let folder = Folder::new(&[]);
    folder.write(name, content);
    folder.run(&["doctor", "--snapshot", name])
}

#[test]
fn what_was_written_down_of_a_cluster_is_looked_at() {
    let whole = snapshot(VERSION, &OBJECTS, r#","version":{"gitVersion":"v1.36.0"}"#);
    let (code, text, err) = looked_at("cluster.json", whole.as_bytes());
    assert_eq!(code, 1, "{text}{err}");
    assert!(text.contains("1 application, 0 fine"), "{text}");
    assert!(text.contains("LYN0301/web/Secret/credentials"), "{text}");
    assert!(!text.contains("cluster.json"), "{text}");
}

#[test]
fn a_snapshot_that_is_cut_off_is_read_as_far_as_it_goes() {
    let whole = snapshot(VERSION, &OBJECTS, "");
    let cut = &whole[..whole.len() - 20];
    let (code, text, err) = looked_at("cluster.json", cut.as_bytes());
    assert_eq!(code, 1, "{text}{err}");
    assert!(text.contains("1 application, 0 fine"), "{text}");
    let wanted =
        "not seen: cluster.json:1: objects[2] is not there as a whole: the file ends in the middle of it";
    assert!(text.contains(wanted), "{text}");
    // The Secret may be among what is lacking, so that nobody says that it is not there.
    assert!(!text.contains("LYN0301"), "{text}");
    let (code, _, err) = looked_at("cluster.json", &cut.as_bytes()[..40]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn a_snapshot_that_was_edited_by_hand_is_read_where_it_can_be() {
    let objects =
        [OBJECTS[0], r#"{"kind":"Pod"}"#, &OBJECTS[0].replace(r#""project":"default""#, r#""project":[1]"#)];
    let (code, text, err) =
        looked_at("cluster.json", snapshot(VERSION, &objects, r#","serves":{}"#).as_bytes());
    assert_eq!(code, 1, "{text}{err}");
    for wanted in [
        "cluster.json:1: objects[1] is no object with a kind and a name",
        "cluster.json:1: serves has to be a list",
        "Application \"web\" has a field of the wrong type: spec: project: ",
    ] {
        assert!(text.replace("\n  ", " ").contains(wanted), "{wanted}\n{text}");
    }
}

#[test]
fn a_snapshot_of_another_version_is_refused_as_one() {
    let (code, text, err) =
        looked_at("cluster.json", snapshot("sim.lynceus.dev/v9", &OBJECTS, "").as_bytes());
    assert_eq!((code, text.as_str()), (2, ""));
    let wanted =
        "apiVersion is a version of snapshots that cannot be read: it has to be sim.lynceus.dev/v1alpha1";
    assert!(err.contains(wanted) && err.contains("hint: make it anew: lynceus snapshot FILE"), "{err}");
    let (code, _, err) = looked_at("cluster.json.gz", b"no gzip");
    assert!(code == 2 && err.contains("cannot be unpacked"), "{err}");
    let folder = Folder::new(&[("cluster.json", &snapshot(VERSION, &OBJECTS, ""))]);
    let (code, _, err) = folder.run(&["doctor", "--verify", "--snapshot", "cluster.json"]);
    assert!(code == 2 && err.contains("hint: name the repository as well: --repo DIR"), "{err}");
}
