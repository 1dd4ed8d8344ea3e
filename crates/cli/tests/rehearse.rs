//! `lynceus rehearse` as a user types it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use support::folder::{APPLICATION, Folder};

fn rehearse(folder: &Folder, arguments: &[&str]) -> (i32, String, String) {
    folder.run(&[&["rehearse"], arguments].concat())
}

const FINE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n";

const BROKEN: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - {name: main, image: 'example/web:1', \
                      envFrom: [{secretRef: {name: 'a<b'}}]}\n";

#[test]
fn what_would_finish_ends_with_0() {
    let folder = Folder::new(&[("app.yaml", APPLICATION), ("web/c.yaml", FINE)]);
    let (code, out, err) = rehearse(&folder, &["--steps"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("Would finish: 1 application, after "), "{out}");
    assert!(out.contains("web  created Namespace shop\n"), "{out}");
    assert!(out.contains("web  created ConfigMap shop/settings\n"), "{out}");
}

#[test]
fn what_would_get_stuck_ends_with_1_in_every_form() {
    let secret = BROKEN.replace("a<b", "credentials");
    let folder = Folder::new(&[("app.yaml", APPLICATION), ("web/p.yaml", &secret)]);
    let (code, text, _) = rehearse(&folder, &[]);
    assert_eq!(code, 1);
    assert!(text.starts_with("Would get stuck: 1 application of 1, after "), "{text}");
    assert!(text.contains("web (app.yaml:1): Synced Degraded, for 30m"), "{text}");
    assert!(text.contains("there is no Secret credentials in namespace shop [Missing]"), "{text}");
    let (_, markdown, _) = rehearse(&folder, &["-o", "markdown"]);
    assert!(markdown.contains("| web | **gets stuck** | Synced | Degraded |"), "{markdown}");
    let (_, sarif, _) = rehearse(&folder, &["-o", "sarif"]);
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (sarif["version"].as_str(), result["ruleId"].as_str()),
        (Some("2.1.0"), Some("stuck/Missing"))
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"].as_str(), Some("app.yaml"));
    let (_, junit, _) = rehearse(&folder, &["-o", "junit"]);
    assert!(junit.contains("tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{junit}");
    assert!(junit.contains("<failure type=\"Stuck\" message=\"Synced Degraded\">"), "{junit}");
    let (_, json, _) = rehearse(&folder, &["-o", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["applications"][0]["verdict"].as_str(), Some("stuck"));
}

#[test]
fn what_cannot_be_rehearsed_ends_with_2_and_says_what_to_do() {
    let folder = Folder::new(&[
        ("web/c.yaml", FINE),
        (
            "cut.yaml",
            "apiVersion: sim.lynceus.dev/v1alpha1\nkind: Snapshot\nobjects:\n- {apiVersion: v1, kind: Conf",
        ),
        ("other.json", r#"{"apiVersion": "sim.lynceus.dev/v9", "kind": "Snapshot", "objects": []}"#),
    ]);
    let (code, out, err) = rehearse(&folder, &[]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("there is no Application in the repository") && err.contains("hint:"), "{err}");
    let (code, _, err) = rehearse(&folder, &["--snapshot", "cut.yaml"]);
    let wanted = "cut.yaml:4: objects[0] is not there as a whole: the file ends in the middle of it";
    assert!(code == 2 && err.contains(wanted), "{err}");
    let (code, _, err) = rehearse(&folder, &["--snapshot", "other.json"]);
    let wanted = "other.json:1: apiVersion is a version of snapshots that cannot be read: it has to be sim.lynceus.dev/v1alpha1";
    assert!(code == 2 && err.contains(wanted), "{err}");
    assert!(err.contains("hint: make it anew: lynceus snapshot FILE"), "{err}");
    let (code, _, err) = rehearse(&folder, &["nowhere"]);
    assert!(code == 2 && err.contains("cannot read nowhere"), "{err}");
    let (code, _, err) = rehearse(&folder, &["--from", "main"]);
    assert!(code == 2 && err.contains("revision \"main\" cannot be read"), "{err}");
}
