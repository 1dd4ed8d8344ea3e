//! `lynceus rehearse` as a user types it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::path::PathBuf;
use std::process::Command;

/// Files in a folder of their own, which goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("lynceus-cli-rehearse-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for (path, text) in files {
            let place = folder.join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        Folder(folder)
    }

    /// The exit code, and what was printed to stdout and stderr.
    fn rehearse(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lynceus"));
        let output = command
            .current_dir(&self.0)
            .env("NO_COLOR", "1")
            .arg("rehearse")
            .args(arguments)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  project: default
  source: {repoURL: 'https://git.example.com/shop.git', path: web, targetRevision: main}
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
  syncPolicy: {automated: {}, syncOptions: [CreateNamespace=true]}
";

const FINE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n";

const BROKEN: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - {name: main, image: 'example/web:1', \
                      envFrom: [{secretRef: {name: 'a<b'}}]}\n";

#[test]
fn what_would_finish_ends_with_0() {
    let folder = Folder::new("fine", &[("app.yaml", APPLICATION), ("web/c.yaml", FINE)]);
    let (code, out, err) = folder.rehearse(&["--steps"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("Would finish: 1 application, after "), "{out}");
    assert!(out.contains("web  created Namespace shop\n"), "{out}");
    assert!(out.contains("web  created ConfigMap shop/settings\n"), "{out}");
}

#[test]
fn what_would_get_stuck_ends_with_1_in_every_form() {
    let secret = BROKEN.replace("a<b", "credentials");
    let folder = Folder::new("stuck", &[("app.yaml", APPLICATION), ("web/p.yaml", &secret)]);
    let (code, text, _) = folder.rehearse(&[]);
    assert_eq!(code, 1);
    assert!(text.starts_with("Would get stuck: 1 application of 1, after "), "{text}");
    assert!(text.contains("web (app.yaml:1): Synced Degraded, for 30m"), "{text}");
    assert!(text.contains("there is no Secret credentials in namespace shop [Missing]"), "{text}");
    let (_, markdown, _) = folder.rehearse(&["-o", "markdown"]);
    assert!(markdown.contains("| web | **gets stuck** | Synced | Degraded |"), "{markdown}");
    let (_, sarif, _) = folder.rehearse(&["-o", "sarif"]);
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (sarif["version"].as_str(), result["ruleId"].as_str()),
        (Some("2.1.0"), Some("stuck/Missing"))
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"].as_str(), Some("app.yaml"));
    let (_, junit, _) = folder.rehearse(&["-o", "junit"]);
    assert!(junit.contains("tests=\"1\" failures=\"1\" skipped=\"0\""), "{junit}");
    assert!(junit.contains("<failure type=\"Stuck\" message=\"Synced Degraded\">"), "{junit}");
    let (_, json, _) = folder.rehearse(&["-o", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["applications"][0]["verdict"].as_str(), Some("stuck"));
}

#[test]
fn what_cannot_be_rehearsed_ends_with_2_and_says_what_to_do() {
    let folder = Folder::new(
        "trouble",
        &[
            ("web/c.yaml", FINE),
            (
                "cut.yaml",
                "apiVersion: sim.lynceus.dev/v1alpha1\nkind: Snapshot\nobjects:\n- {apiVersion: v1, kind: Conf",
            ),
            ("other.json", r#"{"apiVersion": "sim.lynceus.dev/v9", "kind": "Snapshot", "objects": []}"#),
        ],
    );
    let (code, out, err) = folder.rehearse(&[]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("there is no Application in the repository") && err.contains("hint:"), "{err}");
    let (code, _, err) = folder.rehearse(&["--snapshot", "cut.yaml"]);
    assert!(code == 2 && err.contains("cut.yaml:4"), "{err}");
    let (code, _, err) = folder.rehearse(&["--snapshot", "other.json"]);
    assert!(code == 2 && err.contains("other.json:1: apiVersion is not sim.lynceus.dev/v1alpha1"), "{err}");
    let (code, _, err) = folder.rehearse(&["nowhere"]);
    assert!(code == 2 && err.contains("cannot read nowhere"), "{err}");
    let (code, _, err) = folder.rehearse(&["--from", "main"]);
    assert!(code == 2 && err.contains("revision \"main\" cannot be read"), "{err}");
}
