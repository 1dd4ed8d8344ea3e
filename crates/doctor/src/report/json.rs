//! For programs. docs/doctor.schema.json says what stands where.

use crate::examination::Examination;

/// The version of the form.
const FORM: u32 = 1;

/// The report as JSON.
pub fn json(examination: &Examination) -> Result<String, serde_json::Error> {
    #[derive(serde::Serialize)]
    struct Report<'a> {
        version: u32,
        #[serde(flatten)]
        examination: &'a Examination,
    }
    let mut text = serde_json::to_string_pretty(&Report { version: FORM, examination })?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use boon::{Compiler, Schemas};
    use lynceus_files::{FilePath, Span};
    use lynceus_object::{FieldPath, GroupKind, ObjectKey, value};

    use super::json;
    use crate::examination::{Also, examine};
    use crate::finding::{Evidence, Finding};
    use crate::fix::{Action, Fix, Place, Proof};
    use crate::node::{AppName, Node};
    use crate::tests::snapshot;

    const SHARED: &str = "
@app grafana OutOfSync Healthy
apiVersion: v1
kind: ConfigMap
metadata: {name: grafana, namespace: monitoring}
@app secrets OutOfSync Healthy
apiVersion: v1
kind: ConfigMap
metadata: {name: grafana, namespace: monitoring}
@app odd Synced Degraded
";

    /// Fails with what the published schema says of a report.
    fn check(text: &str) {
        let read = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let place = "file:///doctor.schema.json";
        compiler.add_resource(place, read(include_str!("../../../../docs/doctor.schema.json"))).unwrap();
        let schema = compiler.compile(place, &mut schemas).unwrap();
        if let Err(error) = schemas.validate(&read(text), schema) {
            panic!("docs/doctor.schema.json does not describe this:\n{error:#}\n{text}");
        }
    }

    #[test]
    fn a_report_is_as_the_published_schema_says() {
        check(&json(&examine(&snapshot(SHARED))).unwrap());
    }

    #[test]
    fn everything_that_can_stand_in_a_report_is_in_the_published_schema() {
        let mut examination = examine(&snapshot("\n@app shop Synced Healthy\n"));
        examination.consequences = vec![everything()];
        examination.roots = examine(&snapshot(SHARED)).roots;
        let also = Also { id: "LYN0101/b/ConfigMap/x".to_owned(), finding: everything() };
        examination.roots[0].also.push(also);
        examination.unseen = vec!["Secrets".to_owned()];
        check(&json(&examination).unwrap());
    }

    fn everything() -> Finding {
        let app = AppName::new("argocd", "shop");
        let key = ObjectKey::new("apps", "Deployment", "shop", "web");
        let path = FieldPath::fields(["spec", "replicas"]);
        let value = || value!({"a": [1, "b", null]});
        let git = Fix::new("Change Git")
            .git(&app, Place::Field { object: key.clone(), path: path.clone(), value: Some(value()) })
            .git(&app, Place::Field { object: key.clone(), path: path.clone(), value: None })
            .git(
                &app,
                Place::Override {
                    repository: "https://git.example.com/all.git".into(),
                    file: FilePath::new("values.yaml").unwrap(),
                    key: path.clone(),
                    object: key.clone(),
                    path: path.clone(),
                },
            )
            .git(&app, Place::Application { path: path.clone(), value: Some("main".into()) })
            .git(&app, Place::ApplicationItem { path: path.clone(), value: value() })
            .git(&app, Place::Remove { object: key.clone() })
            .git(&app, Place::Make { object: key.clone() })
            .git(&app, Place::Detach { folder: "base".into() })
            .git(
                &app,
                Place::Aim {
                    repository: "https://git.example.com/all.git".into(),
                    file: FilePath::new("patch.yaml").unwrap(),
                    kind: "Deployment".into(),
                    from: "wbe".into(),
                    to: "web".into(),
                },
            )
            .git(&app, Place::Add { beside: key.clone(), object: value() });
        let row = ("shop".to_owned(), "Synced Degraded".to_owned(), "Synced Healthy".to_owned());
        let git = Fix { proof: Proof::Verified { table: vec![row] }, ..git };
        let act = Fix::new("Do something")
            .cluster(Action::Sync { application: app.clone() })
            .cluster(Action::Stop { application: app.clone() })
            .cluster(Action::Delete { cluster: "https://a".into(), object: key.clone() })
            .person("Push it.");
        let act = Fix { proof: Proof::Refuted { reason: "it got worse".to_owned() }, ..act };
        let span = Span { file: FilePath::new("a.yaml").unwrap(), line: 1, column: 1 };
        let (cluster, kind) = ("https://a".into(), GroupKind::new("", "Pod"));
        Finding::new("LYN0101", Node::object("https://a", key.clone()), "because")
            .of(Some(app.clone()))
            .seen([
                Evidence::Field { object: key.clone(), path, value: String::new() },
                Evidence::Event { object: key, reason: "Failed".into(), message: "no".into(), count: 3 },
                Evidence::File { application: app.clone(), span, text: "it".into() },
                Evidence::Status { application: app.clone(), text: "no".into() },
                Evidence::seen("nothing"),
            ])
            .affects([Node::Application(app), Node::Kind { cluster, kind }, Node::Image("a:1".into())])
            .because([
                Node::Repository("https://b".into()),
                Node::Cluster("https://a".into()),
                Node::Setting("timeout".into()),
                Node::Controller,
            ])
            .fix([git, act, Fix { proof: Proof::proposed("no time was left"), ..Fix::new("Wait") }])
    }
}
