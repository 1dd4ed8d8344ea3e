//! What came of one ApplicationSet.

use std::collections::BTreeMap;

use lynceus_api::{Reason, ReasonCode};
use lynceus_engine::AppKey;
use lynceus_object::{Object, Str};

use super::{SetReport, Step, Telling, Verdict, Watch, watch};
use crate::play::Mark;
use crate::world::World;

/// What came of all ApplicationSets that are there. Of one that cannot be played nothing is told but that.
pub(super) fn all(
    telling: &Telling<'_>,
    world: &World,
    watch: &Watch,
    mark: &Mark,
    steps: &mut BTreeMap<Str, Vec<Step>>,
) -> Vec<SetReport> {
    let mut all = Vec::new();
    for object in world.stored_sets() {
        let key = AppKey::new(object.namespace(), object.name());
        let surveyed = telling.surveys.iter().rev().find_map(|survey| survey.sets.get(&key));
        let steps = steps.remove(format!("applicationset {key}").as_str()).unwrap_or_default();
        let since = watch.since(&watch::key(&object));
        let verdict = match since {
            _ if surveyed.is_some_and(|set| set.unanswered.is_some()) => Verdict::NotRehearsed,
            Some((true, _)) => Verdict::Finishes,
            _ => Verdict::Stuck,
        };
        let is_stuck = verdict == Verdict::Stuck;
        let stuck_for = since.map(|(_, at)| world.now().duration_since(at.max(mark.at)).as_secs());
        all.push(SetReport {
            namespace: key.namespace.to_string(),
            name: key.name.to_string(),
            place: surveyed.and_then(|set| set.place.clone()),
            verdict,
            stuck_for: stuck_for.filter(|_| is_stuck),
            reasons: if is_stuck { reasons(&object) } else { Vec::new() },
            steps,
        });
    }
    all.sort_by(|one, other| (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name)));
    all
}

/// What its conditions say that is not as it should be; each text once.
fn reasons(object: &Object) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for one in object.value().items_at(&["status", "conditions"]) {
        let text = |field: &str| one.str_at(&[field]).unwrap_or_default();
        let code = match (text("type"), text("status"), text("reason")) {
            ("ResourcesUpToDate", "False", "DeletionsHeld") => ReasonCode::WaitsForConfirmation,
            ("ErrorOccurred", "True", _) | ("ResourcesUpToDate" | "ParametersGenerated", "False", _) => {
                ReasonCode::Failed
            }
            _ => continue,
        };
        let told = Reason::new(code, text("message"));
        if !reasons.iter().any(|known| known.text == told.text) {
            reasons.push(told);
        }
    }
    if reasons.is_empty() {
        reasons.push(Reason::new(ReasonCode::Failed, "nobody has looked at it"));
    }
    reasons
}
