//! `cargo xtask bench monorepo`: a repository of many applications, and what a commit to it costs.
//!
//! A third of them are charts, a third overlays on one base, a third plain files. Everything is rendered once; then one
//! file is changed, and every application asks for what it becomes at the new commit, as they do when a repository has
//! moved. Exactly those that read the file may be rendered again.
#![allow(clippy::print_stdout, reason = "this is a program whose output is its report")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lynceus_api::{AppProject, ApplicationSource};
use lynceus_engine::{Freshness, Renderer, Request};
use lynceus_files::FilePath;
use lynceus_source::compose::{Change, Composition, Layout, Message};
use lynceus_source::{Book, Settings, Sources};

/// What can go wrong, for the one who reads it on the screen.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const FULL: usize = 1_000;
const QUICK: usize = 150;
/// How often each change is made and measured.
const ROUNDS: usize = 11;
/// How many applications ask at once, as many as the engine has workers for.
const AT_ONCE: usize = 8;

#[tokio::main]
async fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let count = match words.as_slice() {
        [] => FULL,
        ["--quick"] => QUICK,
        _ => return Err("usage: monorepo [--quick]".into()),
    };
    let folder = std::env::temp_dir().join(format!("lynceus-monorepo-{}", std::process::id()));
    let measured = measure(&folder, count).await;
    std::fs::remove_dir_all(&folder)?;
    measured
}

async fn measure(folder: &Path, count: usize) -> Outcome {
    let repository = Composition::create(folder.join("repository"), Layout::Bare)?;
    commit(&repository, files(count))?;
    let monorepo = Arc::new(Monorepo {
        renderer: Renderer::new(Sources::new(folder.join("mirrors"), Settings::default())),
        book: Arc::default(),
        url: folder.join("repository").display().to_string(),
        count,
    });
    println!("\n| a repository of {count} applications | time | rendered |\n|---|---|---|");
    let (all, _) = monorepo.ask_all(0).await?;
    println!("| everything, once | {all:.0?} | {} |", monorepo.renderer.renderings());
    // One of each sort, in the middle.
    let middle = count / 6 * 3;
    let overlays = (0..count).filter(|number| number % 3 == 1).count();
    let changes = [
        ("the values of one chart", format!("{}/values.yaml", path(middle)), middle, 1),
        ("one overlay", format!("{}/kustomization.yaml", path(middle + 1)), middle + 1, 1),
        ("one plain file", format!("{}/settings.yaml", path(middle + 2)), middle + 2, 1),
        ("the base of all overlays", "base/kustomization.yaml".to_owned(), middle + 1, overlays),
        ("a file that nobody reads", "readme.md".to_owned(), middle, 0),
    ];
    for (what, file, watched, expected) in changes {
        let (mut one, mut every) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            commit(&repository, [(file.clone(), changed(&file, round))])?;
            let before = monorepo.renderer.renderings();
            let (all, first) = monorepo.ask_all(watched).await?;
            let rendered = monorepo.renderer.renderings() - before;
            if rendered != expected as u64 {
                return Err(format!("{what}: {rendered} were rendered instead of {expected}").into());
            }
            one.push(first);
            every.push(all);
        }
        println!(
            "| a commit to {what}, until that application knows, and all | {:.1?}, {:.1?} | {expected} |",
            median(&mut one),
            median(&mut every),
        );
    }
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The applications, and what renders them.
struct Monorepo {
    renderer: Renderer,
    book: Arc<Book>,
    url: String,
    count: usize,
}

impl Monorepo {
    /// Has every application ask what it becomes: how long that takes for all of them, and for one.
    async fn ask_all(self: &Arc<Self>, watched: usize) -> Outcome<(Duration, Duration)> {
        let began = Instant::now();
        let workers = (0..AT_ONCE).map(|worker| {
            let monorepo = self.clone();
            tokio::spawn(async move {
                let mut seen = None;
                for number in (worker..monorepo.count).step_by(AT_ONCE) {
                    monorepo.ask(number).await?;
                    if number == watched {
                        seen = Some(began.elapsed());
                    }
                }
                Outcome::Ok(seen)
            })
        });
        let workers: Vec<_> = workers.collect();
        let mut one = Duration::ZERO;
        for worker in workers {
            one = one.max(worker.await??.unwrap_or_default());
        }
        Ok((began.elapsed(), one))
    }

    async fn ask(&self, number: usize) -> Outcome {
        let source = ApplicationSource {
            repo_url: self.url.as_str().into(),
            path: path(number).as_str().into(),
            target_revision: "main".into(),
            ..ApplicationSource::default()
        };
        let setting = lynceus_render::Setting {
            application: format!("app-{number:04}").as_str().into(),
            namespace: "default".into(),
            ..lynceus_render::Setting::default()
        };
        let request = Request {
            book: &self.book,
            setting: &setting,
            project: &AppProject::default(),
            sources: std::slice::from_ref(&source),
            revisions: &[],
            files: &[],
            keyring: &Arc::default(),
            freshness: Freshness::Latest,
            now: Timestamp::now(),
        };
        for rendered in self.renderer.render(&request).await {
            let rendered = rendered.map_err(|error| lynceus_engine::words(&error))?;
            if rendered.rendered.manifests.is_empty() {
                return Err(format!("{} gives nothing", path(number)).into());
            }
        }
        Ok(())
    }
}

fn path(number: usize) -> String {
    format!("apps/app-{number:04}")
}

fn config_map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  key: {value}\n")
}

fn deployment(name: &str, image: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  replicas: 1\n  selector:\n    \
         matchLabels: {{app: web}}\n  template:\n    metadata:\n      labels: {{app: web}}\n    spec:\n      \
         containers:\n      - name: web\n        image: {image}\n        ports:\n        - containerPort: 8080\n"
    )
}

fn service(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\nspec:\n  selector: {{app: web}}\n  ports:\n  - port: 80\n"
    )
}

fn overlay(note: usize) -> String {
    format!(
        "namePrefix: mine-\nresources:\n- ../../base\ncommonAnnotations:\n  note: \"{note}\"\nconfigMapGenerator:\n- \
         name: settings\n  literals:\n  - key=value\n"
    )
}

/// All files of the repository.
fn files(count: usize) -> Vec<(String, String)> {
    let mut files = vec![
        ("base/kustomization.yaml".to_owned(), "resources:\n- web.yaml\n- service.yaml\n".to_owned()),
        ("base/web.yaml".to_owned(), deployment("web", "example/web:1")),
        ("base/service.yaml".to_owned(), service("web")),
    ];
    for number in 0..count {
        let mut add = |name: &str, text: String| files.push((format!("{}/{name}", path(number)), text));
        match number % 3 {
            0 => {
                add("Chart.yaml", format!("apiVersion: v2\nname: chart-{number}\nversion: 1.0.0\n"));
                add("values.yaml", "image: example/web:1\nvalue: \"0\"\n".to_owned());
                add("templates/web.yaml", deployment("{{ .Release.Name }}", "{{ .Values.image }}"));
                add("templates/service.yaml", service("{{ .Release.Name }}"));
                add(
                    "templates/settings.yaml",
                    config_map("{{ .Release.Name }}", "{{ .Values.value | quote }}"),
                );
            }
            1 => add("kustomization.yaml", overlay(0)),
            _ => {
                add("web.yaml", deployment("web", "example/web:1"));
                add("service.yaml", service("web"));
                add("settings.yaml", config_map("settings", "\"0\""));
            }
        }
    }
    files
}

/// What a file is after a change.
fn changed(file: &str, round: usize) -> String {
    match file.rsplit('/').next() {
        Some("values.yaml") => format!("image: example/web:1\nvalue: \"{}\"\n", round + 1),
        Some("settings.yaml") => config_map("settings", &format!("\"{}\"", round + 1)),
        Some("kustomization.yaml") if file.starts_with("base/") => {
            format!("resources:\n- web.yaml\n- service.yaml\ncommonAnnotations:\n  base: \"{round}\"\n")
        }
        Some("kustomization.yaml") => overlay(round + 1),
        _ => format!("Round {round}.\n"),
    }
}

fn commit(repository: &Composition, files: impl IntoIterator<Item = (String, String)>) -> Outcome {
    let changes = files
        .into_iter()
        .map(|(path, text)| Ok((FilePath::new(&path)?, Change::Write(text.into_bytes()))))
        .collect::<Outcome<Vec<_>>>()?;
    let when = Timestamp::from_second(1_767_225_600)?;
    let message = Message { name: "Bench", email: "bench@example.com", when, text: "A change\n" };
    repository.commit("main", &message, changes)?;
    Ok(())
}
