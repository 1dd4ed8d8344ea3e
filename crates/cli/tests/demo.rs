//! `lynceus up --demo` as somebody tries it: what is wrong is found, mended as printed, and heals.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::process::Output;

use lynceus_files::FilePath;
use lynceus_object::value;
use lynceus_source::compose::{Change, Composition, Message};
use support::{Home, Up, until};

/// The applications with nothing wrong in them.
const SOUND: [&str; 5] = ["shop", "shop-dev", "shop-staging", "shop-production", "external-secrets"];

/// Those that an ApplicationSet makes.
const PREVIEWS: [&str; 4] = ["preview-banner", "preview-basket", "preview-gifts", "preview-wishlist"];

/// Those that cannot be fine before somebody mends something.
const ILL: [&str; 7] = ["extras", "vault", "payments", "invoices", "newsletter", "checkout", "reports"];

/// What is wrong, with which of its fixes to take.
const CAUSES: [(&str, &str); 5] = [
    ("LYN0401/vault/Deployment/vault", "1"),
    ("LYN0501/newsletter/Image/registry.example/extras/newsletter:2.5.0", "2"),
    ("LYN0801/checkout/Deployment/checkout", "1"),
    ("LYN1001/reports/Application/reports", "1"),
    ("LYN0101/recommendations/ConfigMap/features", "1"),
];

fn run(home: &Home, arguments: &[&str]) -> Output {
    home.run(&[arguments, &["--kubeconfig", "data/kubeconfig"]].concat())
}

/// The names of all root causes that are more than worth knowing, and the exit code.
fn found(home: &Home) -> (Vec<String>, Option<i32>) {
    let output = run(home, &["doctor", "-o", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let roots = report["roots"].as_array().unwrap().iter().filter(|root| root["severity"] != "P3");
    let names = roots.map(|root| root["id"].as_str().unwrap().to_owned()).collect();
    (names, output.status.code())
}

async fn is_fine(up: &Up, name: &str) -> bool {
    up.state(name).await.starts_with("Synced Healthy")
}

/// The applications that were not fine when they were last asked for.
#[derive(Default)]
struct Ill(RefCell<Vec<String>>);

impl Display for Ill {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "the cure of {}", self.0.borrow().join(", "))
    }
}

/// Waits until applications are fine; where they never are, says which are not.
async fn until_fine(up: &Up, names: &[&str]) {
    let ill = Ill::default();
    let ask = async || {
        let mut states = Vec::new();
        for name in names {
            if !is_fine(up, name).await {
                states.push(format!("{name}: {}", up.state(name).await));
            }
        }
        let all = states.is_empty().then_some(());
        ill.0.replace(states);
        all
    };
    until(&ill, ask).await;
}

/// Has a cause mended by a commit to the branch that is delivered, and gives what was told.
fn mend(home: &Home, (id, choice): (&str, &str), more: &[&str]) -> String {
    let named = ["fix", id, "--choice", choice, "--tree", "data/demo", "--branch", "main"];
    let output = run(home, &[&named, more].concat());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{id}: {told}");
    told
}

#[tokio::test]
async fn the_troubles_of_the_demo_are_found_and_heal_when_they_are_mended_as_printed() {
    let home = Home::new();
    let up = home.up(&["--demo"]).await;
    until_fine(&up, &[SOUND.as_slice(), &PREVIEWS].concat()).await;
    let mut wanted: Vec<String> = CAUSES.iter().map(|(id, _)| (*id).to_owned()).collect();
    wanted.sort();
    let all = async || {
        let (mut names, code) = found(&home);
        assert_eq!(code, Some(1));
        names.sort();
        (names == wanted).then_some(())
    };
    until("all five causes and no other", all).await;
    for name in ILL {
        assert!(!is_fine(&up, name).await, "{name} is fine");
    }

    // The first as it is printed: tried before it is written.
    let told = mend(&home, CAUSES[0], &[]);
    assert!(told.contains("rehearsed    3 healed, 0 harmed"), "{told}");
    until_fine(&up, &["vault", "payments", "invoices"]).await;

    for cause in &CAUSES[1..] {
        mend(&home, *cause, &["--no-rehearsal"]);
    }
    until_fine(&up, &[ILL.as_slice(), &SOUND, &["search", "recommendations"]].concat()).await;
    assert_eq!(found(&home), (Vec::new(), Some(0)));
    most_previews_go_only_when_somebody_says_so(&home, &up).await;
}

/// The guard: three of four Applications of a set would be deleted by one commit.
async fn most_previews_go_only_when_somebody_says_so(home: &Home, up: &Up) {
    let repository = Composition::open(home.folder.join("data/demo")).unwrap();
    let gone = ["basket", "gifts", "wishlist"]
        .map(|name| (FilePath::new(&format!("previews/{name}/page.yaml")).unwrap(), Change::Remove));
    let when = "2026-01-01T00:00:00Z".parse().unwrap();
    let message = Message { name: "You", email: "you@example.com", when, text: "One preview is enough\n" };
    repository.commit("main", &message, gone).unwrap();
    let held = async || {
        let set = up.get("argoproj.io", "ApplicationSet", "argocd", "previews").await?;
        let conditions = set.value().items_at(&["status", "conditions"]);
        let held = conditions.iter().find(|one| one.str_at(&["reason"]) == Some("DeletionsHeld"))?;
        held.str_at(&["message"]).map(str::to_owned)
    };
    let told = until("deletions that are held", held).await;
    assert!(told.starts_with("3 of 4 Applications would be deleted"), "{told}");
    for name in PREVIEWS {
        let page = name.trim_start_matches("preview-");
        assert!(up.get("", "ConfigMap", "previews", page).await.is_some(), "{page}");
    }
    // The commands that the demo names say so as well, by the settings of this installation.
    let preview = String::from_utf8(run(home, &["appset", "preview", "previews"]).stdout).unwrap();
    assert!(preview.contains("held: 3 of 4 Applications would be deleted"), "{preview}");
    assert_eq!(found(home).0, ["LYN1404/argocd/ApplicationSet/previews"]);
    let token = told.rsplit_once('=').unwrap().1;
    let confirm = value!({"metadata": {"annotations": {"lynceus.dev/confirm-deletions": token}}});
    up.patch_as("v1alpha1", "argoproj.io", "ApplicationSet", "argocd", "previews", &confirm).await;
    let left = async || {
        let mut left = Vec::new();
        for name in PREVIEWS {
            left.extend(up.get("argoproj.io", "Application", "argocd", name).await.map(|_| name));
        }
        (left == ["preview-banner"]).then_some(())
    };
    until("the end of the others", left).await;
}
