//! Choose a version from an index of 30 MB, as large repositories have it: from the server, from the disk after
//! a question whether it has changed, and from what was heard a moment ago.
#![allow(missing_docs, reason = "criterion's macros make public items")]
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use lynceus_source::{Repository, Settings, Sources};
use tokio::runtime::Runtime;

/// 120 charts with 250 versions each.
fn index() -> String {
    let mut text = "apiVersion: v1\nentries:\n".to_owned();
    for chart in 0..120 {
        writeln!(text, "  chart-{chart:03}:").unwrap();
        for version in (0..250).rev() {
            let (minor, patch) = (version / 10, version % 10);
            write!(
                text,
                "  - annotations:\n      category: Infrastructure\n      images: |\n        - name: chart-{chart:03}\n          \
                 image: registry.example.com/library/chart-{chart:03}:1.{minor}.{patch}\n        - name: exporter\n          \
                 image: registry.example.com/library/exporter:0.{minor}.{patch}\n      licenses: Apache-2.0\n    apiVersion: v2\n    \
                 appVersion: 1.{minor}.{patch}\n    created: \"2024-01-02T03:04:05.000000000Z\"\n    dependencies:\n    - name: common\n      \
                 repository: https://charts.example.com/library\n      tags:\n      - common\n      version: 2.x.x\n    \
                 description: A server that keeps what it is given and gives it back when it is\n      asked for it, in the order \
                 in which it came.\n    digest: {version:064x}\n    home: https://example.com/chart-{chart:03}\n    \
                 icon: https://example.com/icons/chart-{chart:03}.png\n    keywords:\n    - storage\n    - server\n    - network\n    \
                 maintainers:\n    - name: Ada\n      url: https://example.com/ada\n    name: chart-{chart:03}\n    sources:\n    \
                 - https://example.com/source/chart-{chart:03}\n    urls:\n    \
                 - https://charts.example.com/library/chart-{chart:03}-2.{minor}.{patch}.tgz\n    version: 2.{minor}.{patch}\n"
            )
            .unwrap();
        }
    }
    text
}

/// Serves one text for ever, and says that it has not changed to those who have it.
fn serve(text: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &text);
        }
    });
    url
}

fn answer(mut stream: TcpStream, text: &str) {
    let mut known = false;
    for line in BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
        known |= line.to_ascii_lowercase().starts_with("if-none-match");
    }
    let head = "etag: \"one\"\r\nconnection: close\r\n";
    let _ = match known {
        true => write!(stream, "HTTP/1.1 304 x\r\n{head}\r\n"),
        false => write!(stream, "HTTP/1.1 200 x\r\n{head}content-length: {}\r\n\r\n{text}", text.len()),
    };
}

fn choose(runtime: &Runtime, sources: &Sources, repository: &Repository) {
    let found = runtime.block_on(sources.chart_version(repository, "chart-077", "~2.13.0"));
    assert_eq!(found.unwrap().version, "2.13.9");
}

fn bench(c: &mut Criterion) {
    let text = index();
    assert!(text.len() > 30 << 20);
    let repository = Repository::charts(serve(text));
    let runtime = Runtime::new().unwrap();
    let root = std::env::temp_dir().join(format!("lynceus-bench-index-{}", std::process::id()));
    let settings = |max_age| Settings { max_age, environment_proxy: false, ..Settings::default() };
    let open = |path: &Path, max_age| Sources::new(path, settings(max_age));
    let mut group = c.benchmark_group("index");
    group.sample_size(10);
    group.bench_function("from the server", |b| {
        b.iter(|| {
            let _ = std::fs::remove_dir_all(&root);
            choose(&runtime, &open(&root, Duration::ZERO), &repository);
        });
    });
    group.bench_function("from the disk, unchanged", |b| {
        b.iter(|| choose(&runtime, &open(&root, Duration::ZERO), &repository));
    });
    let asking = open(&root, Duration::ZERO);
    group.bench_function("asked again, unchanged", |b| b.iter(|| choose(&runtime, &asking, &repository)));
    let warm = Arc::new(open(&root, Duration::from_secs(3600)));
    group.bench_function("heard a moment ago", |b| b.iter(|| choose(&runtime, &warm, &repository)));
    group.finish();
    let _ = std::fs::remove_dir_all(&root);
}

criterion_group!(benches, bench);
criterion_main!(benches);
