//! How many pods it takes, by what the pods there are use.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Quantity, Str, Value};

use crate::controllers::condition;
use crate::controllers::pods;
use crate::controllers::time;
use crate::kinds::amount_of;

/// How long after its start a pod's use of CPU may be that of starting.
const STARTING: SignedDuration = SignedDuration::from_mins(5);
/// How long after its start a pod that becomes ready becomes so for the first time.
const FIRST_READINESS: SignedDuration = SignedDuration::from_secs(30);
/// The time that a measurement of CPU is about.
const WINDOW: SignedDuration = SignedDuration::from_secs(15);

/// How far use may be from its target without anything being done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    pub(super) down: f64,
    pub(super) up: f64,
}

impl Tolerance {
    const USUAL: f64 = 0.1;

    /// What an autoscaler tolerates.
    pub(super) fn of(scaler: &Object) -> Self {
        let of = |direction: &str| {
            let said = scaler.at(&["spec", "behavior", direction, "tolerance"]).and_then(amount_of);
            said.map_or(Self::USUAL, |amount: Quantity| amount.milli_value() as f64 / 1000.0)
        };
        Tolerance { down: of("scaleDown"), up: of("scaleUp") }
    }

    pub(super) fn covers(self, ratio: f64) -> bool {
        1.0 - self.down <= ratio && ratio <= 1.0 + self.up
    }
}

/// What pods use, in thousandths, by their names.
pub(super) type PodUse = BTreeMap<Str, i64>;

/// What the pods should use.
pub(super) enum Goal {
    /// A part of what they ask for, in percent; the requests in thousandths by the pods' names.
    Percent { percent: i64, requests: PodUse },
    /// So much each, in thousandths.
    Average(i64),
}

/// What they do use.
pub(super) struct Found {
    ratio: f64,
    /// In percent of what they ask for.
    pub(super) percent: i64,
    /// On average, in thousandths.
    pub(super) average: i64,
}

impl Goal {
    fn compare(&self, uses: &PodUse) -> Result<Found, String> {
        match self {
            Goal::Average(goal) => {
                let average = uses.values().sum::<i64>() / (uses.len() as i64).max(1);
                Ok(Found { ratio: average as f64 / *goal as f64, percent: 0, average })
            }
            Goal::Percent { percent: goal, requests } => {
                let known = uses.iter().filter_map(|(pod, used)| Some((used, requests.get(pod)?)));
                let (used, asked, count) =
                    known.fold((0, 0, 0), |(used, asked, count), (a, b)| (used + a, asked + b, count + 1));
                if asked == 0 {
                    return Err("no metrics returned matched known pods".into());
                }
                let percent = used * 100 / asked;
                Ok(Found { ratio: percent as f64 / *goal as f64, percent, average: used / count })
            }
        }
    }

    /// What a pod that nobody measured is taken to use when others could be spared.
    fn benefit_of_doubt(&self, pod: &str) -> i64 {
        match self {
            Goal::Average(goal) => *goal,
            Goal::Percent { percent, requests } => {
                requests.get(pod).copied().unwrap_or(0) * percent.max(&100) / 100
            }
        }
    }
}

/// How many pods it takes for them to use what they should.
pub(super) struct Count<'a> {
    pub(super) current: i64,
    pub(super) pods: &'a [Object],
    pub(super) is_cpu: bool,
    pub(super) tolerance: Tolerance,
    pub(super) now: Timestamp,
}

impl Count<'_> {
    /// The count, and what the pods use now. `goal` is asked for once it is known that pods were measured.
    pub(super) fn wanted(
        &self,
        mut uses: PodUse,
        goal: impl FnOnce() -> Result<Goal, String>,
    ) -> Result<(i64, Found), String> {
        if self.pods.is_empty() {
            return Err("no pods returned by selector while calculating replica count".into());
        }
        let groups = self.groups(&uses);
        uses.retain(|pod, _| !groups.ignored.contains(pod) && !groups.unready.contains(pod));
        if uses.is_empty() {
            return Err("did not receive metrics for targeted pods (pods might be unready)".into());
        }
        let goal = goal()?;
        let found = goal.compare(&uses)?;
        let grows_unready = !groups.unready.is_empty() && found.ratio > 1.0;
        if !grows_unready && groups.missing.is_empty() {
            let wanted = match self.tolerance.covers(found.ratio) {
                true => self.current,
                false => (found.ratio * groups.ready as f64).ceil() as i64,
            };
            return Ok((wanted, found));
        }
        for pod in groups.missing {
            if found.ratio < 1.0 {
                let used = goal.benefit_of_doubt(&pod);
                uses.insert(pod, used);
            } else if found.ratio > 1.0 {
                uses.insert(pod, 0);
            }
        }
        if grows_unready {
            uses.extend(groups.unready.into_iter().map(|pod| (pod, 0)));
        }
        let ratio = goal.compare(&uses)?.ratio;
        let turned = (found.ratio < 1.0 && ratio > 1.0) || (found.ratio > 1.0 && ratio < 1.0);
        if self.tolerance.covers(ratio) || turned {
            return Ok((self.current, found));
        }
        let wanted = (ratio * uses.len() as f64).ceil() as i64;
        let turned = (ratio < 1.0 && wanted > self.current) || (ratio > 1.0 && wanted < self.current);
        Ok((if turned { self.current } else { wanted }, found))
    }

    fn groups(&self, uses: &PodUse) -> Groups {
        let mut out = Groups::default();
        for pod in self.pods {
            let name = Str::from(pod.name());
            if pod.is_deleting() || pods::phase(pod) == "Failed" {
                out.ignored.insert(name);
            } else if pods::phase(pod) == "Pending" {
                out.unready.insert(name);
            } else if !uses.contains_key(&name) {
                out.missing.insert(name);
            } else if self.is_cpu && self.is_starting(pod) {
                out.unready.insert(name);
            } else {
                out.ready += 1;
            }
        }
        out
    }

    /// Whether what a pod uses says nothing yet of what it will.
    fn is_starting(&self, pod: &Object) -> bool {
        let begun = time::read(pod.at(&["status", "startTime"]));
        let (Some(ready), Some(begun)) = (condition::get(pod, "Ready"), begun) else { return true };
        let unready = ready.str_at(&["status"]) == Some("False");
        let since = time::read(ready.get("lastTransitionTime")).unwrap_or(begun);
        let plus = |at: Timestamp, by| at.saturating_add(by).unwrap_or(Timestamp::MAX);
        if plus(begun, STARTING) > self.now {
            unready || self.now < plus(since, WINDOW)
        } else {
            unready && plus(begun, FIRST_READINESS) > since
        }
    }
}

#[derive(Default)]
struct Groups {
    ready: i64,
    unready: BTreeSet<Str>,
    missing: BTreeSet<Str>,
    ignored: BTreeSet<Str>,
}

/// How many pods are ready, for metrics that are not theirs.
pub(super) fn ready(pods: &[Object]) -> Result<i64, String> {
    if pods.is_empty() {
        return Err(
            "unable to calculate ready pods: no pods returned by selector while calculating replica count"
                .into(),
        );
    }
    Ok(pods.iter().filter(|pod| pods::phase(pod) == "Running" && pods::is_ready(pod)).count() as i64)
}

/// What pods ask for, in thousandths; of one container if it is named.
pub(super) fn requests(pods: &[Object], resource: &str, container: Option<&str>) -> Result<PodUse, String> {
    pods.iter().map(|pod| Ok((Str::from(pod.name()), request(pod, resource, container)?))).collect()
}

fn request(pod: &Object, resource: &str, container: Option<&str>) -> Result<i64, String> {
    let spec = pod.at(&["spec"]).unwrap_or(&Value::Null);
    let asked = |of: &Value| of.at(&["resources", "requests", resource]).and_then(amount_of);
    let whole = spec.at(&["resources", "requests"]).is_some_and(|requests| !requests.is_empty());
    if whole && container.is_none() {
        let of_pod = crate::kinds::usage::of_pod(pod.value(), "requests");
        return of_pod
            .get(resource)
            .map(Quantity::milli_value)
            .ok_or_else(|| format!("missing pod-level request for {resource} in Pod {}", pod.name()));
    }
    let staying = |init: &&Value| init.str_at(&["restartPolicy"]) == Some("Always");
    let containers = spec.items_at(&["containers"]).iter();
    let containers = containers.chain(spec.items_at(&["initContainers"]).iter().filter(staying));
    let mut sum = None;
    for one in containers {
        let name = one.str_at(&["name"]).unwrap_or_default();
        if container.is_some_and(|wanted| wanted != name) {
            continue;
        }
        let amount = asked(one).ok_or_else(|| {
            format!("missing request for {resource} in container {name} of Pod {}", pod.name())
        })?;
        sum = Some(sum.unwrap_or(0) + amount.milli_value());
    }
    match (sum, container) {
        (None, Some(container)) => Err(format!("container {container} not found in Pod {}", pod.name())),
        (sum, _) => Ok(sum.unwrap_or(0)),
    }
}
