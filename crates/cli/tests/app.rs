//! The `app` commands as a user types them, against a running `lynceus up`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use lynceus_object::{Gvk, Object, value};
use support::{Home, Up};

/// Runs an `app` command: its exit code, and what it printed without times and commits.
fn app(home: &Home, arguments: &[&str]) -> (i32, String) {
    let output = home.run(&[&["app", "--kubeconfig", "data/kubeconfig"], arguments].concat());
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8(text).unwrap())
}

/// What a template says that asks the repository.
fn notified(home: &Home) -> String {
    let template =
        "{{with call .repo.GetCommitMetadata .app.status.sync.revision}}{{.Author}} said {{.Message}}{{end}}";
    let config = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: argocd-notifications-cm}}\ndata:\n  template.tell: |\n    message: \
         \"{template}\"\n"
    );
    std::fs::write(home.folder.join("notifications.yaml"), config).unwrap();
    let words = "admin notifications template notify tell shop --config-map notifications.yaml --secret :empty --kubeconfig \
                 data/kubeconfig";
    let output = home.run(&words.split_whitespace().collect::<Vec<_>>());
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

async fn drift(up: &Up) {
    let change = value!({"data": {"key": "drifted"}});
    up.patch("", "ConfigMap", "default", "a", &change).await;
    up.patch("", "Secret", "default", "s", &value!({"stringData": {"word": "drifted"}})).await;
}

#[tokio::test]
async fn an_application_is_created_synced_compared_rolled_back_and_deleted() {
    let home = Home::new();
    let config =
        |data: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  key: {data}\n");
    home.commit(&[
        ("app/a.yaml", config("one")),
        (
            "app/s.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {word: hush}\n".into(),
        ),
    ]);
    let up = home.up(&[]).await;
    let url = format!("file://{}", home.folder.join("repository").display());
    let create = [
        &["create", "shop", "--repo", &url, "--path", "app", "--revision", "main"][..],
        &[
            "--dest-server",
            "https://kubernetes.default.svc",
            "--dest-namespace",
            "default",
            "-l",
            "team=shop",
        ],
    ]
    .concat();
    assert_eq!(app(&home, &create), (0, "application 'shop' created\n".to_owned()));
    assert_eq!(app(&home, &create), (0, "application 'shop' unchanged\n".to_owned()));
    let wrong = [&create[..1], &["wrong"], &create[2..5], &["nowhere"], &create[6..]].concat();
    let (code, text) = app(&home, &wrong);
    assert_eq!(code, 20, "{text}");
    let invalid =
        "application spec for wrong is invalid: InvalidSpecError: Unable to generate manifests in nowhere: ";
    assert!(text.contains(invalid) && text.contains("--validate=false"), "{text}");
    let untried = [&wrong[..], &["--validate=false"]].concat();
    assert_eq!(app(&home, &untried), (0, "application 'wrong' created\n".to_owned()));
    assert_eq!(app(&home, &["delete", "wrong", "--cascade=false", "--yes"]).0, 0);
    let changed = [&create[..], &["--directory-recurse"]].concat();
    assert_eq!(app(&home, &changed).0, 20, "it is there already, and different");
    let upsert = [&create[..], &["--directory-recurse", "--upsert"]].concat();
    assert_eq!(app(&home, &upsert), (0, "application 'shop' updated\n".to_owned()));
    let (code, text) = app(&home, &["sync", "-l", "team=shop", "--timeout", "60"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Message:            successfully synced (all tasks run)\n"), "{text}");
    assert!(!text.contains("\nWhy"), "what was so before the end is not told: {text}");
    assert_eq!(app(&home, &["wait", "shop", "--sync", "--health", "--timeout", "60"]).0, 0);
    assert_eq!(app(&home, &["wait", "shop", "-o", "name"]), (0, "argocd/shop\n".to_owned()));
    let one = ["wait", "shop", "--resource", ":ConfigMap:a", "--timeout", "60", "-o", "name"];
    assert_eq!(app(&home, &one), (0, "argocd/shop\n".to_owned()));
    let told = notified(&home);
    assert!(told.contains("said A change"), "{told}");
    assert_eq!(app(&home, &["list", "-o", "name", "-P", "app"]), (0, "argocd/shop\n".to_owned()));
    assert_eq!(app(&home, &["diff", "shop"]), (0, String::new()));

    for printing in [
        &["resources", "shop", "-o", "yaml"][..],
        &["resources", "shop", "-o", "json"],
        &["manifests", "shop"],
        &["manifests", "shop", "--source", "live"],
        &["get", "shop", "-o", "yaml"],
    ] {
        let (_, text) = app(&home, printing);
        assert!(text.contains("Secret"), "{printing:?}: {text}");
        assert!(!text.contains("hush") && !text.contains("aHVzaA"), "{printing:?} shows a secret: {text}");
    }

    drift(&up).await;
    let difference = "\n===== /ConfigMap default/a ======\n3c3\n<   key: drifted\n---\n>   key: one\n\n===== /Secret \
                      default/s ======\n3c3\n<   word: ++++++++++++\n---\n>   word: ++++++++\n";
    assert_eq!(app(&home, &["diff", "shop"]), (1, difference.to_owned()));
    assert_eq!(app(&home, &["diff", "shop", "--exit-code=false"]).0, 0);
    assert_eq!(app(&home, &["diff", "shop", "--diff-exit-code", "7"]).0, 7);

    home.commit(&[("app/a.yaml", config("two"))]);
    let only = ["sync", "shop", "--resource", ":ConfigMap:*", "--timeout", "60"];
    assert_eq!(app(&home, &only).0, 0, "what was just committed is synced");
    let map = up.get("", "ConfigMap", "default", "a").await.unwrap();
    assert_eq!(map.value().str_at(&["data", "key"]), Some("two"));
    let (_, left) = app(&home, &["diff", "shop"]);
    assert!(left.starts_with("\n===== /Secret default/s ======\n"), "the Secret was not meant: {left}");

    let (_, printed) = app(&home, &["sync", "shop", "-o", "json"]);
    let printed = lynceus_object::json::parse(printed.as_bytes()).expect("nothing but JSON");
    assert_eq!(printed.str_at(&["status", "operationState", "phase"]), Some("Succeeded"));
    assert_eq!(app(&home, &["history", "shop", "-o", "id"]), (0, "0\n1\n".to_owned()));
    assert_eq!(app(&home, &["rollback", "shop", "0", "--timeout", "60"]).0, 0);
    let map = up.get("", "ConfigMap", "default", "a").await.unwrap();
    assert_eq!(map.value().str_at(&["data", "key"]), Some("one"));

    let deleted = app(&home, &["delete", "shop", "--wait"]);
    assert_eq!(deleted, (0, "application 'shop' deleted\n".to_owned()));
    assert!(up.get("", "ConfigMap", "default", "a").await.is_none());
}

#[tokio::test]
async fn what_cannot_be_done_says_why_and_what_to_do() {
    let home = Home::new();
    let up = home.up(&[]).await;
    for (arguments, told) in [
        (
            &["get", "nope"][..],
            "error: there is no application nope in namespace argocd\n  hint: list them with `lynceus app list`\n",
        ),
        (&["sync"], "error: no application is named\n  hint: name one, or choose by label: -l KEY=VALUE\n"),
        (
            &["delete", "-l", "team=none"],
            "error: no matching apps found for filter: selector team=none\n  hint: see what there is:\n        lynceus app \
             list\n",
        ),
        (
            &["create", "shop"],
            "error: --repo is missing\n  hint: lynceus app create NAME --repo URL --path PATH --dest-namespace \
             NAMESPACE\n",
        ),
    ] {
        assert_eq!(app(&home, arguments), (20, told.to_owned()));
    }
    up.kill();
    let (code, text) = app(&home, &["list"]);
    assert_eq!(code, 20);
    assert!(
        text.ends_with("  hint: is the cluster running? `lynceus up` starts an embedded one\n"),
        "{text}"
    );
}

#[tokio::test]
async fn applications_of_every_namespace_are_listed_that_the_installation_looks_at() {
    let home = Home::new();
    let up = home.up(&[]).await;
    for namespace in ["team-a", "other"] {
        up.create(&Object::named(&Gvk::new("", "v1", "Namespace"), "", namespace)).await;
        let mut application = home.application("web", "app");
        application.set(&["metadata", "namespace"], namespace);
        up.create(&application).await;
    }
    assert_eq!(app(&home, &["list", "-o", "name"]), (0, String::new()));
    let mut params = Object::named(&Gvk::new("", "v1", "ConfigMap"), "argocd", "argocd-cmd-params-cm");
    params.set(&["data"], value!({"application.namespaces": "team-*"}));
    up.create(&params).await;
    assert_eq!(app(&home, &["list", "-o", "name"]), (0, "team-a/web\n".to_owned()));
    up.kill();
}
