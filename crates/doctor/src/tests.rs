//! Snapshots as text, and what is found in them as text.
//!
//! `@app NAME SYNC HEALTH` begins an application; the documents that follow are what it wants, as if they stood in `NAME.yaml`,
//! up to the next line with an `@`. `@file PATH` says where they stand instead. `@condition TYPE MESSAGE` adds a condition to the
//! application, `@spec YAML` merges into its spec, `@status YAML` into its status. After `@live` come the objects of the cluster;
//! Events and Nodes are objects like any other. `@metadata YAML` merges into the metadata of the Application, `@unrendered` says that
//! its sources were not read, and `@compared` compares what it wants with the objects that are there or carry its mark, as after a
//! sync. `@uncreated` says that the Application is not in the cluster yet. `@unserved GROUP/KIND` says that a kind is not served; of other kinds those are
//! served that some object is of, definitions bring theirs, and so are all built-in ones. `@withheld APP KIND/NAMESPACE/NAME OPTION PLACE` says that
//! an option keeps an application from making something, in a file (`values.yaml:3`) or a field of the Application; `GROUP/KIND` is a
//! definition, and the option `revision` is a revision that is gone.
//! `@covers FILE:LINE KEY SAYS COVERED KIND NAME FIELD VALUE` says that a value of the application covers what another file has, and
//! what an object that it wants would have without.

use jiff::Timestamp;
use lynceus_api::{Application, Kind as _, TrackingId};
use lynceus_diff::{Ignore, Settings, compare_all, pair};
use lynceus_files::{FilePath, Span};
use lynceus_object::{FieldPath, GroupKind, Object, ObjectKey, Value, manifest, patch, value, yaml};

use crate::case::Case;
use crate::examination::{Examination, examine};
use crate::finding::Findings;
use crate::fix::Place;
use crate::node::{AppName, Node};
use crate::report;
use crate::rules::rule;
use crate::snapshot::{
    ClusterView, Delivery, Hindrance, Lacking, Override, Site, Snapshot, Wanted, Way, Withheld, Written,
};

pub(crate) const SERVER: &str = "https://kubernetes.default.svc";

/// What one rule finds, as text.
pub(crate) fn check(code: &str, text: &str) -> String {
    check_snapshot(code, &snapshot(text))
}

/// What one rule finds in a snapshot, as text.
pub(crate) fn check_snapshot(code: &str, snapshot: &Snapshot) -> String {
    let mut findings = Findings::default();
    let rule = rule(code).unwrap();
    (rule.check)(&Case::new(snapshot), &mut findings);
    let mut out = String::new();
    for finding in findings.into_sorted() {
        assert_eq!(finding.code, code, "a rule finds only its own sort of trouble");
        out.push_str(&format!("{} {}: {}\n", finding.severity, finding.id(), finding.cause));
        finding.evidence.iter().for_each(|evidence| out.push_str(&format!("  {evidence}\n")));
        finding.fixes.iter().for_each(|fix| out.push_str(&format!("  fix: {}\n", fix.title)));
    }
    out
}

/// The root causes of a snapshot, a line each with the applications that they explain, and what nothing explains.
pub(crate) fn roots(text: &str) -> String {
    let Examination { roots, unexplained, .. } = examine(&snapshot(text));
    let mut out = String::new();
    for root in roots {
        let apps: Vec<&str> = root.applications.iter().map(|app| app.name.as_str()).collect();
        out.push_str(&format!("{} {} explains {}\n", root.severity, root.id, apps.join(" ")));
    }
    for one in unexplained {
        out.push_str(&format!("unexplained {}\n", one.application));
    }
    out
}

/// The root causes of a snapshot with their fixes, step by step.
pub(crate) fn roots_with_fixes(text: &str) -> String {
    let mut out = String::new();
    for root in examine(&snapshot(text)).roots {
        out.push_str(&format!("{}\n", root.id));
        for fix in &root.finding.fixes {
            out.push_str(&format!("  {}\n", fix.title));
            fix.steps.iter().for_each(|step| out.push_str(&format!("    {step}\n")));
        }
    }
    out
}

/// The whole report as a terminal shows it.
pub(crate) fn told(text: &str) -> String {
    report::text(&examine(&snapshot(text)))
}

/// A snapshot out of text.
pub(crate) fn snapshot(text: &str) -> Snapshot {
    let mut snapshot = Snapshot {
        home: "argocd".into(),
        taken_at: "2026-01-01T12:00:00Z".parse::<Timestamp>().unwrap(),
        clusters: vec![ClusterView {
            server: SERVER.into(),
            name: "in-cluster".into(),
            ..ClusterView::default()
        }],
        ..Snapshot::default()
    };
    let mut section = Section::Live;
    let mut lines = String::new();
    let mut unserved = Vec::new();
    let mut compared = Vec::new();
    for line in text.lines().chain(["@end"]) {
        let Some(directive) = line.strip_prefix('@') else {
            lines.push_str(line);
            lines.push('\n');
            continue;
        };
        take(&mut snapshot, &section, &std::mem::take(&mut lines));
        let (word, rest) = directive.split_once(' ').unwrap_or((directive, ""));
        match word {
            "app" => section = Section::App { file: begin(&mut snapshot, rest) },
            "file" => section = Section::App { file: rest.to_owned() },
            "live" => section = Section::Live,
            "unserved" => unserved.push(rest.rsplit_once('/').unwrap_or(("", rest))),
            "condition" => condition(&mut snapshot, rest),
            "spec" | "status" | "metadata" => merge(&mut snapshot, word, rest),
            "unrendered" => snapshot.applications.last_mut().unwrap().rendered = false,
            "compared" => compared.push(snapshot.applications.len() - 1),
            "withheld" => snapshot.withheld.push(withheld(rest)),
            "uncreated" => snapshot.applications.last_mut().unwrap().uncreated = true,
            "covers" => covers(&mut snapshot, rest),
            "end" => {}
            other => panic!("no directive: {other}"),
        }
    }
    serve(&mut snapshot);
    for (group, kind) in unserved {
        snapshot.clusters[0].kinds.remove(&GroupKind::new(group, kind));
    }
    for place in compared {
        compare(&mut snapshot, place);
    }
    snapshot
}

fn withheld(rest: &str) -> Withheld {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [app, what, option, place] = words[..] else { panic!("{rest}") };
    let parts: Vec<&str> = what.split('/').collect();
    let (what, object) = match parts[..] {
        [kind, namespace, name] => {
            let key = ObjectKey::new("", kind, namespace, name);
            (Lacking::Object(key.clone()), key)
        }
        [group, kind] => {
            let definition = ObjectKey::new("apiextensions.k8s.io", "CustomResourceDefinition", "", kind);
            (Lacking::Definition(GroupKind::new(group, kind)), definition)
        }
        _ => panic!("{rest}"),
    };
    let by = match (option, place.rsplit_once(':')) {
        ("revision", _) => Hindrance::Revision(place.into()),
        (_, Some((file, line))) => Hindrance::Option {
            option: option.into(),
            stands: "false".into(),
            turned: "true".into(),
            site: Site::File(Span {
                file: FilePath::new(file).unwrap(),
                line: line.parse().unwrap(),
                column: 0,
            }),
            place: Box::new(Place::Make { object }),
        },
        (_, None) => Hindrance::Option {
            option: option.into(),
            stands: if option == "skipCrds" { "true".into() } else { "false".into() },
            turned: if option == "skipCrds" { "false".into() } else { "true".into() },
            site: Site::Application(place.into()),
            place: Box::new(Place::Application {
                path: FieldPath::parse(place).unwrap(),
                value: (option != "skipCrds").then(|| Value::from("true")),
            }),
        },
    };
    Withheld { what, server: SERVER.into(), application: AppName::new("argocd", app), by }
}

enum Section {
    Live,
    App { file: String },
}

fn begin(snapshot: &mut Snapshot, rest: &str) -> String {
    let mut words = rest.split_whitespace();
    let (name, sync, health) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let value = value!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": (name), "namespace": "argocd"},
        "spec": {
            "project": "default",
            "source": {"repoURL": "https://git.example.com/all.git", "path": (name), "targetRevision": "main"},
            "destination": {"server": (SERVER), "namespace": "default"},
            "syncPolicy": {"automated": {}},
        },
        "status": {"sync": {"status": (sync)}, "health": {"status": (health)}},
    });
    let application = Application::from_object(&Object::new(value).unwrap()).unwrap();
    snapshot.applications.push(Delivery {
        application,
        server: SERVER.into(),
        rendered: true,
        ..Delivery::default()
    });
    format!("{name}.yaml")
}

fn take(snapshot: &mut Snapshot, section: &Section, text: &str) {
    let file = match section {
        Section::Live => FilePath::new("live.yaml").unwrap(),
        Section::App { file } => FilePath::new(file).unwrap(),
    };
    let read = manifest::read(&file, text.trim_start().as_bytes(), &yaml::Options::default());
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    for placed in read.objects {
        match section {
            Section::Live => snapshot.clusters[0].objects.push(placed.object),
            Section::App { .. } => {
                let span = Span { file: file.clone(), line: placed.line, column: 0 };
                let wanted = Wanted { object: placed.object, span: Some(span) };
                snapshot.applications.last_mut().unwrap().wanted.push(wanted);
            }
        }
    }
}

fn covers(snapshot: &mut Snapshot, rest: &str) {
    let words: Vec<&str> = rest.splitn(8, ' ').collect();
    let [place, key, says, covered, kind, name, field, value] = words.as_slice() else { panic!("{rest}") };
    let (file, line) = place.split_once(':').unwrap();
    let file = FilePath::new(file).unwrap();
    let span = Some(Span { file: file.clone(), line: line.parse().unwrap(), column: 0 });
    let delivery = snapshot.applications.last_mut().unwrap();
    let repository = "https://git.example.com/all.git".into();
    let wanted = delivery.wanted.iter().find(|one| (one.object.kind(), one.object.name()) == (*kind, *name));
    delivery.overrides.push(Override {
        key: FieldPath::parse(key).unwrap(),
        says: (*says).to_owned(),
        written: vec![Written { span, way: Way::File { repository, file } }],
        covered: (*covered).to_owned(),
        returns: vec![(
            wanted.unwrap().object.key(),
            FieldPath::parse(field).unwrap(),
            yaml::parse(value.as_bytes()).unwrap(),
        )],
    });
}

fn condition(snapshot: &mut Snapshot, rest: &str) {
    let (kind, message) = rest.split_once(' ').unwrap();
    change(snapshot, |value| {
        let one = value!({"type": (kind), "message": (message)});
        value
            .as_map_or_insert()
            .entry("status")
            .as_map_or_insert()
            .entry("conditions")
            .as_seq_or_insert()
            .push(one);
    });
}

fn merge(snapshot: &mut Snapshot, part: &str, text: &str) {
    let more = yaml::parse(text.as_bytes()).unwrap();
    change(snapshot, |value| {
        let old = value.at(&[part]).cloned().unwrap_or_default();
        value.set(&[part], patch::merge(&old, &more).unwrap());
    });
}

fn change(snapshot: &mut Snapshot, change: impl FnOnce(&mut Value)) {
    let application = &mut snapshot.applications.last_mut().unwrap().application;
    let mut value = application.to_object().into_value();
    change(&mut value);
    *application = Application::from_object(&Object::new(value).unwrap()).unwrap();
}

/// Compares an application as the engine does, after a sync of what it wants.
fn compare(snapshot: &mut Snapshot, place: usize) {
    let delivery = &snapshot.applications[place];
    let wanted: Vec<Object> = delivery.wanted.iter().map(|one| one.object.clone()).collect();
    let name = delivery.application.metadata.name.clone();
    let is_marked = |object: &Object| TrackingId::of(object).is_some_and(|id| id.application == name);
    let is_wanted = |object: &Object| wanted.iter().any(|one| one.key() == object.key());
    let objects = snapshot.clusters[0].objects.iter();
    let live: Vec<Object> = objects.filter(|one| is_wanted(one) || is_marked(one)).cloned().collect();
    let pairs = pair(&wanted, &live, "default", &|_| Some(true));
    let (ignore, _) = Ignore::new(&delivery.application.spec.ignore_differences);
    let settings = Settings { ignore, applied: true, ..Settings::default() };
    snapshot.applications[place].changes = compare_all(pairs, &settings, &|_| true);
}

/// Built-in kinds, those of objects, and those of definitions are served.
fn serve(snapshot: &mut Snapshot) {
    let built_in = "Pod Service ConfigMap Secret ServiceAccount Namespace Node PersistentVolumeClaim PersistentVolume Event \
                    apps/Deployment apps/StatefulSet apps/DaemonSet apps/ReplicaSet batch/Job batch/CronJob \
                    networking.k8s.io/Ingress storage.k8s.io/StorageClass rbac.authorization.k8s.io/Role \
                    rbac.authorization.k8s.io/RoleBinding rbac.authorization.k8s.io/ClusterRole \
                    rbac.authorization.k8s.io/ClusterRoleBinding argoproj.io/Application argoproj.io/AppProject \
                    apiextensions.k8s.io/CustomResourceDefinition policy/PodDisruptionBudget autoscaling/HorizontalPodAutoscaler";
    let view = &mut snapshot.clusters[0];
    for kind in built_in.split_whitespace() {
        let (group, kind) = kind.split_once('/').unwrap_or(("", kind));
        view.kinds.insert(GroupKind::new(group, kind), true);
    }
    for object in &view.objects {
        view.kinds.insert(object.group_kind(), !object.namespace().is_empty());
        if let Some(kind) = crate::links::kind::defined(object) {
            view.kinds.insert(kind, true);
        }
    }
    // Applications are objects of the cluster too.
    let created = snapshot.applications.iter().filter(|one| !one.uncreated);
    view.objects.extend(created.map(|one| one.application.to_object()));
}

#[test]
fn the_place_of_a_thing_in_the_graph_is_what_owns_it() {
    let snapshot = snapshot("@live\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n");
    let case = Case::new(&snapshot);
    let key = snapshot.clusters[0].objects[0].key();
    assert_eq!(case.node(SERVER, &key), Node::object(SERVER, key));
}
