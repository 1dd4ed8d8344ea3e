//! Input that nobody should write and somebody will: each gets a clear error on the one application concerned, and all
//! others go on.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::net::TcpListener;
use std::time::Duration;

use lynceus_object::value;
use lynceus_source::Settings;
use lynceus_source::compose::Change;
use lynceus_testkit::fixture::{FINE, automated, config_map};
use lynceus_testkit::world::World;

/// Delivers one bad folder beside a good one, and gives what is said of the bad one once the good one has arrived.
async fn told(files: impl IntoIterator<Item = (&'static str, Change)>) -> String {
    let world = World::new().await;
    world.commit(&[
        ("good/a.yaml", &config_map("good", "one")),
        ("bad/also.yaml", &config_map("also", "one")),
    ]);
    world.commit_changes(files);
    world.deliver("bad", "bad", &automated()).await;
    world.deliver("good", "good", &automated()).await;
    world.until("the good one", |world| world.state("good") == FINE).await;
    world.until("what is wrong", |world| !world.said("bad").is_empty()).await;
    assert!(world.object("", "ConfigMap", "default", "also").is_none(), "half of it must not be applied");
    assert!(world.state("bad").starts_with("Unknown"), "{}", world.state("bad"));
    let said = world.said("bad");
    world.end().await;
    said
}

fn text(text: impl Into<String>) -> Change {
    Change::Write(text.into().into_bytes())
}

#[tokio::test]
async fn a_tab_is_pointed_at() {
    let said = told([("bad/a.yaml", text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: a\n"))]).await;
    assert_eq!(
        said,
        "ComparisonError: error: document 1 is not valid YAML: found character that cannot start any \
         token\n  at \
         bad/a.yaml:4:1\n  hint: indent with spaces, not tabs\n"
    );
}

/// Argo CD passes over a file that lacks one of the fields that every object has; here that is said.
#[tokio::test]
async fn a_file_that_lacks_a_kind_is_passed_over_and_named() {
    let world = World::new().await;
    let lacking = "apiVersion: v1\nmetadata:\n  name: a\n";
    world.commit(&[("app/a.yaml", lacking), ("app/b.yaml", &config_map("b", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.until("what is odd", |world| world.said("shop").contains("document 1 has no kind")).await;
    world.end().await;
}

#[tokio::test]
async fn a_document_of_fifty_megabytes_is_not_read() {
    let said = told([("bad/a.yaml", text("#".repeat(50 << 20)))]).await;
    assert_eq!(
        said,
        "ComparisonError: error: bad/a.yaml has 52428800 bytes; at most 10000000 may be \
         read\n  at bad/a.yaml\n"
    );
}

#[tokio::test]
async fn aliases_that_multiply_are_stopped() {
    let mut bomb = String::from("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx0: &x0 [lol, lol]\n");
    for level in 1..40 {
        let below = level - 1;
        bomb.push_str(&format!("x{level}: &x{level} [*x{below}, *x{below}, *x{below}, *x{below}]\n"));
    }
    let said = told([("bad/a.yaml", text(bomb))]).await;
    assert_eq!(
        said,
        "ComparisonError: error: document 1 is not valid YAML: document contains excessive \
         aliasing\n  at bad/a.yaml:9:20\n"
    );
}

#[tokio::test]
async fn ten_thousand_levels_are_stopped() {
    let deep = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {}{}\n",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let said = told([("bad/a.yaml", text(deep.clone())), ("bad/b.json", text(deep))]).await;
    assert_eq!(
        said,
        "ComparisonError: error: document 1 is not valid YAML: exceeded max depth of 512\n  \
         at bad/a.yaml:4:518\nComparisonError: error: document 1 is not valid YAML: exceeded max depth of \
         512\n  at bad/b.json:4:518\n"
    );
}

#[tokio::test]
async fn bytes_that_are_no_text_are_pointed_at() {
    let bytes = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"\xff\xfe\"\n".to_vec();
    let said = told([("bad/a.yaml", Change::Write(bytes))]).await;
    assert_eq!(
        said,
        "ComparisonError: error: document 1 is not valid YAML: invalid leading UTF-8 octet\n  at bad/a.yaml:4:10\n"
    );
}

#[tokio::test]
async fn a_link_that_leaves_the_repository_is_not_followed() {
    let said = told([("bad/a.yaml", Change::Link("../../../../etc/passwd".to_owned()))]).await;
    assert_eq!(
        said,
        "ComparisonError: error: bad/a.yaml is a symbolic link to \
         \"../../../../etc/passwd\", which leaves the repository\n  at bad/a.yaml\n  hint: copy the file \
         into the repository, or link inside it\n"
    );
}

#[tokio::test]
async fn of_a_key_that_stands_twice_the_last_counts_and_it_is_told() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &format!("{}  key: two\n", config_map("a", "one")))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let map = world.object("", "ConfigMap", "default", "a").unwrap();
    assert_eq!(map.value().str_at(&["data", "key"]), Some("two"));
    assert_eq!(
        world.said("shop"),
        "ManifestWarning: warning: key \"key\" is given twice; the last one \
         counts\n  at app/a.yaml:7:8\n  hint: remove one of them\n"
    );
    world.commit(&[("app/a.yaml", &config_map("a", "three"))]);
    world.until("the warning's end", |world| world.said("shop").is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn a_server_that_never_answers_costs_its_own_application_the_time_only() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let world = World::with(Settings {
        list_timeout: Duration::from_millis(300),
        environment_proxy: false,
        ..Settings::default()
    })
    .await;
    world.commit(&[("good/a.yaml", &config_map("good", "one"))]);
    let url = format!("http://{}/nobody/home.git", silent.local_addr().unwrap());
    world.deliver("bad", "bad", &value!({"source": {"repoURL": url}})).await;
    world.deliver("good", "good", &automated()).await;
    world.until("the good one", |world| world.state("good") == FINE).await;
    world.until("what is wrong", |world| !world.said("bad").is_empty()).await;
    let port = silent.local_addr().unwrap().port().to_string();
    assert_eq!(
        world.said("bad").replace(&port, "PORT"),
        "ComparisonError: cannot read \
         http://127.0.0.1:PORT/nobody/home.git: listing the references of \
         http://127.0.0.1:PORT/nobody/home.git took longer than 0.3 s\n"
    );
    world.end().await;
}

#[tokio::test]
async fn history_that_is_rewritten_is_followed() {
    let world = World::new().await;
    let first = world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.commit(&[("app/a.yaml", &config_map("a", "two")), ("app/b.yaml", &config_map("b", "two"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the second commit", |world| world.state("shop") == FINE).await;
    assert!(world.object("", "ConfigMap", "default", "b").is_some());
    world.force(first);
    world.until("the first commit", |world| world.object("", "ConfigMap", "default", "b").is_none()).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    let map = world.object("", "ConfigMap", "default", "a").unwrap();
    assert_eq!(map.value().str_at(&["data", "key"]), Some("one"));
    world.end().await;
}
