//! Open a revision, list all its directories and read all its files: 5,000 of them.
#![allow(missing_docs, reason = "criterion's macros make public items")]
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use lynceus_files::{Entry, FilePath, Tree};
use lynceus_source::compose::{Change, Composition, Layout, Message};
use lynceus_source::{Repository, Settings, Sources};

const FILES: usize = 5_000;

fn compose(path: &Path) {
    let made = Composition::create(path, Layout::Bare).unwrap();
    let files = (0..FILES).map(|n| {
        let at = FilePath::new(&format!("apps/team-{}/app-{}/file-{n}.yaml", n % 10, n % 250)).unwrap();
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{n}\ndata:\n  key: \"{}\"\n",
            "v".repeat(n % 2000)
        );
        (at, Change::Write(text.into_bytes()))
    });
    let when = jiff::Timestamp::UNIX_EPOCH;
    let message = Message { name: "a", email: "a@example.com", when, text: "files" };
    made.commit("main", &message, files).unwrap();
}

fn walk(tree: &dyn Tree) -> usize {
    let mut count = 0;
    let mut left = vec![FilePath::root()];
    while let Some(directory) = left.pop() {
        for (name, entry) in tree.list(&directory).unwrap() {
            let path = directory.join(&name).unwrap();
            match entry {
                Entry::Directory => left.push(path),
                _ => count += tree.read(&path, 1 << 20).map(|_| 1).unwrap(),
            }
        }
    }
    count
}

fn trees(criterion: &mut Criterion) {
    let directory = std::env::temp_dir().join(format!("lynceus-bench-{}", std::process::id()));
    // A repository of one's own can be measured instead.
    let own = std::env::var("LYNCEUS_BENCH_REPOSITORY").ok();
    if own.is_none() {
        compose(&directory);
    }
    let url = own.clone().unwrap_or_else(|| directory.display().to_string());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let sources = Sources::new(directory.join("cache"), Settings::default());
    let repository = Repository::at(url);
    let open = || -> Arc<dyn Tree> {
        runtime.block_on(async {
            let revision = sources.resolve(&repository, "HEAD").await.unwrap();
            sources.tree(&repository, &revision).await.unwrap()
        })
    };
    if own.is_none() {
        assert_eq!(walk(&*open()), FILES);
    }
    let mut group = criterion.benchmark_group("tree");
    group.sample_size(10);
    group.bench_function("open", |bench| bench.iter(open));
    group.bench_function("open, walk and read all", |bench| bench.iter(|| walk(&*open())));
    group.finish();
    let _ = std::fs::remove_dir_all(&directory);
}

criterion_group!(benches, trees);
criterion_main!(benches);
