//! Which Application belongs to which step.

use std::collections::BTreeMap;

use lynceus_api::{
    Application, ApplicationMatchExpression, ApplicationSet, ApplicationSetRolloutStep, IntOrString,
};
use lynceus_object::Str;

/// The steps of an ApplicationSet and the Applications of each.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// The Applications of each step, in order.
    pub applications: Vec<Vec<Str>>,
    of: BTreeMap<Str, usize>,
    /// What is wrong with the steps.
    pub problems: Vec<String>,
}

impl Steps {
    /// Puts Applications into the steps whose expressions their labels fit.
    pub fn of(set: &ApplicationSet, applications: &[Application]) -> Self {
        let all = steps(set);
        let mut made = Steps { applications: vec![Vec::new(); all.len()], ..Steps::default() };
        for (at, step) in all.iter().enumerate() {
            made.problems.extend(problems(at, step));
        }
        for app in applications {
            made.put(app, all);
        }
        made
    }

    /// An Application that two steps select belongs to the first of them.
    fn put(&mut self, app: &Application, all: &[ApplicationSetRolloutStep]) {
        let name = &app.metadata.name;
        for (at, _) in all.iter().enumerate().filter(|(_, step)| selects(step, app)) {
            match self.of.get(name) {
                None => {
                    self.of.insert(name.clone(), at);
                    self.applications[at].push(name.clone());
                }
                Some(first) => {
                    let (first, second) = (first + 1, at + 1);
                    self.problems.push(format!("steps {first} and {second} both select {name}"));
                }
            }
        }
    }

    /// The step of an Application, counted from 0; none if no step selects it.
    pub fn step_of(&self, application: &str) -> Option<usize> {
        self.of.get(application).copied()
    }
}

fn steps(set: &ApplicationSet) -> &[ApplicationSetRolloutStep] {
    let strategy = set.spec.strategy.as_ref().filter(|strategy| strategy.type_ == "RollingSync");
    strategy.and_then(|strategy| strategy.rolling_sync.as_ref()).map_or(&[], |rolling| &rolling.steps)
}

/// How many Applications of a step may change at a time, of so many; none where all may.
pub(super) fn max_update(set: &ApplicationSet, step: usize, of: usize) -> Option<usize> {
    match steps(set).get(step)?.max_update.as_ref()? {
        IntOrString::Int(count) => Some(usize::try_from(*count).unwrap_or(0)),
        IntOrString::Str(text) if text == "0%" => Some(0),
        // A part of the whole is one at least, and so is what cannot be read.
        IntOrString::Str(text) => Some(percent(text).map_or(1, |percent| (of * percent / 100).max(1))),
    }
}

fn percent(text: &str) -> Option<usize> {
    text.strip_suffix('%')?.parse().ok()
}

/// Whether an ApplicationSet has steps.
pub fn is_rolling(set: &ApplicationSet) -> bool {
    !steps(set).is_empty()
}

/// Whether its Applications go in the reverse order of its steps.
pub fn is_reversed(set: &ApplicationSet) -> bool {
    let order = set.spec.strategy.as_ref().map(|strategy| strategy.deletion_order.as_str());
    is_rolling(set) && order.is_some_and(|order| order.eq_ignore_ascii_case("Reverse"))
}

fn selects(step: &ApplicationSetRolloutStep, app: &Application) -> bool {
    step.match_expressions.iter().all(|expression| fits(expression, app))
}

fn fits(expression: &ApplicationMatchExpression, app: &Application) -> bool {
    let value = app.metadata.labels.get(&expression.key);
    match (expression.operator.as_str(), value) {
        ("In", value) => value.is_some_and(|value| expression.values.contains(value)),
        ("NotIn", value) => !value.is_some_and(|value| expression.values.contains(value)),
        // An operator that is not known selects no Application that has the label, as in Argo CD.
        (_, value) => value.is_none(),
    }
}

fn problems(at: usize, step: &ApplicationSetRolloutStep) -> Vec<String> {
    let number = at + 1;
    let operators =
        step.match_expressions.iter().filter(|one| !matches!(one.operator.as_str(), "In" | "NotIn"));
    let mut found: Vec<String> = operators
        .map(|one| format!("step {number} has the operator {:?}; use In or NotIn", one.operator))
        .collect();
    // None at a time is no mistake: such a step is a gate that somebody opens by syncing its Applications.
    match &step.max_update {
        Some(IntOrString::Int(count)) if *count < 0 => {
            found.push(format!("maxUpdate of step {number} is {count}, so it never ends"));
        }
        Some(IntOrString::Str(text)) if percent(text).is_none() => {
            found.push(format!(
                "maxUpdate of step {number} is {text:?}, which is neither a count nor a percentage"
            ));
        }
        _ => {}
    }
    found
}
