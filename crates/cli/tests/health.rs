//! `lynceus health`, from files to lines of JSON.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder of files that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("lynceus-health-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            std::fs::write(folder.join(file), text).unwrap();
        }
        Folder(folder)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let program = env!("CARGO_BIN_EXE_lynceus");
        Command::new(program).current_dir(&self.0).arg("health").args(arguments).output().unwrap()
    }

    /// What is printed for these arguments, which have to do.
    fn said(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const ISSUER: &str = "apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: ca}\n";

#[test]
fn one_object_is_one_line() {
    let folder =
        Folder::new("one", &[("issuer.yaml", ISSUER), ("map.yaml", "apiVersion: v1\nkind: ConfigMap\n")]);
    assert_eq!(
        folder.said(&["issuer.yaml"]),
        "{\"message\":\"Initializing issuer\",\"status\":\"Progressing\"}\n"
    );
    assert_eq!(folder.said(&["map.yaml"]), "{\"message\":\"\",\"status\":\"\"}\n");
}

#[test]
fn several_objects_have_their_keys() {
    let both = format!(
        "{ISSUER}---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {{name: s}}\n"
    );
    let folder = Folder::new("several", &[("both.yaml", &both)]);
    let said = folder.said(&["both.yaml"]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("\"kind\":\"Issuer\"") && lines[0].contains("\"name\":\"ca\""), "{said}");
    assert!(
        lines[1].contains("\"kind\":\"Service\"") && lines[1].contains("\"status\":\"Healthy\""),
        "{said}"
    );
}

#[test]
fn a_script_judges_instead() {
    let script = "return {status = 'Suspended', message = string.upper(obj.metadata.name)}";
    let folder = Folder::new(
        "script",
        &[("issuer.yaml", ISSUER), ("check.lua", script), ("loop.lua", "while true do end")],
    );
    let said = folder.said(&["issuer.yaml", "--lua", "check.lua"]);
    assert_eq!(said, "{\"message\":\"CA\",\"status\":\"Suspended\"}\n");
    let looped = folder.said(&["issuer.yaml", "--lua", "loop.lua"]);
    assert!(
        looped.contains("\"status\":\"Unknown\"") && looped.contains("<string>:1: the script"),
        "{looped}"
    );
}

#[test]
fn settings_are_followed_and_their_mistakes_told() {
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata:\n  \
        resource.customizations.health.cert-manager.io_Issuer: return {status = \"Healthy\", message = \"mine\"}\n  \
        resource.customizations.health.Pod: if then\n";
    let folder = Folder::new("config", &[("issuer.yaml", ISSUER), ("cm.yaml", config)]);
    let output = folder.run(&["issuer.yaml", "--config", "cm.yaml"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"message\":\"mine\",\"status\":\"Healthy\"}\n");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("cm.yaml: Pod: health.lua: <string>:1: unexpected symbol near 'then'"), "{told}");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let folder = Folder::new(
        "errors",
        &[("empty.yaml", "# nothing\n"), ("bad.lua", "if then"), ("issuer.yaml", ISSUER)],
    );
    for (arguments, error) in [
        (&["nowhere.yaml"] as &[&str], "cannot read nowhere.yaml"),
        (&["empty.yaml"], "empty.yaml has no objects in it"),
        (&["issuer.yaml", "--lua", "bad.lua"], "cannot read the script bad.lua"),
        (&["issuer.yaml", "--config", "issuer.yaml"], "has neither a ConfigMap nor an ArgoCD"),
    ] {
        let output = folder.run(arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(20), "{told}");
        assert!(told.contains(error), "{told}");
    }
}
