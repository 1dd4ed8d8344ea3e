//! Repositories behind smart HTTP, from a server in this process.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lynceus_files::{Entry, TreeError};
use lynceus_source::compose::{Change, Composition, Layout};
use lynceus_source::{Access, Repository, RevisionKind, Settings, SourceError, Sources, Step, Wishes};
use support::http_server::{HttpServer, Manners};
use support::upload_pack::UploadPack;
use support::{Scratch, files, message, path, write};

fn settings() -> Settings {
    Settings { environment_proxy: false, max_age: Duration::ZERO, ..Settings::default() }
}

fn served(scratch: &Scratch) -> Composition {
    Composition::create(scratch.path("served"), Layout::Bare).unwrap()
}

async fn read(sources: &Sources, repository: &Repository, revision: &str, file: &str) -> String {
    let revision = sources.resolve(repository, revision).await.unwrap();
    let tree = sources.tree(repository, &revision).await.unwrap();
    String::from_utf8(tree.read(&path(file), 1000).unwrap().to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_is_listed_fetched_and_fetched_again_with_only_what_is_new() {
    let scratch = Scratch::new("http");
    let made = served(&scratch);
    let big = "x".repeat(100) + &(0..20_000).map(|n| n.to_string()).collect::<String>();
    let first = made.commit("main", &message("first"), files(&[("a", "one"), ("big", &big)])).unwrap();
    made.annotated_tag("v1.0.0", first, &message("release")).unwrap();
    let server = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let repository = Repository::at(server.url());
    let sources = Sources::new(scratch.path("cache"), settings());
    assert_eq!(read(&sources, &repository, "main", "a").await, "one");
    let whole = server.largest.load(Ordering::SeqCst);
    assert_eq!(read(&sources, &repository, "v1.0.0", "a").await, "one");
    assert_eq!(server.fetches.load(Ordering::SeqCst), 1);
    made.commit("main", &message("second"), files(&[("a", "two")])).unwrap();
    assert_eq!(read(&sources, &repository, "main", "a").await, "two");
    assert_eq!(server.fetches.load(Ordering::SeqCst), 2);
    assert_eq!(server.haves.load(Ordering::SeqCst), 1);
    assert!(server.largest.load(Ordering::SeqCst) * 10 < whole, "only what is new is sent");
    let metadata =
        sources.metadata(&repository, &sources.resolve(&repository, "^1").await.unwrap()).await.unwrap();
    assert_eq!((metadata.message.as_str(), metadata.tags.as_slice()), ("first", &["v1.0.0".to_owned()][..]));
    // Another process finds the mirror as this one left it.
    let sources = Sources::new(scratch.path("cache"), settings());
    assert_eq!(read(&sources, &repository, "v1.0.0", "a").await, "one");
    assert_eq!(server.fetches.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_applications_share_one_listing_and_one_fetch() {
    let scratch = Scratch::new("shared");
    let made = served(&scratch);
    made.commit("main", &message("first"), files(&[("a", "one")])).unwrap();
    let server = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let sources =
        Sources::new(scratch.path("cache"), Settings { max_age: Duration::from_secs(60), ..settings() });
    let repository = Repository::at(server.url());
    let work = (0..20).map(|_| {
        let (sources, repository) = (sources.clone(), repository.clone());
        tokio::spawn(async move { read(&sources, &repository, "main", "a").await })
    });
    for answer in futures::future::join_all(work).await {
        assert_eq!(answer.unwrap(), "one");
    }
    assert_eq!(server.listings.load(Ordering::SeqCst), 1);
    assert_eq!(server.fetches.load(Ordering::SeqCst), 1);
    made.commit("main", &message("second"), files(&[("a", "two")])).unwrap();
    assert_eq!(read(&sources, &repository, "main", "a").await, "one", "the list is used again for a while");
    sources.forget(&repository);
    assert_eq!(read(&sources, &repository, "main", "a").await, "two");
}

#[tokio::test(flavor = "multi_thread")]
async fn references_beside_branches_and_tags_are_found_when_asked_for() {
    let scratch = Scratch::new("pull");
    let made = served(&scratch);
    let old = made.commit("main", &message("first"), files(&[("a", "one")])).unwrap();
    let pull = made.commit("work", &message("pull"), files(&[("a", "pulled")])).unwrap();
    made.reference("refs/pull/7/head", pull).unwrap();
    made.delete("refs/heads/work").unwrap();
    made.commit("main", &message("second"), files(&[("a", "two")])).unwrap();
    let server = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let repository = Repository::at(server.url());
    let sources = Sources::new(scratch.path("cache"), settings());
    assert_eq!(read(&sources, &repository, "refs/pull/7/head", "a").await, "pulled");
    assert_eq!(read(&sources, &repository, "pull/7/head", "a").await, "pulled");
    // A shortened id is found in the history.
    assert_eq!(read(&sources, &repository, &old.short(), "a").await, "one");
    let error = sources.resolve(&repository, "mian").await.unwrap_err();
    assert!(matches!(error, SourceError::RevisionNotFound { similar, .. } if similar == ["main"]));
    let error = sources.resolve(&repository, "0123456").await.unwrap_err();
    assert!(matches!(error, SourceError::RevisionNotFound { kind: RevisionKind::Commit, .. }));
    let gone = sources.resolve(&repository, "a".repeat(40).as_str()).await.unwrap();
    let error = sources.tree(&repository, &gone).await.err().unwrap();
    assert!(matches!(error, SourceError::RevisionNotFound { kind: RevisionKind::Commit, .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_commit_comes_even_from_a_server_that_gives_out_only_tips() {
    let scratch = Scratch::new("tips");
    let made = served(&scratch);
    let old = made.commit("main", &message("first"), files(&[("a", "one")])).unwrap();
    made.commit("main", &message("second"), files(&[("a", "two")])).unwrap();
    let repository = UploadPack { tips_only: true, ..UploadPack::at(made.path()) };
    let server = HttpServer::start(repository, Manners::default()).await;
    let repository = Repository::at(server.url());
    let sources = Sources::new(scratch.path("cache"), settings());
    assert_eq!(read(&sources, &repository, "main", "a").await, "two");
    assert_eq!(read(&sources, &repository, &old.to_string(), "a").await, "one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_force_push_leaves_open_trees_alone() {
    let scratch = Scratch::new("force");
    let made = served(&scratch);
    made.commit("main", &message("first"), files(&[("a", "old"), ("b", "kept")])).unwrap();
    let server = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let repository = Repository::at(server.url());
    let sources = Sources::new(scratch.path("cache"), settings());
    let before = sources.resolve(&repository, "main").await.unwrap();
    let tree = sources.tree(&repository, &before).await.unwrap();
    made.delete("refs/heads/main").unwrap();
    made.commit("main", &message("other"), files(&[("a", "new")])).unwrap();
    assert_eq!(read(&sources, &repository, "main", "a").await, "new");
    assert_eq!(&*tree.read(&path("b"), 99).unwrap(), b"kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_sent_and_what_they_open_stays_closed_to_others() {
    let scratch = Scratch::new("auth");
    let made = served(&scratch);
    let commit = made.commit("main", &message("first"), files(&[("a", "private")])).unwrap();
    let manners = Manners { authorization: Some("Basic bWU6aGlkZGVu".to_owned()), ..Manners::default() };
    let server = HttpServer::start(UploadPack::at(made.path()), manners).await;
    let access = Access { username: "me".to_owned(), password: "hidden".into(), ..Access::default() };
    let mine = Repository::at(server.url()).with_access(access.clone());
    let sources = Sources::new(scratch.path("cache"), settings());
    assert_eq!(read(&sources, &mine, "main", "a").await, "private");
    // The password in the URL does as well.
    let inside = Repository::at(server.url().replace("http://", "http://me:hidden@"));
    assert_eq!(read(&sources, &inside, "main", "a").await, "private");
    for (access, nobody) in
        [(Access::default(), true), (Access { password: "wrong".into(), ..access }, false)]
    {
        let theirs = Repository::at(server.url()).with_access(access);
        let error = sources.resolve(&theirs, "main").await.unwrap_err();
        assert!(
            matches!(error, SourceError::Authentication { anonymous, .. } if anonymous == nobody),
            "{error}"
        );
        // Not even by the id of a commit that the mirror has.
        let known = sources.resolve(&theirs, commit.to_string().as_str()).await.unwrap();
        assert!(matches!(sources.tree(&theirs, &known).await, Err(SourceError::Authentication { .. })));
    }
    let bearer = Manners { authorization: Some("Bearer t0ken".to_owned()), ..Manners::default() };
    *server.manners.lock().unwrap() = bearer;
    let access = Access { bearer_token: "t0ken".into(), ..Access::default() };
    assert_eq!(
        read(&sources, &Repository::at(server.url()).with_access(access), "main", "a").await,
        "private"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_followed_but_takes_no_credentials_to_another_host() {
    let scratch = Scratch::new("redirect");
    let made = served(&scratch);
    made.commit("main", &message("first"), files(&[("a", "moved")])).unwrap();
    let target = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let manners = Manners { redirect: Some(target.url()), ..Manners::default() };
    let server = HttpServer::start(UploadPack::at(made.path()), manners).await;
    let access = Access { username: "me".to_owned(), password: "hidden".into(), ..Access::default() };
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::at(server.url()).with_access(access);
    assert_eq!(read(&sources, &repository, "main", "a").await, "moved");
    assert!(server.seen.lock().unwrap().iter().all(Option::is_some));
    assert!(target.seen.lock().unwrap().iter().all(Option::is_none));
    assert!(target.fetches.load(Ordering::SeqCst) > 0);
    *server.manners.lock().unwrap() = Manners { redirect: Some(server.url()), ..Manners::default() };
    let error = sources.resolve(&repository, "main").await.unwrap_err();
    assert!(error.to_string().contains("redirects more than"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_checked_unless_told_otherwise() {
    let scratch = Scratch::new("tls");
    let made = served(&scratch);
    made.commit("main", &message("first"), files(&[("a", "secret")])).unwrap();
    let (server, pem) = HttpServer::start_tls(UploadPack::at(made.path()), Manners::default()).await;
    let url = format!("https://localhost:{}/org/repo.git", server.address.port());
    let sources = Sources::new(scratch.path("cache"), settings());
    let error = sources.resolve(&Repository::at(&url), "main").await.unwrap_err();
    assert!(matches!(error, SourceError::Certificate { .. }), "{error}");
    let trusted = Access { certificate_authority: pem, ..Access::default() };
    assert_eq!(read(&sources, &Repository::at(&url).with_access(trusted), "main", "a").await, "secret");
    let careless = Access { insecure: true, ..Access::default() };
    assert_eq!(read(&sources, &Repository::at(&url).with_access(careless), "main", "a").await, "secret");
    let broken = Access { certificate_authority: "nothing".to_owned(), ..Access::default() };
    let error = sources.resolve(&Repository::at(&url).with_access(broken), "main").await.unwrap_err();
    assert!(matches!(error, SourceError::Credentials { what: "certificate authority", .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_is_left_at_the_deadline_and_holds_nobody_up() {
    let scratch = Scratch::new("hang");
    let made = served(&scratch);
    made.commit("main", &message("first"), files(&[("a", "one")])).unwrap();
    let slow =
        HttpServer::start(UploadPack::at(made.path()), Manners { hang: true, ..Manners::default() }).await;
    let quick = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    // A port that takes connections and never says a word.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = Repository::at(format!("http://{}/x", silent.local_addr().unwrap()));
    let short = Duration::from_secs(2);
    let sources = Sources::new(
        scratch.path("cache"),
        Settings { list_timeout: short, fetch_timeout: short, ..settings() },
    );
    let (slow, quick) = (Repository::at(slow.url()), Repository::at(quick.url()));
    let done = Mutex::new(Vec::new());
    let hanging = async {
        let revision = sources.resolve(&slow, "main").await.unwrap();
        let error = sources.tree(&slow, &revision).await.err().unwrap();
        assert!(matches!(error, SourceError::Timeout { step: Step::Fetch, .. }), "{error}");
        done.lock().unwrap().push("hanging");
    };
    let silent = async {
        let error = sources.resolve(&silent, "main").await.unwrap_err();
        assert!(matches!(error, SourceError::Timeout { step: Step::List, .. }), "{error}");
        done.lock().unwrap().push("silent");
    };
    let other = async {
        assert_eq!(read(&sources, &quick, "main", "a").await, "one");
        done.lock().unwrap().push("other");
    };
    tokio::join!(hanging, silent, other);
    assert_eq!(done.lock().unwrap().first(), Some(&"other"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_answers_becomes_an_error_of_its_own() {
    let scratch = Scratch::new("status");
    let made = served(&scratch);
    let server = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let elsewhere = Repository::at(format!("http://{}/other", server.address));
    let error = sources.resolve(&elsewhere, "main").await.unwrap_err();
    assert!(matches!(error, SourceError::RepositoryNotFound { .. }), "{error}");
    let manners = Manners { status: Some(hyper::StatusCode::SERVICE_UNAVAILABLE), ..Manners::default() };
    *server.manners.lock().unwrap() = manners;
    let error = sources.resolve(&Repository::at(server.url()), "main").await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("503"), "{error}");
    *server.manners.lock().unwrap() = Manners { status: Some(hyper::StatusCode::OK), ..Manners::default() };
    let error = sources.resolve(&Repository::at(server.url()), "main").await.unwrap_err();
    assert!(matches!(error, SourceError::Protocol { .. }), "{error}");
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        Repository::at(format!("http://{}/x", listener.local_addr().unwrap()))
    };
    let error = sources.resolve(&nobody, "main").await.unwrap_err();
    assert!(matches!(error, SourceError::Unreachable { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_that_breaks_off_and_a_crash_leave_a_mirror_that_works() {
    let scratch = Scratch::new("crash");
    let made = served(&scratch);
    made.commit("main", &message("first"), files(&[("a", "one"), ("b", &"b".repeat(5000))])).unwrap();
    let server =
        HttpServer::start(UploadPack::at(made.path()), Manners { cut: true, ..Manners::default() }).await;
    let repository = Repository::at(server.url());
    let sources = Sources::new(scratch.path("cache"), settings());
    let revision = sources.resolve(&repository, "main").await.unwrap();
    assert!(sources.tree(&repository, &revision).await.is_err());
    *server.manners.lock().unwrap() = Manners::default();
    assert_eq!(read(&sources, &repository, "main", "a").await, "one");
    drop(sources);
    // What a process may leave that is killed at the worst moment.
    let mirror = std::fs::read_dir(scratch.path("cache/git")).unwrap().next().unwrap().unwrap().path();
    let generation = mirror.join("1");
    for left in ["shallow.lock", "packed-refs.lock", "refs/complete/x.lock", "objects/pack/.tmpAbC"] {
        std::fs::write(generation.join(left), "half").unwrap();
    }
    std::fs::create_dir_all(mirror.join("draft/objects")).unwrap();
    made.commit("main", &message("second"), files(&[("a", "two")])).unwrap();
    let sources = Sources::new(scratch.path("cache"), settings());
    assert_eq!(read(&sources, &repository, "main", "a").await, "two");
    assert!(!generation.join("shallow.lock").exists());
    // A mirror that is destroyed is made anew.
    for pack in std::fs::read_dir(generation.join("objects/pack")).unwrap() {
        std::fs::write(pack.unwrap().path(), "garbage").unwrap();
    }
    let sources = Sources::new(scratch.path("cache"), settings());
    made.commit("main", &message("third"), files(&[("a", "three")])).unwrap();
    assert_eq!(read(&sources, &repository, "main", "a").await, "three");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mirror_of_many_packs_is_begun_anew_and_the_old_one_stays_while_it_is_read() {
    let scratch = Scratch::new("renewed");
    let made = served(&scratch);
    made.commit("main", &message("first"), files(&[("a", "0"), ("b", "kept")])).unwrap();
    let server = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let repository = Repository::at(server.url());
    let sources = Sources::new(scratch.path("cache"), settings());
    let first = sources.resolve(&repository, "main").await.unwrap();
    let tree = sources.tree(&repository, &first).await.unwrap();
    for round in 1..=lynceus_source::limits::MAX_PACKS {
        let text = round.to_string();
        made.commit("main", &message("next"), files(&[("a", &text)])).unwrap();
        assert_eq!(read(&sources, &repository, "main", "a").await, text);
    }
    let mirror = std::fs::read_dir(scratch.path("cache/git")).unwrap().next().unwrap().unwrap().path();
    assert!(mirror.join("1").exists() && mirror.join("2").exists());
    assert_eq!(&*tree.read(&path("b"), 99).unwrap(), b"kept");
    drop(tree);
    assert!(!mirror.join("1").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_removes_the_mirrors_that_nobody_needs() {
    let scratch = Scratch::new("sweep");
    let made = served(&scratch);
    made.commit("main", &message("first"), files(&[("a", "one")])).unwrap();
    let server = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let other = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let (repository, unused) = (Repository::at(server.url()), Repository::at(other.url()));
    let sources = Sources::new(scratch.path("cache"), settings());
    read(&sources, &repository, "main", "a").await;
    let revision = sources.resolve(&unused, "main").await.unwrap();
    let tree = sources.tree(&unused, &revision).await.unwrap();
    let mirrors = || std::fs::read_dir(scratch.path("cache/git")).unwrap().count();
    sources.sweep(std::slice::from_ref(&repository)).await.unwrap();
    assert_eq!(mirrors(), 2, "what is being read stays");
    drop(tree);
    sources.sweep(std::slice::from_ref(&repository)).await.unwrap();
    assert_eq!(mirrors(), 1);
    read(&sources, &unused, "main", "a").await;
    assert_eq!(mirrors(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mirror_that_another_process_writes_is_waited_for_until_the_deadline() {
    let scratch = Scratch::new("locked");
    let made = served(&scratch);
    made.commit("main", &message("first"), files(&[("a", "one")])).unwrap();
    let server = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let repository = Repository::at(server.url());
    let sources = Sources::new(scratch.path("cache"), settings());
    let short = Settings { fetch_timeout: Duration::from_millis(100), ..settings() };
    let impatient = Sources::new(scratch.path("cache"), short);
    assert_eq!(read(&sources, &repository, "main", "a").await, "one");
    made.commit("main", &message("second"), files(&[("a", "two")])).unwrap();
    let mirror = std::fs::read_dir(scratch.path("cache/git")).unwrap().next().unwrap().unwrap().path();
    let lock = std::fs::File::open(mirror.join("lock")).unwrap();
    lock.lock().unwrap();
    let revision = sources.resolve(&repository, "main").await.unwrap();
    let error = impatient.tree(&repository, &revision).await.err().unwrap();
    assert!(matches!(error, SourceError::Timeout { step: Step::Fetch, .. }), "{error}");
    lock.unlock().unwrap();
    assert_eq!(read(&sources, &repository, "main", "a").await, "two");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pack_that_is_too_large_is_refused() {
    let scratch = Scratch::new("large");
    let made = served(&scratch);
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(33 + (state >> 24) as u8 % 90)
    };
    let noise: String = (0..30_000).map(|_| next()).collect();
    made.commit("main", &message("first"), files(&[("a", &noise)])).unwrap();
    let server = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let sources = Sources::new(scratch.path("cache"), Settings { max_pack_bytes: 4096, ..settings() });
    let repository = Repository::at(server.url());
    let revision = sources.resolve(&repository, "main").await.unwrap();
    let error = sources.tree(&repository, &revision).await.err().unwrap();
    assert!(matches!(error, SourceError::TooLarge { limit: 4096, .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn submodules_are_followed_and_a_broken_one_costs_only_itself() {
    let scratch = Scratch::new("submodules");
    let lib = Composition::create(scratch.path("lib"), Layout::Bare).unwrap();
    let inner =
        lib.commit("main", &message("lib"), files(&[("x.yaml", "from lib"), ("d/y", "deep")])).unwrap();
    let lib_server = HttpServer::start(UploadPack::at(lib.path()), Manners::default()).await;
    let made = served(&scratch);
    let gitmodules = format!(
        "[submodule \"lib\"]\n\tpath = vendor/lib\n\turl = {}\n\
         [submodule \"gone\"]\n\tpath = vendor/gone\n\turl = ../gone.git\n\
         [submodule \"local\"]\n\tpath = vendor/local\n\turl = {}\n",
        lib_server.url(),
        lib.path().display()
    );
    let mut changes = files(&[(".gitmodules", &gitmodules), ("a", "own")]);
    for at in ["vendor/lib", "vendor/gone", "vendor/local", "vendor/unnamed"] {
        changes.push((path(at), Change::Submodule(inner)));
    }
    changes.push((path("alias"), Change::Link("vendor/lib/d".to_owned())));
    changes.push(write("z", ""));
    made.commit("main", &message("first"), changes).unwrap();
    let server = HttpServer::start(UploadPack::at(made.path()), Manners::default()).await;
    let repository = Repository::at(server.url());
    let sources = Sources::new(scratch.path("cache"), settings());
    let revision = sources.resolve(&repository, "main").await.unwrap();
    let tree = sources.tree(&repository, &revision).await.unwrap();
    assert_eq!(&*tree.read(&path("a"), 99).unwrap(), b"own");
    assert_eq!(&*tree.read(&path("vendor/lib/x.yaml"), 99).unwrap(), b"from lib");
    assert_eq!(&*tree.read(&path("alias/y"), 99).unwrap(), b"deep");
    assert_eq!(tree.entry(&path("vendor/lib")).unwrap(), Entry::Directory);
    assert_eq!(tree.entry(&path("vendor/unnamed")).unwrap(), Entry::Submodule(inner.to_string()));
    let reason = |file: &str| match tree.read(&path(file), 99) {
        Err(TreeError::Storage { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    assert!(reason("vendor/gone/x").contains("there is no repository at"), "{}", reason("vendor/gone/x"));
    assert!(reason("vendor/local/x").contains("may not be followed"));
    assert!(reason("vendor/unnamed/x").contains(".gitmodules does not name"));
    // They can be switched off and on again, and nobody gets a tree of the time before.
    for (wish, expect) in [(Some(false), Entry::Submodule(inner.to_string())), (None, Entry::Directory)] {
        assert!(sources.follow(Wishes { submodules: wish, ..Wishes::default() }));
        let tree = sources.tree(&repository, &revision).await.unwrap();
        assert_eq!(tree.entry(&path("vendor/lib")).unwrap(), expect);
    }
    assert!(!sources.follow(Wishes { submodules: Some(true), ..Wishes::default() }));
}
