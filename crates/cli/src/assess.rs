//! `lynceus health FILE`: how objects in a file are, by our checks or by scripts.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lynceus_health::{Customizations, Health, Libraries, Script, World};
use lynceus_object::{Object, Value, json, value, yaml};

use crate::exit::{Code, Doing as _, Failure, Outcome};

/// How long one script may take.
const SCRIPT_TIME: Duration = Duration::from_secs(1);

/// Say how healthy objects in a file are.
///
/// Prints what the check for the object's kind says, as JSON with `status` and `message`: one line per object, with its key
/// if there are several. An object of a kind without a check has an empty status.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file of YAML or JSON; - for stdin.
    file: PathBuf,
    /// Run this script in Lua as the check, with the libraries of texts and numbers.
    #[arg(long, value_name = "SCRIPT", conflicts_with = "config")]
    lua: Option<PathBuf>,
    /// Take the checks of this ConfigMap argocd-cm, or of this ArgoCD resource of OpenShift's operator, before ours.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Who judges.
enum Judge {
    Script(Script),
    Checks(Customizations),
}

/// What scripts see of the world, and how long one may take.
pub(crate) fn world() -> World {
    let end = Instant::now() + SCRIPT_TIME;
    World { now: Timestamp::now(), stop: Some(Arc::new(move || Instant::now() >= end)) }
}

impl Judge {
    fn of(&self, object: &Object) -> Option<Health> {
        let world = world();
        match self {
            Judge::Script(script) => lynceus_health::check_with(script, object, &world),
            Judge::Checks(checks) => checks.check(object, &world),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let objects = objects(&arguments.file)?;
    let judge = judge(arguments)?;
    for object in &objects {
        let health = judge.of(object);
        println!("{}", json::to_string(&line(object, health.as_ref(), objects.len() > 1)));
    }
    Ok(())
}

fn line(object: &Object, health: Option<&Health>, keyed: bool) -> Value {
    let status = health.map(|health| health.status.to_string()).unwrap_or_default();
    let message = health.map(|health| health.message.clone()).unwrap_or_default();
    let mut line = value!({"status": status, "message": message});
    if keyed {
        for (field, text) in [
            ("group", object.group()),
            ("kind", object.kind()),
            ("namespace", object.namespace()),
            ("name", object.name()),
        ] {
            line.set(&[field], text);
        }
    }
    line
}

fn judge(arguments: &Arguments) -> Outcome<Judge> {
    if let Some(file) = &arguments.lua {
        let text = String::from_utf8_lossy(&read(file)?).into_owned();
        let script = Script::compile(&text, Libraries::Open)
            .doing(format!("cannot read the script {}", file.display()))?;
        return Ok(Judge::Script(script));
    }
    let Some(file) = &arguments.config else { return Ok(Judge::Checks(Customizations::default())) };
    let settings = objects(file)?;
    let wanted = settings.iter().find(|object| matches!(object.kind(), "ConfigMap" | "ArgoCD"));
    let Some(settings) = wanted else {
        let message = format!("{} has neither a ConfigMap nor an ArgoCD", file.display());
        return Err(Failure::new(Code::NotFound, message)
            .hint("give the ConfigMap argocd-cm: kubectl -n argocd get cm argocd-cm -o yaml"));
    };
    let (checks, errors) = Customizations::read(settings);
    for error in errors {
        anstream::eprintln!("warning: {}: {error}", file.display());
    }
    Ok(Judge::Checks(checks))
}

/// The objects of a file. A document that cannot be read is told, and the others are judged.
fn objects(file: &Path) -> Outcome<Vec<Object>> {
    let text = read(file)?;
    let mut objects = Vec::new();
    for document in yaml::documents(&text, &yaml::Options::default()) {
        match document.result {
            Ok(Value::Null) => {}
            Ok(value) => match Object::new(value) {
                Ok(object) if object.kind() == "List" => objects.extend(items(&object)),
                Ok(object) => objects.push(object),
                Err(other) => tell(file, document.line, &format!("is no object but a {}", other.type_name())),
            },
            Err(error) => tell(file, error.line.max(document.line), &error.problem),
        }
    }
    match objects.is_empty() {
        false => Ok(objects),
        true => Err(Failure::new(Code::NotFound, format!("{} has no objects in it", file.display()))),
    }
}

fn items(list: &Object) -> impl Iterator<Item = Object> {
    list.value().items_at(&["items"]).iter().filter_map(|item| Object::new(item.clone()).ok())
}

fn tell(file: &Path, line: u32, what: &str) {
    anstream::eprintln!("error: {}:{line}: {what}", file.display());
}

fn read(file: &Path) -> Outcome<Vec<u8>> {
    if file == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).doing("cannot read stdin")?;
        return Ok(text);
    }
    std::fs::read(file).doing(format!("cannot read {}", file.display()))
}
