//! Config-management plugins on sockets in a temporary folder: files in, manifests or clear errors out.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use lynceus_files::{FilePath, MemoryTree, Tree};
use lynceus_source::compose::{Change, Composition, Layout};
use lynceus_source::{
    Access, Announcement, PluginCall, PluginError, Repository, RepositoryKind, Settings, SourceError,
    Sources, Target,
};
use support::Scratch;
use support::plugin_server::{Manners, PluginServer, ask_credentials};

fn sources(scratch: &Scratch) -> Sources {
    let plugin_sockets = Some(scratch.path("sockets"));
    Sources::new(scratch.path("cache"), Settings { plugin_sockets, ..Settings::default() })
}

fn tree() -> Arc<dyn Tree> {
    let mut tree = MemoryTree::new();
    let path = |text: &str| FilePath::new(text).unwrap();
    tree.insert(path("apps/shop/cdk.json"), *b"{}");
    tree.insert(path("lib/deep/x"), *b"1");
    tree.insert_link(path("apps/shop/lib"), "../../lib");
    Arc::new(tree)
}

fn call(name: &str) -> PluginCall {
    let environment =
        vec![("ARGOCD_APP_NAME".to_owned(), "shop".to_owned()), ("EMPTY".to_owned(), String::new())];
    PluginCall { name: name.to_owned(), path: FilePath::new("apps/shop").unwrap(), environment }
}

/// A repository that needs no credentials.
fn open() -> Repository {
    Repository::at("https://git.example.com/org/repo")
}

/// One that is read with a user and a password.
fn private() -> Repository {
    let access = Access { username: "ada".into(), password: "s3cr3t".into(), ..Access::default() };
    open().with_access(access)
}

fn answers(rules: Option<bool>, manifests: &[&str]) -> Manners {
    Manners::Answers { rules, manifests: manifests.iter().map(|&text| text.to_owned()).collect() }
}

async fn manifests(sources: &Sources, name: &str) -> Result<String, String> {
    match sources.plugin_manifests(tree(), &call(name), &open()).await {
        Ok(answer) => Ok(String::from_utf8(answer.to_vec()).unwrap()),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_plugin_is_sent_the_files_and_its_manifests_come_back() {
    let scratch = Scratch::new("plugin-named");
    let server =
        PluginServer::start(&scratch.path("sockets"), "cdk-v1", answers(None, &["kind: A", "kind: B"]));
    assert_eq!(manifests(&sources(&scratch), "cdk-v1").await.unwrap(), "kind: A\n---\nkind: B");
    let heard = server.heard();
    assert_eq!(
        heard.iter().map(|heard| heard.method.as_str()).collect::<Vec<_>>(),
        ["CheckPluginConfiguration", "GenerateManifest"]
    );
    let generate = &heard[1];
    assert_eq!(generate.path, "apps/shop");
    assert_eq!(generate.environment, ["ARGOCD_APP_NAME=shop", "EMPTY"]);
    assert_eq!(generate.files, ["apps/shop/cdk.json={}", "apps/shop/lib->../../lib", "lib/deep/x=1"]);
    assert!(generate.is_whole, "the checksum and the size are those of the archive");
    let milliseconds: u64 = generate.timeout.strip_suffix('m').unwrap().parse().unwrap();
    assert!((1..=90_000).contains(&milliseconds), "{milliseconds}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_is_not_named_is_found_by_its_rules() {
    let scratch = Scratch::new("plugin-found");
    let folder = scratch.path("sockets");
    let silent = PluginServer::start(&folder, "a-without-rules", answers(None, &["kind: None"]));
    let other = PluginServer::start(&folder, "b-other", answers(Some(false), &["kind: Other"]));
    let found = PluginServer::start(&folder, "c-found", answers(Some(true), &["kind: Found"]));
    std::fs::write(folder.join("d-no-socket.sock"), "").unwrap();
    let sources = sources(&scratch);
    let discovered = sources.discover_plugin(tree(), &call("")).await.unwrap();
    assert_eq!(discovered.as_deref(), Some("c-found"));
    assert_eq!(manifests(&sources, "").await.unwrap(), "kind: Found");
    assert!(silent.heard().iter().all(|heard| heard.method == "CheckPluginConfiguration"));
    assert!(other.heard().iter().all(|heard| heard.method != "GenerateManifest"));
    assert_eq!(found.heard().last().unwrap().method, "GenerateManifest");
    drop(found);
    std::fs::remove_file(folder.join("c-found.sock")).unwrap();
    assert_eq!(sources.discover_plugin(tree(), &call("")).await.unwrap(), None);
    assert_eq!(manifests(&sources, "").await.unwrap_err(), "no plugin says that apps/shop is for it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_plugin_with_rules_is_held_to_them() {
    let scratch = Scratch::new("plugin-rules");
    let folder = scratch.path("sockets");
    let _no = PluginServer::start(&folder, "no", answers(Some(false), &["kind: A"]));
    let _yes = PluginServer::start(&folder, "yes", answers(Some(true), &["kind: B"]));
    assert_eq!(
        manifests(&sources(&scratch), "no").await.unwrap_err(),
        "plugin no says that apps/shop is not for it"
    );
    assert_eq!(manifests(&sources(&scratch), "yes").await.unwrap(), "kind: B");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_fails_says_why() {
    let scratch = Scratch::new("plugin-fails");
    let folder = scratch.path("sockets");
    let _fails = PluginServer::start(&folder, "fails", Manners::Fails("exit status 1: no %22stack%22"));
    let _dies = PluginServer::start(&folder, "dies", Manners::Dies);
    let _garbles = PluginServer::start(&folder, "garbles", Manners::Garbles);
    let _floods = PluginServer::start(&folder, "floods", Manners::Floods(101 << 20));
    let gone = PluginServer::start(&folder, "gone", Manners::Hangs);
    drop(gone);
    let sources = sources(&scratch);
    let told = async |name: &str| manifests(&sources, name).await.unwrap_err();
    assert_eq!(told("fails").await, "plugin fails failed: exit status 1: no \"stack\"");
    assert!(told("dies").await.starts_with("plugin dies ended the conversation: "));
    assert_eq!(told("garbles").await, "plugin garbles does not answer like one: its answer cannot be read");
    assert_eq!(told("floods").await, "plugin floods answers with more than 104857600 bytes");
    assert!(told("gone").await.starts_with("plugin gone does not answer: "), "{}", told("gone").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_hangs_is_given_up() {
    let scratch = Scratch::new("plugin-hangs");
    let _server = PluginServer::start(&scratch.path("sockets"), "hangs", Manners::Hangs);
    let settings = Settings {
        plugin_sockets: Some(scratch.path("sockets")),
        plugin_timeout: Duration::from_millis(250),
        ..Settings::default()
    };
    let sources = Sources::new(scratch.path("cache"), settings);
    let error = sources.plugin_manifests(tree(), &call("hangs"), &open()).await.unwrap_err();
    assert_eq!(error.to_string(), "plugin hangs took longer than 0.25 s");
    assert!(error.is_transient());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_in_the_folder_is_asked() {
    let scratch = Scratch::new("plugin-names");
    let _inside = PluginServer::start(&scratch.path("sockets"), "inside", answers(None, &[]));
    let outside = PluginServer::start(&scratch.path("outside"), "secret", answers(None, &["kind: A"]));
    let sources = sources(&scratch);
    for name in ["../outside/secret", "/etc/passwd", "inside.sock", "."] {
        let told = manifests(&sources, name).await.unwrap_err();
        assert!(told.starts_with("there is no plugin ") && told.ends_with("; there is inside"), "{told}");
    }
    assert!(outside.heard().is_empty());
    let off = Sources::new(scratch.path("cache"), Settings::default());
    assert!(!off.has_plugins());
    assert_eq!(
        off.plugin_manifests(tree(), &call("inside"), &open()).await.unwrap_err(),
        SourceError::Plugin(PluginError::Off)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_lead_outside_go_to_nobody() {
    let scratch = Scratch::new("plugin-links");
    let server = PluginServer::start(&scratch.path("sockets"), "cdk", answers(None, &["kind: A"]));
    for target in ["../../etc/passwd", "/etc/passwd"] {
        let mut tree = MemoryTree::new();
        tree.insert(FilePath::new("apps/shop/a").unwrap(), *b"1");
        tree.insert_link(FilePath::new("apps/link").unwrap(), target);
        let asked = sources(&scratch).plugin_manifests(Arc::new(tree), &call("cdk"), &open()).await;
        let error = asked.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("apps/link is a symbolic link to {target:?}, which leaves the repository")
        );
    }
    assert!(server.heard().iter().all(|heard| heard.files.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_of_a_commit_are_sent_as_programs() {
    let scratch = Scratch::new("plugin-modes");
    let server = PluginServer::start(&scratch.path("sockets"), "cdk", answers(None, &["kind: A"]));
    let repository = Composition::create(scratch.path("repository"), Layout::Bare).unwrap();
    let program = (support::path("apps/shop/run"), Change::WriteProgram(b"#!/bin/sh".to_vec()));
    let plain = support::write("apps/shop/cdk.json", "{}");
    repository.commit("main", &support::message("One"), [program, plain]).unwrap();
    let sources = sources(&scratch);
    let place = Repository::at(scratch.path("repository").display().to_string());
    let revision = sources.resolve(&place, Target { revision: "main", tag_prefix: "" }).await.unwrap();
    let tree = sources.tree(&place, &revision).await.unwrap();
    sources.plugin_manifests(tree, &call("cdk"), &place).await.unwrap();
    assert_eq!(server.heard()[1].files, ["apps/shop/cdk.json={}", "apps/shop/run*=#!/bin/sh"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_that_a_plugin_announces_can_be_had() {
    let scratch = Scratch::new("plugin-parameters");
    let folder = scratch.path("sockets");
    let _other = PluginServer::start(&folder, "a-other", answers(Some(false), &["colour"]));
    let server = PluginServer::start(&folder, "b-found", answers(Some(true), &["size", "tier"]));
    let sources = sources(&scratch);
    let named = |name: &str| Announcement { name: name.to_owned(), ..Announcement::default() };
    for name in ["", "b-found"] {
        let announced = sources.plugin_parameters(tree(), &call(name)).await.unwrap();
        assert_eq!(announced, [named("size"), named("tier")]);
    }
    let heard = server.heard();
    let asked = heard.iter().find(|heard| heard.method == "GetParametersAnnouncement").unwrap();
    assert_eq!((asked.path.as_str(), asked.files.len(), asked.is_whole), ("apps/shop", 3, true));
    let error = sources.plugin_parameters(tree(), &call("a-other")).await.unwrap_err();
    assert_eq!(error.to_string(), "plugin a-other says that apps/shop is not for it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_wants_credentials_gets_them_for_its_nonce_while_it_works() {
    let scratch = Scratch::new("plugin-askpass");
    let folder = scratch.path("sockets");
    let server = PluginServer::start(&folder, "git", Manners::WantsCredentials { fails: false });
    let made = sources(&scratch).plugin_manifests(tree(), &call("git"), &private()).await.unwrap();
    let heard = server.heard();
    let variable = |name: &str| {
        let found = heard[1].environment.iter().find_map(|one| one.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_default().to_owned()
    };
    let (nonce, socket) = (variable("ARGOCD_GIT_ASKPASS_NONCE"), variable("ARGOCD_ASK_PASS_SOCK"));
    assert_eq!(
        String::from_utf8_lossy(&made),
        format!("ada/s3cr3t, 5 unknown nonce, 3 missing nonce with nonce {nonce}")
    );
    assert_eq!(nonce.len(), 32);
    assert!(socket.starts_with(&folder.display().to_string()), "{socket}");
    let others = ["GIT_ASKPASS", "ARGOCD_BINARY_NAME", "GIT_TERMINAL_PROMPT"].map(variable);
    assert_eq!(others, ["argocd", "argocd-git-ask-pass", "0"]);
    assert!(!heard[1].environment.concat().contains("s3cr3t"), "{:?}", heard[1].environment);
    assert_eq!(ask_credentials(socket.as_ref(), &nonce).await, "entity not found");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside the plugin's socket");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_plugin_was_offered_is_not_in_its_error() {
    let scratch = Scratch::new("plugin-concealed");
    let server =
        PluginServer::start(&scratch.path("sockets"), "git", Manners::WantsCredentials { fails: true });
    let asked = sources(&scratch).plugin_manifests(tree(), &call("git"), &private()).await;
    assert_eq!(
        asked.unwrap_err().to_string(),
        "plugin git failed: ada/********, 5 unknown nonce, 3 missing nonce with nonce ********"
    );
    assert_eq!(server.heard().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_offered_where_the_operator_says_and_only_where_there_are_any() {
    let scratch = Scratch::new("plugin-offers");
    let server =
        PluginServer::start(&scratch.path("sockets"), "git", Manners::WantsCredentials { fails: false });
    std::fs::create_dir_all(scratch.path("askpass")).unwrap();
    let settings = |askpass: &str| Settings {
        plugin_sockets: Some(scratch.path("sockets")),
        plugin_askpass: Some(scratch.path(askpass)),
        ..Settings::default()
    };
    let sources = Sources::new(scratch.path("cache"), settings("askpass"));
    let told = async |repository: &Repository| {
        let made = sources.plugin_manifests(tree(), &call("git"), repository).await.unwrap();
        String::from_utf8_lossy(&made).into_owned()
    };
    let token = Access { bearer_token: "t0ken".into(), insecure: true, ..Access::default() };
    assert!(told(&open().with_access(token)).await.starts_with("x-access-token, 5 unknown nonce"));
    let environment = server.heard().pop().unwrap().environment;
    for expected in ["ARGOCD_GIT_BEARER_AUTH_HEADER=Authorization: Bearer t0ken", "GIT_SSL_NO_VERIFY=true"] {
        assert!(environment.iter().any(|one| one == expected), "{environment:?}");
    }
    let folder = scratch.path("askpass").display().to_string();
    let socket = environment.iter().find_map(|one| one.strip_prefix("ARGOCD_ASK_PASS_SOCK=")).unwrap();
    assert!(socket.starts_with(&folder), "{socket}");
    let key = Access { ssh_private_key: "key".into(), ..Access::default() };
    let mut charts = private();
    charts.kind = RepositoryKind::Helm;
    for repository in [open(), open().with_access(key), charts] {
        assert_eq!(told(&repository).await, "nothing is offered");
    }
    let lost = Sources::new(scratch.path("cache"), settings("nowhere"));
    let error = lost.plugin_manifests(tree(), &call("git"), &private()).await.unwrap_err().to_string();
    assert!(
        error.starts_with("cannot offer credentials to the plugin on ") && error.contains("nowhere"),
        "{error}"
    );
}
