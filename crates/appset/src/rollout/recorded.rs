//! What an Application waits for by what is written down about the steps of its ApplicationSet. Whoever looks at an Application
//! need not be the one who decides whose turn it is.

use lynceus_api::{
    ApplicationSet, ApplicationSetApplicationStatus as Status, ProgressiveSyncStatusCode as Code, Time,
};
use lynceus_object::Str;

use super::steps::{is_rolling, max_update};

/// What an Application waits for in a progressive sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// No step selects it.
    NoStep,
    /// An earlier step to end.
    Earlier {
        /// Its own step, counted from 1.
        own: usize,
        /// The step that is under way.
        step: usize,
        /// The Applications of that step that are not done.
        unfinished: Vec<Str>,
        /// Since when it waits.
        since: Option<Time>,
    },
    /// Room among those that may change at a time.
    Room {
        /// Its step, counted from 1.
        step: usize,
        /// How many may change at a time.
        most: usize,
        /// Those that do.
        updating: Vec<Str>,
        /// Since when it waits.
        since: Option<Time>,
    },
}

/// What an Application waits for; none if its turn has come, or nothing is written down about it.
pub fn recorded(set: &ApplicationSet, application: &str) -> Option<Recorded> {
    let all = &set.status.application_status;
    let own = all.iter().find(|one| one.application == application)?;
    if !is_rolling(set) || own.status != Code::Waiting {
        return None;
    }
    let Some(step) = step_of(own) else { return Some(Recorded::NoStep) };
    let since = own.last_transition_time;
    let open = all.iter().filter(|one| one.status != Code::Healthy).filter_map(step_of).min()?;
    let of = |step: usize| all.iter().filter(move |one| step_of(one) == Some(step));
    let names = |found: Vec<&Status>| found.iter().map(|one| one.application.clone()).collect();
    if open < step {
        let unfinished = of(open).filter(|one| one.status != Code::Healthy).collect();
        return Some(Recorded::Earlier { own: step, step: open, unfinished: names(unfinished), since });
    }
    let is_updating = |one: &&Status| one.status == Code::Pending || one.status == Code::Progressing;
    let updating: Vec<&Status> = of(step).filter(is_updating).collect();
    let most = max_update(set, step - 1, of(step).count())?;
    (updating.len() >= most).then(|| Recorded::Room { step, most, updating: names(updating), since })
}

/// The step that is written down, counted from 1.
fn step_of(one: &Status) -> Option<usize> {
    one.step.parse::<usize>().ok().filter(|step| *step > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{to_typed, yaml};

    fn waits(statuses: &str, application: &str) -> String {
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: s}}\nspec:\n  strategy: {{type: RollingSync, rollingSync: \
             {{steps: [{{}}, {{maxUpdate: 1}}]}}}}\nstatus:\n  applicationStatus:\n{statuses}"
        );
        let set: ApplicationSet = to_typed(&yaml::parse_str(&text).expect("YAML")).expect("a set");
        match recorded(&set, application) {
            None => "nothing".to_owned(),
            Some(Recorded::NoStep) => "a step".to_owned(),
            Some(Recorded::Earlier { own, step, unfinished, .. }) => {
                format!("{own} waits for {step}: {}", unfinished.join(" "))
            }
            Some(Recorded::Room { step, most, updating, .. }) => {
                format!("room in {step} of {most}: {}", updating.join(" "))
            }
        }
    }

    #[test]
    fn an_earlier_step_room_or_a_step_at_all_is_waited_for() {
        let line = |name: &str, step: &str, status: &str| {
            format!(
                "  - {{application: {name}, step: '{step}', status: {status}, message: m, targetRevisions: []}}\n"
            )
        };
        let first = line("a", "1", "Progressing") + &line("b", "1", "Healthy") + &line("c", "2", "Waiting");
        assert_eq!(waits(&first, "c"), "2 waits for 1: a");
        assert_eq!(waits(&first, "a"), "nothing");
        let second = line("a", "1", "Healthy") + &line("c", "2", "Pending") + &line("d", "2", "Waiting");
        assert_eq!(waits(&second, "d"), "room in 2 of 1: c");
        assert_eq!(waits(&(second + &line("e", "-1", "Waiting")), "e"), "a step");
        assert_eq!(waits(&first, "x"), "nothing");
    }
}
