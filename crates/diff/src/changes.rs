//! From pairs to a change set.

use lynceus_api::options::compare;
use lynceus_api::{Options, hook};
use lynceus_object::Object;

use crate::change::{Change, ChangeSet, Update, Verdict, Why};
use crate::compare::sides;
use crate::fields::differing;
use crate::mask::{is_secret, mask};
use crate::pair::{Pair, Pairs};
use crate::settings::Settings;

/// Compares all pairs. One that cannot be compared does not stop the others.
///
/// `is_own` says whether an extra object carries its own tracking mark, and not one that was copied from another. An
/// object that is desired is ours by its name, whatever mark it carries: that is how existing objects are adopted.
pub fn compare_all(pairs: Pairs, settings: &Settings, is_own: &dyn Fn(&Object) -> bool) -> ChangeSet {
    let changes = pairs.pairs.into_iter().map(|pair| {
        let verdict = verdict(&pair, settings, is_own);
        Change { pair, verdict }
    });
    ChangeSet { changes: changes.collect(), hooks: pairs.hooks }
}

fn verdict(pair: &Pair, settings: &Settings, is_own: &dyn Fn(&Object) -> bool) -> Verdict {
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
        Pair::Both { desired, live } => update(desired, live, settings),
    }
}

fn update(desired: &Object, live: &Object, settings: &Settings) -> Verdict {
    let sides = match sides(Some(desired), Some(live), settings) {
        Ok(sides) => sides,
        Err(error) => return Verdict::Failed(error),
    };
    if !sides.is_modified() {
        return Verdict::Same;
    }
    let shown = if is_secret(live) {
        let (predicted, live) = mask(sides.predicted.as_ref(), sides.live.as_ref(), &[]);
        (live, predicted)
    } else {
        (sides.live, sides.predicted)
    };
    let (Some(shown_live), Some(predicted)) = shown else { return Verdict::Same };
    let fields = differing(&shown_live, &predicted, live);
    Verdict::Update(Update { live: shown_live, predicted, fields })
}
