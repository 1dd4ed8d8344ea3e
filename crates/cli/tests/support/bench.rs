//! A folder with charts in it, and a server with more of them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use lynceus_testkit::shelf::Shelf;

/// Where charts are worked on. Nothing outside of the folder is read.
pub(crate) struct Bench {
    pub(crate) folder: PathBuf,
    pub(crate) shelf: Shelf,
}

impl Bench {
    /// A folder with nothing in it, and a server with `web` 1.0.0, 1.2.0 and 2.0.0-rc.1, and `db` 0.3.1.
    pub(crate) async fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lynceus-bench-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let bench = Bench { folder, shelf: Shelf::start().await };
        for (name, version) in [("web", "1.0.0"), ("web", "1.2.0"), ("web", "2.0.0-rc.1"), ("db", "0.3.1")] {
            bench.publish(name, version);
        }
        bench
    }

    fn publish(&self, name: &str, version: &str) {
        let about = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
        let files = [
            ("Chart.yaml", about.as_str()),
            ("values.yaml", "size: 1\n"),
            (
                "templates/a.yaml",
                "name: {{ .Release.Name }}\nchart: {{ .Chart.Name }} {{ .Chart.Version }}\nsize: {{ .Values.size }}\n",
            ),
        ];
        self.shelf.publish(name, version, &files);
    }

    /// The URL of the server's chart repository.
    pub(crate) fn repository(&self) -> String {
        format!("http://{}/charts", self.shelf.host)
    }

    /// The place of the server's charts as a registry.
    pub(crate) fn registry(&self) -> String {
        format!("oci://{}/charts", self.shelf.host)
    }

    /// Writes a file; `REPO` and `OCI` in it stand for the server's URLs.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, self.with_urls(text)).unwrap();
    }

    /// Writes the chart `app` with dependencies as `name range repository`.
    pub(crate) fn chart(&self, dependencies: &[(&str, &str, &str)]) {
        let _ = std::fs::remove_dir_all(self.folder.join("app"));
        let asked = dependencies.iter().map(|(name, version, repository)| {
            format!("- name: {name}\n  version: \"{version}\"\n  repository: \"{repository}\"\n")
        });
        let list = if dependencies.is_empty() { "" } else { "dependencies:\n" };
        let asked: String = asked.collect();
        self.write("app/Chart.yaml", &format!("apiVersion: v2\nname: app\nversion: 0.1.0\n{list}{asked}"));
    }

    /// Gives the server's chart repository a name.
    pub(crate) fn name_repository(&self, name: &str) {
        let text = format!("repositories:\n- name: {name}\n  url: REPO\n");
        self.write("config/repositories.yaml", &text);
    }

    /// Runs a command: what it printed, then what it complained about, then its exit code if that is not 0.
    pub(crate) async fn helm(&self, line: &str) -> String {
        let arguments: Vec<String> = line.split(' ').map(|word| self.with_urls(word)).collect();
        self.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).await
    }

    /// The same for arguments with blanks in them.
    pub(crate) async fn run(&self, arguments: &[&str]) -> String {
        self.lynceus(&[&["helm"], arguments].concat()).await
    }

    /// The same for any command.
    pub(crate) async fn lynceus(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lynceus"));
        command.args(arguments).current_dir(&self.folder).env_clear();
        command.env("HOME", &self.folder).env("HELM_CONFIG_HOME", self.folder.join("config"));
        command.stdin(Stdio::null());
        // Another thread, because this one may be the server's.
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let text = text.replace(&self.repository(), "REPO").replace(&self.registry(), "OCI");
        let text = text.replace(&self.shelf.host, "HOST");
        match output.status.code() {
            Some(0) => text,
            code => format!("{text}[{}]\n", code.unwrap_or(-1)),
        }
    }

    /// The files of a directory, in order, one per line.
    pub(crate) fn files(&self, path: &str) -> String {
        let mut files = Vec::new();
        collect(&self.folder.join(path), "", &mut files);
        files.sort();
        files.join("\n")
    }

    /// A file, with the time of a lock left out.
    pub(crate) fn read(&self, path: &str) -> String {
        let text = std::fs::read_to_string(self.folder.join(path)).unwrap();
        let text = text.replace(&self.repository(), "REPO").replace(&self.registry(), "OCI");
        text.lines().filter(|line| !line.starts_with("generated:")).map(|line| format!("{line}\n")).collect()
    }

    fn with_urls(&self, text: &str) -> String {
        text.replace("REPO", &self.repository()).replace("OCI", &self.registry())
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // What is left in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn collect(directory: &Path, name: &str, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let inner = format!("{name}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{inner}/"), files);
        } else {
            files.push(inner);
        }
    }
}
