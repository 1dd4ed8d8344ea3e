//! How fast a workload may grow and shrink, and how long an earlier recommendation counts.

use jiff::{SignedDuration, Timestamp};
use lynceus_object::Value;

/// How long recommendations to be larger count, where the autoscaler does not say.
const DOWN_WINDOW: i64 = 300;
/// The longest window and the longest period that an autoscaler may name.
const LONGEST: SignedDuration = SignedDuration::from_secs(3600);
/// Without rules a workload at most doubles in a step, but may always grow to this many.
const SMALL: i64 = 4;

/// What an autoscaler remembers of the past. It is lost when the process ends, as the original's is.
#[derive(Debug, Default)]
pub(super) struct Past {
    recommended: Vec<(Timestamp, i64)>,
    grown: Vec<(Timestamp, i64)>,
    shrunk: Vec<(Timestamp, i64)>,
}

/// The end of a deliberation: a count, and what the conditions say of it.
pub(super) struct Verdict {
    pub(super) wanted: i64,
    /// Reason and message of AbleToScale.
    pub(super) able: (&'static str, &'static str),
    /// Whether the count was cut, and reason and message of ScalingLimited.
    pub(super) limited: (bool, &'static str, &'static str),
}

/// The bounds of an autoscaler, and what it looks at.
pub(super) struct Bounds<'a> {
    pub(super) least: i64,
    pub(super) most: i64,
    pub(super) current: i64,
    pub(super) behavior: Option<&'a Value>,
    pub(super) now: Timestamp,
}

const HIGHER: (&str, &str) = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
);
const LOWER: (&str, &str) = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
);
const MATCHES: (&str, &str) = ("ReadyForNewScale", "recommended size matches current size");
const WITHIN: (&str, &str) = ("DesiredWithinRange", "the desired count is within the acceptable range");
const TOO_FEW: (&str, &str) =
    ("TooFewReplicas", "the desired replica count is less than the minimum replica count");
const TOO_MANY: (&str, &str) =
    ("TooManyReplicas", "the desired replica count is more than the maximum replica count");
const TOO_FAST: (&str, &str) =
    ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate");
const TOO_SOON: (&str, &str) =
    ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate");

impl Past {
    /// Remembers the size that the workload has when the autoscaler first sees it.
    pub(super) fn begin(&mut self, current: i64, now: Timestamp) {
        if self.recommended.is_empty() {
            self.recommended.push((now, current));
        }
    }

    /// Remembers that the workload was given another size.
    pub(super) fn note(&mut self, before: i64, after: i64, now: Timestamp) {
        let changes = if after > before { &mut self.grown } else { &mut self.shrunk };
        changes.push((now, (after - before).abs()));
    }

    /// Forgets a change that was noted and did not happen.
    pub(super) fn undo(&mut self, now: Timestamp) {
        for changes in [&mut self.grown, &mut self.shrunk] {
            changes.retain(|(at, _)| *at != now);
        }
    }

    /// What becomes of a recommendation.
    pub(super) fn settle(&mut self, recommended: i64, bounds: &Bounds<'_>) -> Verdict {
        for entries in [&mut self.recommended, &mut self.grown, &mut self.shrunk] {
            entries.retain(|(at, _)| bounds.now.duration_since(*at) <= LONGEST);
        }
        let (steady, why) = match bounds.behavior {
            Some(behavior) => self.stabilised(recommended, behavior, bounds),
            None => (self.highest(recommended, bounds.now), HIGHER),
        };
        self.recommended.push((bounds.now, recommended));
        let (wanted, limit) = match bounds.behavior {
            Some(behavior) => self.limited(steady, behavior, bounds),
            None => doubled_at_most(steady, bounds),
        };
        Verdict {
            wanted,
            able: if steady == recommended { MATCHES } else { why },
            limited: (wanted != steady, limit.0, limit.1),
        }
    }

    fn highest(&self, recommended: i64, now: Timestamp) -> i64 {
        let recent = |(at, _): &&(Timestamp, i64)| now.duration_since(*at).as_secs() <= DOWN_WINDOW;
        self.recommended.iter().filter(recent).map(|(_, count)| *count).fold(recommended, i64::max)
    }

    fn stabilised(
        &self,
        recommended: i64,
        behavior: &Value,
        bounds: &Bounds<'_>,
    ) -> (i64, (&'static str, &'static str)) {
        let window = |direction: &str, usual: i64| {
            let seconds = behavior.int_at(&[direction, "stabilizationWindowSeconds"]).unwrap_or(usual);
            let recent = move |(at, _): &&(Timestamp, i64)| {
                bounds.now.duration_since(*at).as_secs_f64() < seconds as f64
            };
            self.recommended.iter().filter(recent).map(|(_, count)| *count)
        };
        let up = window("scaleUp", 0).fold(recommended, i64::min);
        let down = window("scaleDown", DOWN_WINDOW).fold(recommended, i64::max);
        let why = if recommended >= bounds.current { LOWER } else { HIGHER };
        (bounds.current.max(up).min(down), why)
    }

    fn limited(
        &self,
        steady: i64,
        behavior: &Value,
        bounds: &Bounds<'_>,
    ) -> (i64, (&'static str, &'static str)) {
        let current = bounds.current;
        if steady > current {
            let limit = self.limit(behavior.get("scaleUp"), bounds, true).max(current);
            let (most, why) = if bounds.most > limit { (limit, TOO_FAST) } else { (bounds.most, TOO_MANY) };
            if steady > most {
                return (most, why);
            }
        } else if steady < current {
            let limit = self.limit(behavior.get("scaleDown"), bounds, false).min(current);
            let (least, why) = if bounds.least < limit { (limit, TOO_SOON) } else { (bounds.least, TOO_FEW) };
            if steady < least {
                return (least, why);
            }
        }
        (steady, WITHIN)
    }

    /// The size that rules allow at most when it grows, and at least when it shrinks.
    fn limit(&self, rules: Option<&Value>, bounds: &Bounds<'_>, grows: bool) -> i64 {
        let select = rules.and_then(|rules| rules.str_at(&["selectPolicy"])).unwrap_or("Max");
        if select == "Disabled" {
            return bounds.current;
        }
        let policies = rules.map_or(&[][..], |rules| rules.items_at(&["policies"]));
        let allowed = policies.iter().map(|policy| {
            let number = |field: &str| policy.int_at(&[field]).unwrap_or(0);
            let within = |changes: &[(Timestamp, i64)]| {
                let recent = |(at, _): &&(Timestamp, i64)| {
                    bounds.now.duration_since(*at).as_secs_f64() < number("periodSeconds") as f64
                };
                changes.iter().filter(recent).map(|(_, count)| *count).sum::<i64>()
            };
            let start = bounds.current - within(&self.grown) + within(&self.shrunk);
            let value = number("value");
            match (policy.str_at(&["type"]) == Some("Percent"), grows) {
                (true, true) => (start as f64 * (1.0 + value as f64 / 100.0)).ceil() as i64,
                (true, false) => (start as f64 * (1.0 - value as f64 / 100.0)) as i64,
                (false, true) => start + value,
                (false, false) => start - value,
            }
        });
        // The largest change is the largest size when it grows, and the smallest when it shrinks.
        let limit = if (select == "Min") == grows { allowed.min() } else { allowed.max() };
        limit.unwrap_or(bounds.current)
    }
}

fn doubled_at_most(steady: i64, bounds: &Bounds<'_>) -> (i64, (&'static str, &'static str)) {
    let limit = (2 * bounds.current).max(SMALL);
    let (most, why) = if bounds.most > limit { (limit, TOO_FAST) } else { (bounds.most, TOO_MANY) };
    if steady < bounds.least {
        (bounds.least, TOO_FEW)
    } else if steady > most {
        (most, why)
    } else {
        (steady, WITHIN)
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    /// Lets an autoscaler follow recommendations, each with the second at which it is made; the sizes and reasons that come of it.
    fn follow(behavior: Option<Value>, start: i64, recommended: &[(i64, i64)]) -> Vec<String> {
        let (mut past, mut current) = (Past::default(), start);
        let step = |&(second, count): &(i64, i64)| {
            let bounds = Bounds { least: 1, most: 20, current, behavior: behavior.as_ref(), now: at(second) };
            past.begin(current, bounds.now);
            let verdict = past.settle(count, &bounds);
            if verdict.wanted != current {
                past.note(current, verdict.wanted, bounds.now);
            }
            current = verdict.wanted;
            format!("{current} {} {}", verdict.able.0, verdict.limited.1)
        };
        recommended.iter().map(step).collect()
    }

    #[test]
    fn without_rules_it_doubles_at_once_and_shrinks_after_five_minutes() {
        let seen = follow(None, 3, &[(0, 30), (15, 30), (30, 30), (45, 2), (330, 2), (345, 2), (400, 0)]);
        assert_eq!(
            seen,
            [
                "6 ReadyForNewScale ScaleUpLimit",
                "12 ReadyForNewScale ScaleUpLimit",
                "20 ReadyForNewScale TooManyReplicas",
                "20 ScaleDownStabilized TooManyReplicas",
                "20 ScaleDownStabilized TooManyReplicas",
                "2 ReadyForNewScale DesiredWithinRange",
                "2 ScaleDownStabilized DesiredWithinRange",
            ]
        );
        assert_eq!(follow(None, 1, &[(0, 30)]), ["4 ReadyForNewScale ScaleUpLimit"]);
    }

    #[test]
    fn rules_bound_how_fast_it_grows_and_shrinks() {
        let pods =
            |count: i64, seconds: i64| value!({"type": "Pods", "value": count, "periodSeconds": seconds});
        let percent =
            |count: i64, seconds: i64| value!({"type": "Percent", "value": count, "periodSeconds": seconds});
        let behavior = value!({
            "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [pods(2, 60), percent(50, 60)]},
            "scaleDown": {"stabilizationWindowSeconds": 0, "selectPolicy": "Min", "policies": [pods(1, 60), percent(50, 60)]},
        });
        let seen = follow(
            Some(behavior.clone()),
            2,
            &[(0, 20), (15, 20), (60, 20), (120, 20), (180, 1), (195, 1), (240, 1)],
        );
        assert_eq!(
            seen,
            [
                "4 ReadyForNewScale ScaleUpLimit",
                "4 ReadyForNewScale ScaleUpLimit",
                "6 ReadyForNewScale ScaleUpLimit",
                "9 ReadyForNewScale ScaleUpLimit",
                "8 ReadyForNewScale ScaleDownLimit",
                "8 ReadyForNewScale ScaleDownLimit",
                "7 ReadyForNewScale ScaleDownLimit",
            ]
        );
        let mut never = behavior;
        never.set(&["scaleDown", "selectPolicy"], "Disabled");
        assert_eq!(follow(Some(never), 5, &[(0, 1)]), ["5 ReadyForNewScale ScaleDownLimit"]);
    }

    #[test]
    fn windows_hold_back_both_ways() {
        let behavior = value!({
            "scaleUp": {"stabilizationWindowSeconds": 30, "policies": [{"type": "Pods", "value": 9, "periodSeconds": 15}]},
            "scaleDown": {"policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]},
        });
        let seen = follow(Some(behavior), 3, &[(0, 8), (15, 7), (30, 8), (45, 2), (330, 2), (345, 2)]);
        assert_eq!(
            seen,
            [
                "3 ScaleUpStabilized DesiredWithinRange",
                "3 ScaleUpStabilized DesiredWithinRange",
                "7 ScaleUpStabilized DesiredWithinRange",
                "7 ScaleDownStabilized DesiredWithinRange",
                "2 ReadyForNewScale DesiredWithinRange",
                "2 ReadyForNewScale DesiredWithinRange",
            ]
        );
    }
}
