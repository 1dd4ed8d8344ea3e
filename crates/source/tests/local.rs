//! Repositories on this machine, made and read without a `git` program.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use lynceus_files::{Entry, FilePath, Tree, TreeError};
use lynceus_source::compose::{Change, Composition, Layout};
use lynceus_source::{
    DiskTree, Origin, Repository, RepositoryKind, RevisionKind, Settings, SourceError, Sources,
};
use support::{Scratch, files, message, path, write};

fn sources(scratch: &Scratch) -> Sources {
    Sources::new(scratch.path("cache"), Settings::default())
}

fn repository(scratch: &Scratch) -> (Composition, Repository) {
    let made = Composition::create(scratch.path("repo"), Layout::Bare).unwrap();
    let repository = Repository::at(format!("file://{}", made.path().display()));
    (made, repository)
}

#[tokio::test]
async fn a_branch_a_tag_and_a_commit_lead_to_their_files() {
    let scratch = Scratch::new("names");
    let (made, repository) = repository(&scratch);
    let first = made.commit("main", &message("first"), files(&[("a.yaml", "one")])).unwrap();
    let second =
        made.commit("main", &message("second"), files(&[("a.yaml", "two"), ("d/b.yaml", "b")])).unwrap();
    made.tag("light", first).unwrap();
    made.annotated_tag("v1.0.0", first, &message("release")).unwrap();
    let sources = sources(&scratch);
    for (asked, commit, content) in [
        ("HEAD", second, "two"),
        ("", second, "two"),
        ("main", second, "two"),
        ("refs/heads/main", second, "two"),
        ("light", first, "one"),
        ("v1.0.0", first, "one"),
        ("1.x", first, "one"),
        (&first.to_string(), first, "one"),
        (&first.short(), first, "one"),
    ] {
        let revision = sources.resolve(&repository, asked).await.unwrap();
        assert_eq!(revision.commit, commit, "{asked}");
        let tree = sources.tree(&repository, &revision).await.unwrap();
        assert_eq!(&*tree.read(&path("a.yaml"), 100).unwrap(), content.as_bytes(), "{asked}");
    }
    let metadata =
        sources.metadata(&repository, &sources.resolve(&repository, "v1.0.0").await.unwrap()).await.unwrap();
    assert_eq!(metadata.author, "Ada <ada@example.com>");
    assert_eq!(metadata.message, "first");
    assert_eq!(metadata.tags, ["light", "v1.0.0"]);
    assert_eq!(metadata.date.as_second(), 1_700_000_000);
    let references = sources.references(&repository).await.unwrap();
    assert_eq!(references.branches, ["main"]);
    assert_eq!(references.tags, ["light", "v1.0.0"]);
    assert_eq!(references.default_branch.as_deref(), Some("main"));
}

#[tokio::test]
async fn what_is_missing_is_named_by_an_error_of_its_own() {
    let scratch = Scratch::new("missing");
    let (made, repository) = repository(&scratch);
    let old = made.commit("main", &message("first"), files(&[("a.yaml", "one")])).unwrap();
    made.tag("v1.0.0", old).unwrap();
    made.commit("main", &message("second"), files(&[("apps/web/a.yaml", "one")])).unwrap();
    let sources = sources(&scratch);
    let error = |asked: &'static str| {
        let (sources, repository) = (sources.clone(), repository.clone());
        async move { sources.resolve(&repository, asked).await.unwrap_err() }
    };
    assert!(
        matches!(error("master").await, SourceError::RevisionNotFound { kind: RevisionKind::Name, similar, .. } if similar == ["main"])
    );
    assert!(
        matches!(error("^2").await, SourceError::RevisionNotFound { kind: RevisionKind::Range, similar, .. } if similar == ["v1.0.0"])
    );
    assert!(matches!(
        error("abcdef0123").await,
        SourceError::RevisionNotFound { kind: RevisionKind::Commit, .. }
    ));
    let gone = sources.resolve(&repository, "a".repeat(40).as_str()).await.unwrap();
    let error = sources.tree(&repository, &gone).await.err().unwrap();
    assert!(matches!(error, SourceError::RevisionNotFound { kind: RevisionKind::Commit, .. }), "{error}");

    let tagged = sources.resolve(&repository, "v1.0.0").await.unwrap();
    let tree = sources.tree(&repository, &tagged).await.unwrap();
    let error = sources.check_path(&repository, &tagged, &*tree, &path("apps/web")).await.unwrap_err();
    assert_eq!(error.to_string(), "revision \"v1.0.0\" has no path apps/web");
    assert!(matches!(error, SourceError::PathNotFound { found_on: Some(branch), .. } if branch == "main"));
    let error = sources.check_path(&repository, &tagged, &*tree, &path("nowhere")).await.unwrap_err();
    assert!(matches!(error, SourceError::PathNotFound { found_on: None, .. }));

    let nothing = Repository::at(scratch.path("nothing").display().to_string());
    let error = sources.resolve(&nothing, "HEAD").await.unwrap_err();
    assert!(matches!(error, SourceError::RepositoryNotFound { .. }), "{error}");
    let empty = Composition::create(scratch.path("empty"), Layout::Bare).unwrap();
    let error =
        sources.resolve(&Repository::at(empty.path().display().to_string()), "HEAD").await.unwrap_err();
    assert!(matches!(error, SourceError::RevisionNotFound { kind: RevisionKind::Head, .. }), "{error}");
}

#[tokio::test]
async fn local_repositories_can_be_forbidden() {
    let scratch = Scratch::new("forbidden");
    let (_, repository) = repository(&scratch);
    let sources = Sources::new(scratch.path("cache"), Settings { local: false, ..Settings::default() });
    assert!(matches!(sources.resolve(&repository, "HEAD").await, Err(SourceError::Unsupported { .. })));
    let mut helm = Repository::at("https://charts.example.com");
    helm.kind = RepositoryKind::Helm;
    assert!(matches!(sources.resolve(&helm, "1.x").await, Err(SourceError::Unsupported { .. })));
}

/// The same files as a commit and as a directory have to look the same.
async fn both(scratch: &Scratch, changes: Vec<(FilePath, Change)>) -> Vec<Box<dyn Tree>> {
    let made = Composition::create(scratch.path("both"), Layout::WorkTree).unwrap();
    made.commit("main", &message("all"), changes).unwrap();
    made.checkout().unwrap();
    let sources = sources(scratch);
    let repository = Repository::at(made.path().display().to_string());
    let revision = sources.resolve(&repository, "HEAD").await.unwrap();
    assert_eq!(revision.origin, Origin::Head(Some("main".to_owned())));
    let tree = sources.tree(&repository, &revision).await.unwrap();
    struct Shared(std::sync::Arc<dyn Tree>);
    impl Tree for Shared {
        fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
            self.0.entry(path)
        }
        fn read(&self, path: &FilePath, limit: u64) -> Result<std::sync::Arc<[u8]>, TreeError> {
            self.0.read(path, limit)
        }
        fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
            self.0.list(path)
        }
    }
    vec![Box::new(Shared(tree)), Box::new(DiskTree::open(made.path()).unwrap())]
}

#[tokio::test]
async fn links_inside_are_followed_and_links_outside_refused() {
    let scratch = Scratch::new("links");
    let link = |at: &str, to: &str| (path(at), Change::Link(to.to_owned()));
    let changes = vec![
        write("base/a.yaml", "content"),
        link("env/base", "../base"),
        link("alias.yaml", "env/base/a.yaml"),
        link("out", "../secrets"),
        link("root", "/etc/passwd"),
        link("loop", "loop"),
        link("dangling", "nothing"),
    ];
    for tree in both(&scratch, changes).await {
        assert_eq!(&*tree.read(&path("alias.yaml"), 99).unwrap(), b"content");
        assert_eq!(&*tree.read(&path("env/base/a.yaml"), 99).unwrap(), b"content");
        assert_eq!(tree.entry(&path("env/base/a.yaml")).unwrap(), Entry::File);
        assert_eq!(tree.entry(&path("env/base")).unwrap(), Entry::Link("../base".to_owned()));
        assert_eq!(tree.list(&path("env/base")).unwrap(), [("a.yaml".to_owned(), Entry::File)]);
        assert!(matches!(tree.read(&path("out/x"), 99), Err(TreeError::LinkOutside { .. })));
        assert!(matches!(tree.read(&path("root"), 99), Err(TreeError::LinkOutside { .. })));
        assert!(matches!(tree.read(&path("loop"), 99), Err(TreeError::LinkLoop(_))));
        assert!(matches!(tree.read(&path("dangling"), 99), Err(TreeError::NotFound(_))));
    }
}

#[tokio::test]
async fn names_come_in_byte_order_and_bounds_hold() {
    let scratch = Scratch::new("order");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let changes = vec![
        write("a/x", "1"),
        write("a.yaml", "12345"),
        write("a-b", ""),
        write("big.bin", pointer),
        write("é", "accent"),
    ];
    for tree in both(&scratch, changes).await {
        let names: Vec<String> =
            tree.list(&FilePath::root()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "a-b", "a.yaml", "big.bin", "é"]);
        assert_eq!(
            tree.read(&path("a.yaml"), 4),
            Err(TreeError::TooLarge { path: path("a.yaml"), size: 5, limit: 4 })
        );
        assert_eq!(tree.read(&path("big.bin"), 4096), Err(TreeError::LfsPointer(path("big.bin"))));
        assert_eq!(tree.read(&path("a"), 10), Err(TreeError::NotA(path("a"), "file")));
        assert_eq!(tree.list(&path("a.yaml")), Err(TreeError::NotA(path("a.yaml"), "directory")));
        assert_eq!(tree.read(&path("a.yaml/x"), 10), Err(TreeError::NotFound(path("a.yaml/x"))));
        assert_eq!(tree.entry(&path(".git")), Err(TreeError::NotFound(path(".git"))));
        assert_eq!(&*tree.read(&path("a-b"), 0).unwrap(), b"");
        assert_eq!(&*tree.read(&path("é"), 10).unwrap(), b"accent");
    }
}

#[tokio::test]
async fn a_repository_rewritten_by_force_keeps_its_old_trees_readable() {
    let scratch = Scratch::new("rewritten");
    let (made, repository) = repository(&scratch);
    made.commit("main", &message("first"), files(&[("a", "old")])).unwrap();
    let sources = sources(&scratch);
    let old = sources.resolve(&repository, "main").await.unwrap();
    let tree = sources.tree(&repository, &old).await.unwrap();
    made.delete("refs/heads/main").unwrap();
    made.commit("main", &message("other"), files(&[("a", "new")])).unwrap();
    let new = sources.resolve(&repository, "main").await.unwrap();
    assert_ne!(old.commit, new.commit);
    assert_eq!(&*tree.read(&path("a"), 9).unwrap(), b"old");
    let tree = sources.tree(&repository, &new).await.unwrap();
    assert_eq!(&*tree.read(&path("a"), 9).unwrap(), b"new");
}

#[tokio::test]
async fn a_repository_that_stays_open_is_seen_to_grow_and_to_be_made_anew() {
    let scratch = Scratch::new("anew");
    let (made, repository) = repository(&scratch);
    let sources = sources(&scratch);
    let read = async |expected: &str| {
        let revision = sources.resolve(&repository, "main").await.unwrap();
        let tree = sources.tree(&repository, &revision).await.unwrap();
        assert_eq!(&*tree.read(&path("a.yaml"), 100).unwrap(), expected.as_bytes());
    };
    made.commit("main", &message("first"), files(&[("a.yaml", "one")])).unwrap();
    read("one").await;
    made.commit("main", &message("second"), files(&[("a.yaml", "two")])).unwrap();
    read("two").await;
    std::fs::remove_dir_all(made.path()).unwrap();
    assert!(matches!(
        sources.resolve(&repository, "main").await,
        Err(SourceError::RepositoryNotFound { .. })
    ));
    let made = Composition::create(scratch.path("repo"), Layout::Bare).unwrap();
    made.commit("main", &message("anew"), files(&[("a.yaml", "three")])).unwrap();
    read("three").await;
}
