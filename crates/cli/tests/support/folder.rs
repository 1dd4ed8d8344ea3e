//! Files in a folder of their own, and the binary run in it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An application of the folder `web`.
pub(crate) const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  project: default
  source: {repoURL: 'https://git.example.com/shop.git', path: web, targetRevision: main}
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
  syncPolicy: {automated: {}, syncOptions: [CreateNamespace=true]}
";

/// A folder that goes away with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lynceus-folder-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let folder = Folder(folder);
        for (path, text) in files {
            folder.write(path, text.as_bytes());
        }
        folder
    }

    pub(crate) fn write(&self, path: &str, content: &[u8]) {
        let place = self.0.join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.join(path)).unwrap()
    }

    /// The exit code, and what was printed to stdout and stderr.
    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lynceus"));
        command.current_dir(&self.0).env("NO_COLOR", "1").env_remove("KUBECONFIG").env_remove("RUST_LOG");
        let output = command.args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
