//! From pairs to a change set.

use lynceus_api::options::compare;
use lynceus_api::{Options, hook};
use lynceus_object::{Object, Str};

use crate::change::{Change, ChangeSet, Update, Verdict, Why};
use crate::compare::{Sides, counted};
use crate::fields::differing;
use crate::ignore::Tally;
use crate::mask::{is_secret, mask};
use crate::origin::Clues;
use crate::pair::{Pair, Pairs};
use crate::prediction::predicted;
use crate::settings::Settings;
use crate::unchanged::is_unchanged;

/// Compares all pairs. One that cannot be compared does not stop the others.
///
/// `is_own` says whether an extra object carries its own tracking mark, and not one that was copied from another. An
/// object that is desired is ours by its name, whatever mark it carries: that is how existing objects are adopted.
pub fn compare_all(pairs: Pairs, settings: &Settings, is_own: &dyn Fn(&Object) -> bool) -> ChangeSet {
    let mut tally = settings.ignore.tally();
    let changes = pairs.pairs.into_iter().map(|pair| {
        let verdict = verdict(&pair, settings, is_own, &mut tally);
        tally.close();
        Change { pair, verdict }
    });
    let changes = changes.collect();
    ChangeSet { changes, hooks: pairs.hooks, rules: settings.ignore.reports(tally) }
}

fn verdict(pair: &Pair, settings: &Settings, is_own: &dyn Fn(&Object) -> bool, tally: &mut Tally) -> Verdict {
    if pair.desired().is_some_and(hook::is_skipped) {
        return Verdict::Ignored(Why::Skipped);
    }
    match pair {
        Pair::Missing(_) => Verdict::Create,
        Pair::Extra(live) if !is_own(live) => Verdict::Ignored(Why::Copied),
        Pair::Extra(live) if hook::is_hook(live) => Verdict::Ignored(Why::Hook),
        Pair::Extra(live) if Options::compare(live).has(compare::IGNORE_EXTRANEOUS) => {
            Verdict::Ignored(Why::Extraneous)
        }
        Pair::Extra(_) => Verdict::Prune,
        Pair::Both { desired, live } => update(desired, live, settings, tally),
    }
}

fn update(desired: &Object, live: &Object, settings: &Settings, tally: &mut Tally) -> Verdict {
    let sides = match &settings.server_side {
        Some(server_side) => predicted(desired, live, server_side, settings, tally),
        None if is_unchanged(desired, live, settings)
            && settings.ignore.pass_over(desired, live, tally).is_some() =>
        {
            return Verdict::Same;
        }
        None => counted(Some(desired), Some(live), settings, tally),
    };
    let sides = match sides {
        Ok(sides) => sides,
        Err(error) => return Verdict::Failed(error),
    };
    if !sides.is_modified() {
        return Verdict::Same;
    }
    let hidden = &settings.hidden_annotations;
    let shown = if is_secret(live) || has_any(&sides, hidden) {
        let (predicted, live) = mask(sides.predicted.as_ref(), sides.live.as_ref(), hidden);
        (live, predicted)
    } else {
        (sides.live, sides.predicted)
    };
    let (Some(shown_live), Some(predicted)) = shown else { return Verdict::Same };
    let fields = differing(&shown_live, &predicted, &Clues::new(desired, live, settings.applied));
    Verdict::Update(Update { live: shown_live, predicted, fields })
}

/// Whether one of the sides has an annotation that is to be hidden.
fn has_any(sides: &Sides, hidden: &[Str]) -> bool {
    let mut objects = sides.live.iter().chain(&sides.predicted);
    objects.any(|object| hidden.iter().any(|name| object.annotation(name).is_some()))
}
