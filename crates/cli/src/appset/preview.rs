//! `lynceus appset preview` and `diff`: what would be done, and nothing is.

use std::path::Path;

use lynceus_api::{Application, ApplicationSet};
use lynceus_appset::plan::{Act, Input, Settings};
use lynceus_appset::{Generated, Generation, Params, Place, Plan, plan};
use lynceus_object::{Value, to_typed, value};

use super::change::{from_file, unqualified};
use super::{Sets, named};
use crate::exit::{Code, Doing as _, Failure, Outcome};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A file with ApplicationSets, or the name of one that is there; `-` is standard input.
    what: String,
    /// End with code 1 if anything would be done.
    #[arg(long)]
    exit_code: bool,
}

/// How much is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Names,
    Fields,
}

pub(super) async fn run(sets: &Sets, arguments: &Arguments, detail: Detail) -> Outcome {
    let path = Path::new(&arguments.what);
    let wanted = match arguments.what == "-" || path.exists() {
        true => from_file(path)?,
        false => vec![sets.get(&arguments.what).await?],
    };
    let mut differs = false;
    for set in wanted {
        let plan = planned(sets, set).await?;
        differs |= !plan.is_empty() || plan.held.is_some();
        print!("{}", told(&plan, detail));
    }
    if differs && arguments.exit_code { Err(Failure::new(Code::Answer, "")) } else { Ok(()) }
}

/// What would be done for a set. The server says what it generates; the rest is reckoned here, with the usual settings.
async fn planned(sets: &Sets, mut set: Value) -> Outcome<Plan> {
    let name = unqualified(&set);
    if let Ok(there) = sets.api.try_call("ApplicationSetService.Get", named(&name)).await {
        for field in ["namespace", "uid"] {
            set.set(&["metadata", field], there.at(&["metadata", field]).cloned().unwrap_or_default());
        }
    }
    let failed = || format!("cannot read ApplicationSet {name}");
    let apps = sets.generate(&set).await?;
    let mut generation = Generation::default();
    for (at, app) in apps.iter().enumerate() {
        let application: Application = to_typed(app).doing(failed())?;
        let place = Place::of("spec.generators").element(at);
        generation.applications.push(Generated { application, place, params: Params::new() });
    }
    let mut set: ApplicationSet = to_typed(&set).doing(failed())?;
    if set.metadata.namespace.is_empty() {
        let first = generation.applications.first().map(|one| one.application.metadata.namespace.clone());
        set.metadata.namespace = first
            .filter(|namespace| !namespace.is_empty())
            .unwrap_or(sets.connection.argocd_namespace.as_str().into());
    }
    let asked = value!({"appNamespace": set.metadata.namespace.clone()});
    let answer = sets.api.call("cannot list the applications", "ApplicationService.List", asked).await?;
    let mut existing: Vec<Application> = Vec::new();
    for item in answer.items_at(&["items"]) {
        existing.push(to_typed(item).doing("cannot read an application")?);
    }
    let settings = Settings::default();
    Ok(plan(&Input {
        set: &set,
        generation: &generation,
        invalid: &[],
        existing: &existing,
        settings: &settings,
    }))
}

fn told(plan: &Plan, detail: Detail) -> String {
    let mut out = String::new();
    let mut counts = [0_usize; 4];
    for step in &plan.steps {
        let (at, word) = match &step.act {
            Act::Create(_) => (0, "create"),
            Act::Update { .. } => (1, "update"),
            Act::Delete { .. } => (2, "delete"),
            Act::Keep(_) => (3, "keep"),
        };
        counts[at] += 1;
        match (&step.act, detail) {
            (Act::Keep(lynceus_appset::plan::Keep::Same), _) => {}
            (Act::Keep(_), _) | (_, Detail::Fields) => out.push_str(&format!("{step}\n")),
            (_, Detail::Names) => out.push_str(&format!("{word} {}\n", step.name)),
        }
    }
    for fault in &plan.faults {
        out.push_str(&format!("error: {fault}\n"));
    }
    if let Some(held) = &plan.held {
        out.push_str(&format!("held: {held}\n"));
    }
    let [create, update, delete, keep] = counts;
    out.push_str(&format!("{create} to create, {update} to update, {delete} to delete, {keep} to keep\n"));
    out
}
