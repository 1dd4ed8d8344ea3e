//! Files and a field in; the place, and files that render as wanted, out.

mod charts;
mod kustomizations;
mod manifests;

use std::sync::Arc;
use std::time::Duration;

use lynceus_api::ApplicationSource;
use lynceus_files::MemoryTree;
use lynceus_helm::World;
use lynceus_object::{json, to_typed};
use lynceus_render::{Bases, Charts, Fetched, Field, Job, Setting, explain, render};

use super::*;

struct Still;

impl World for Still {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

/// Files by `=== path` headers. `application.yaml` is the Application, if it is there; other sources are below `other/`.
#[derive(Clone)]
struct Files(Vec<(String, String)>);

fn files(text: &str) -> Files {
    let files = text.split("=== ").skip(1).map(|file| {
        let (name, content) = file.split_once('\n').unwrap();
        (name.to_owned(), content.to_owned())
    });
    Files(files.collect())
}

impl Files {
    fn tree(&self, below: &str) -> MemoryTree {
        let mut tree = MemoryTree::new();
        for (name, content) in &self.0 {
            if let Some(name) = name.strip_prefix(below) {
                tree.insert(FilePath::new(name).unwrap(), content.as_bytes());
            }
        }
        tree
    }

    fn application(&self) -> Option<Value> {
        let (_, text) = self.0.iter().find(|(name, _)| name == "application.yaml")?;
        parse(text, 0)
    }

    fn source(&self) -> ApplicationSource {
        let source = self.application().and_then(|application| application.at(&["spec", "source"]).cloned());
        to_typed(&source.unwrap_or_else(|| lynceus_object::value!({"repoURL": "x", "path": "app"}))).unwrap()
    }

    /// Does something with the job of rendering these files.
    fn with<T>(&self, what: impl FnOnce(&Job<'_>, &Ground<'_>) -> T) -> T {
        let (tree, source) = (self.tree(""), self.source());
        let references: References =
            [("values".into(), Arc::new(self.tree("other/")) as Arc<dyn Tree>)].into();
        let setting = Setting { application: "shop".into(), namespace: "prod".into(), ..Setting::default() };
        let job = Job {
            tree: &tree,
            source: &source,
            setting: &setting,
            references: &references,
            fetched: &Fetched::new(),
            bases: &Bases::new(),
            charts: &Charts::none(),
        };
        let path = FilePath::new(&source.path).unwrap();
        let file = FilePath::new("application.yaml").unwrap();
        let source = FieldPath::fields(["spec", "source"]);
        let declared = Declared { tree: &tree, file, document: 0, source, known: None };
        let declared = self.application().map(|_| &declared);
        let ground =
            Ground { tree: &tree, path: &path, application: "shop", references: &references, declared };
        what(&job, &ground)
    }

    fn object(&self, field: &Field) -> Object {
        self.with(|job, _| {
            let rendered = render(job, &mut Still).unwrap();
            let is_it = |object: &Object| {
                object.kind().eq_ignore_ascii_case(&field.kind) && object.name().starts_with(&field.name)
            };
            rendered.manifests.into_iter().map(|made| made.object).find(is_it).unwrap()
        })
    }

    fn place(&self, field: &Field, wanted: Option<&Value>) -> Result<Place, PlaceError> {
        let object = self.object(field);
        self.with(|job, ground| {
            let reason = explain(job, field, &mut Still).unwrap().unwrap();
            place(ground, &reason, &object, &field.path, wanted)
        })
    }

    /// The files with a change at a place.
    fn changed(&self, place: &Place, change: &Change) -> Files {
        let name = match &place.whose {
            Whose::Reference(_) => format!("other/{}", place.file),
            _ => place.file.to_string(),
        };
        let mut files = self.clone();
        let (_, text) = files.0.iter_mut().find(|(file, _)| *file == name).unwrap();
        *text = place.operate(text, change).unwrap();
        files
    }
}

fn told(place: &Place) -> String {
    let whose = match &place.whose {
        Whose::Source => String::new(),
        Whose::Reference(name) => format!("${name}/"),
        Whose::Application => "Application ".to_owned(),
    };
    let cell = |cell: &Cell| match &cell.form {
        Form::Value => format!("{}:{}", cell.document, cell.path),
        form => format!("{}:{} {form:?}", cell.document, cell.path),
    };
    let spot = match &place.spot {
        Spot::Field(own) => cell(own),
        Spot::Inside { document, path, cell: inner } => format!("{document}:{path} > {}", cell(inner)),
        Spot::Line { line, key } => format!("line {line} {key}"),
    };
    format!("{whose}{} {spot}", place.file)
}

/// Finds the place of a field, changes what is there and renders again: the field has to be what was wanted.
#[track_caller]
fn check(text: &str, field: &str, wanted: &str, expected: &str) -> Files {
    let (files, field): (Files, Field) = (files(text), field.parse().unwrap());
    let wanted = json::parse(wanted.as_bytes()).unwrap();
    let place = files.place(&field, Some(&wanted)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(told(&place), expected);
    let after = files.changed(&place, &Change::Set(wanted.clone()));
    assert_eq!(field.path.get(after.object(&field).value()), Some(&wanted));
    after
}

#[track_caller]
fn refuses(text: &str, field: &str, expected: &str) {
    let field: Field = field.parse().unwrap();
    let error = files(text).place(&field, None).unwrap_err();
    assert_eq!(error.to_string(), expected);
}
