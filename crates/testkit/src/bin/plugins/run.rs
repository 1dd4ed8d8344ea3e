//! One case: its plugins, its repository, and what the renderer says.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lynceus_api::{AppProject, ApplicationSource};
use lynceus_engine::{Freshness, Renderer, Request, words};
use lynceus_files::FilePath;
use lynceus_object::{Object, to_typed, yaml};
use lynceus_render::Setting;
use lynceus_source::compose::{Composition, Layout, Message};
use lynceus_source::{Announcement, Book, PluginCall, Repository, Settings, Sources, Target};

use crate::case::Case;

/// How long a plugin's server may take until it listens.
const READY: Duration = Duration::from_secs(30);

/// Runs a case in a folder that nobody else has. The error is what came otherwise.
pub(crate) async fn run(case: &Case, argocd: &Path, home: &Path) -> Result<(), String> {
    let folder = |name: &str| {
        let path = home.join(name);
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok::<_, String>(path)
    };
    let sockets = folder("s")?;
    // Ended with the case.
    let mut servers = Vec::new();
    for (index, plugin) in case.plugins.iter().enumerate() {
        let own = folder(&format!("plugin-{index}"))?;
        std::fs::write(own.join("plugin.yaml"), plugin).map_err(|error| error.to_string())?;
        servers.push(serve(argocd, &own, &sockets)?);
    }
    listen(&sockets, servers.len()).await?;
    let seconds = case.part("seconds").map_or(Ok(60.0), |text| text.trim().parse::<f64>());
    let settings = Settings {
        plugin_sockets: Some(sockets),
        plugin_timeout: Duration::from_secs_f64(seconds.map_err(|error| error.to_string())?),
        ..Settings::default()
    };
    let repository = folder("repository")?;
    commit(&repository, case)?;
    let scene = Scene {
        url: repository.display().to_string(),
        sources: Sources::new(folder("mirrors")?, settings),
        home: home.display().to_string(),
    };
    let mut told = scene.rendered(case).await?;
    let mut expected = match (case.part("manifests"), case.part("error")) {
        (Some(manifests), None) => format!("manifests:\n{manifests}"),
        (None, Some(error)) => format!("error:\n{error}"),
        _ => return Err("a case has either manifests or an error".to_owned()),
    };
    if let Some(parameters) = case.part("parameters") {
        expected.push_str(&format!("parameters:\n{parameters}"));
        told.push_str(&format!("parameters:\n{}", scene.announced(case).await?));
    }
    if told == expected { Ok(()) } else { Err(format!("expected\n{expected}and there was\n{told}")) }
}

/// A plugin's server, ended when dropped. It does not end by being asked to.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts Argo CD's server for one plugin, with nothing of the user's environment but the way to programs.
fn serve(argocd: &Path, own: &Path, sockets: &Path) -> Result<Server, String> {
    let programs = argocd.parent().unwrap_or(Path::new("/")).display().to_string();
    let log = std::fs::File::create(own.join("log")).map_err(|error| error.to_string())?;
    Command::new(argocd)
        .arg("--config-dir-path")
        .arg(own)
        .env_clear()
        .env("ARGOCD_BINARY_NAME", "argocd-cmp-server")
        .env("ARGOCD_PLUGINSOCKFILEPATH", sockets)
        .env("ARGOCD_CMP_WORKDIR", own)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", own)
        .env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap_or_default()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map(Server)
        .map_err(|error| format!("cannot start {}: {error}", argocd.display()))
}

/// Waits until so many plugins listen.
async fn listen(sockets: &Path, count: usize) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        let entries = std::fs::read_dir(sockets).map_err(|error| error.to_string())?;
        if entries.count() == count {
            return Ok(());
        }
        if begun.elapsed() > READY {
            return Err("the plugins do not listen".to_owned());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn commit(path: &Path, case: &Case) -> Result<(), String> {
    let repository = Composition::create(path, Layout::Bare).map_err(|error| error.to_string())?;
    let message =
        Message { name: "Test", email: "test@example.com", when: Timestamp::UNIX_EPOCH, text: "A change\n" };
    let made = repository.commit("main", &message, case.files.clone());
    made.map(|_| ()).map_err(|error| error.to_string())
}

struct Scene {
    url: String,
    sources: Sources,
    /// What differs from run to run.
    home: String,
}

impl Scene {
    /// The source, with the repository of the case.
    fn source(&self, case: &Case) -> Result<ApplicationSource, String> {
        let value = yaml::parse(case.source.as_bytes()).map_err(|error| error.to_string())?;
        let mut source: ApplicationSource = to_typed(&value).map_err(|error| error.to_string())?;
        source.repo_url = self.url.as_str().into();
        source.target_revision = "main".into();
        Ok(source)
    }

    /// What the operator has said of the repository.
    fn book(&self, case: &Case) -> Result<Book, String> {
        let Some(data) = case.part("secret") else { return Ok(Book::default()) };
        let data: String = data.lines().map(|line| format!("  {line}\n")).collect();
        let text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: repository\n  labels: \
             {{argocd.argoproj.io/secret-type: repository}}\nstringData:\n  url: {}\n{data}",
            self.url
        );
        let value = yaml::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        let object = Object::new(value).map_err(|_| "the Secret is no object".to_owned())?;
        Ok(Book::read([&object]).0)
    }

    /// What the source becomes.
    async fn rendered(&self, case: &Case) -> Result<String, String> {
        let source = self.source(case)?;
        let request = Request {
            book: &Arc::new(self.book(case)?),
            setting: &Setting {
                application: "shop".into(),
                namespace: "prod".into(),
                project: "default".into(),
                kube_version: "v1.34.2".into(),
                api_versions: ["v1".into(), "apps/v1".into()].into(),
                ..Setting::default()
            },
            project: &AppProject::default(),
            sources: std::slice::from_ref(&source),
            revisions: &[],
            files: &[],
            keyring: &Arc::default(),
            freshness: Freshness::Anew,
            now: Timestamp::UNIX_EPOCH,
        };
        let renderer = Renderer::new(self.sources.clone());
        let text = match renderer.render(&request).await.pop() {
            Some(Ok(sourced)) => {
                let made = sourced.rendered.manifests.iter();
                let documents = made.map(|manifest| yaml::to_string(manifest.object.value()));
                let mut text = format!("manifests:\n{}", documents.collect::<Vec<_>>().join("---\n"));
                for diagnostic in &sourced.rendered.diagnostics {
                    text.push_str(&diagnostic.to_text());
                }
                text
            }
            Some(Err(error)) => format!("error:\n{}\n", words(&error)),
            None => "nothing\n".to_owned(),
        };
        Ok(text.replace(&self.home, "HOME"))
    }

    /// The parameters that are announced, asked for as Argo CD does for the details of an application.
    async fn announced(&self, case: &Case) -> Result<String, String> {
        let source = self.source(case)?;
        let repository = Repository::at(self.url.as_str());
        let target = Target { revision: "main", tag_prefix: "" };
        let failed = |error: lynceus_source::SourceError| error.to_string();
        let revision = self.sources.resolve(&repository, target).await.map_err(failed)?;
        let tree = self.sources.tree(&repository, &revision).await.map_err(failed)?;
        let variable = |name: &str, value: &str| (format!("ARGOCD_APP_{name}"), value.to_owned());
        let call = PluginCall {
            name: source.plugin.as_ref().map(|plugin| plugin.name.to_string()).unwrap_or_default(),
            path: FilePath::new(&source.path).map_err(|error| error.to_string())?,
            environment: vec![
                variable("NAME", "shop"),
                variable("SOURCE_REPO_URL", &self.url),
                variable("SOURCE_PATH", &source.path),
                variable("SOURCE_TARGET_REVISION", "main"),
            ],
        };
        let announced = self.sources.plugin_parameters(tree, &call).await;
        Ok(announced.map_or_else(|error| format!("{error}\n"), |all| all.iter().map(line).collect()))
    }
}

/// A parameter as one line, without what is not said of it.
fn line(one: &Announcement) -> String {
    let mut line = one.name.clone();
    let mut say = |word: &str, text: String| {
        if !text.is_empty() {
            line.push_str(&format!(", {word} {text}"));
        }
    };
    say("title", one.title.clone());
    say("tooltip", one.tooltip.clone());
    say("is", if one.required { "required".to_owned() } else { String::new() });
    say("of", one.item_type.clone());
    say("as", one.collection_type.clone());
    say("string", one.string.clone());
    say("array", one.array.join(" "));
    let pairs = one.map.iter().map(|(key, value)| format!("{key}={value}"));
    say("map", pairs.collect::<Vec<_>>().join(" "));
    line + "\n"
}
