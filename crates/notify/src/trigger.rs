//! Which conditions of a trigger hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use lynceus_gotmpl as gotmpl;
use lynceus_gotmpl::{Functions, Value};
use lynceus_object::Str;
use sha1::{Digest as _, Sha1};

use crate::config::{Condition, Config, Fault};
use crate::expr::{ExprError, Expression, evaluate, parse};
use crate::limits;
use crate::names::{Need, Outside, Subject, names};

/// All triggers of a configuration, ready to be asked.
#[derive(Default)]
pub struct Triggers {
    conditions: BTreeMap<Str, Vec<Ready>>,
}

struct Ready {
    condition: Condition,
    key: String,
    when: Option<Expression>,
    once_per: Option<Expression>,
}

/// What a condition came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConditionResult {
    /// Which condition it is: its place and a digest of its expression.
    pub key: String,
    /// The value that it is told once for; empty if it is told whenever it becomes true.
    pub once_per: String,
    /// The templates of the message.
    pub templates: Vec<Str>,
    /// Whether it holds.
    pub triggered: bool,
}

/// What a trigger came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// One for each condition.
    pub results: Vec<ConditionResult>,
    /// What went wrong; such a condition does not hold.
    pub faults: Vec<Fault>,
    /// What has to be found out; while there is anything, the results do not count.
    pub needs: Vec<Need>,
}

impl Triggers {
    /// Reads the expressions. One that is wrong is a fault, and never holds.
    pub fn new(config: &Config) -> (Self, Vec<Fault>) {
        let mut faults = Vec::new();
        let mut conditions = BTreeMap::new();
        for (name, trigger) in &config.triggers {
            let ready = trigger.iter().enumerate().map(|(at, condition)| {
                let mut read =
                    |text: &str| parse(text).map_err(|error| faults.push(fault(name, text, &error))).ok();
                let when = if condition.when.is_empty() { "false" } else { &condition.when };
                let once_per = (!condition.once_per.is_empty()).then_some(&condition.once_per);
                Ready {
                    key: format!("[{at}].{}", digest(&condition.when)),
                    when: read(when),
                    once_per: once_per.and_then(|text| read(text)),
                    condition: condition.clone(),
                }
            });
            let ready: Vec<Ready> = ready.collect();
            conditions.insert(name.clone(), ready);
        }
        (Self { conditions }, faults)
    }

    /// Whether there is a trigger of that name.
    pub fn has(&self, name: &str) -> bool {
        self.conditions.contains_key(name)
    }

    /// Whether an expression of a trigger has a name in it.
    pub fn asks_for(&self, trigger: &str, name: &str) -> bool {
        let conditions = self.conditions.get(trigger).into_iter().flatten();
        conditions
            .map(|ready| &ready.condition)
            .any(|condition| condition.when.contains(name) || condition.once_per.contains(name))
    }

    /// Whether any trigger has it.
    pub fn any_asks_for(&self, name: &str) -> bool {
        self.conditions.keys().any(|trigger| self.asks_for(trigger, name))
    }

    /// Asks all conditions of a trigger. None if there is no such trigger.
    pub fn run(
        &self,
        name: &str,
        subject: Subject<'_>,
        now: Timestamp,
        random: &mut dyn FnMut(&mut [u8]),
    ) -> Option<Ran> {
        let conditions = self.conditions.get(name)?;
        let mut outside = Outside::new(subject, now, random);
        let mut ran = Ran::default();
        {
            let templates = Arc::new(gotmpl::Templates::new("trigger", Arc::new(Functions::new())));
            let options = gotmpl::Options { limits: limits::EXPRESSION, ..gotmpl::Options::default() };
            let mut context = gotmpl::Context::new(templates, &mut outside, options);
            let names = names(subject, "");
            for ready in conditions {
                let result = ready.ask(name, &names, &mut context, &mut ran.faults);
                ran.results.push(result);
            }
        }
        ran.needs = outside.needs();
        Some(ran)
    }
}

impl Ready {
    fn ask(
        &self,
        trigger: &str,
        names: &Value,
        context: &mut gotmpl::Context<'_>,
        faults: &mut Vec<Fault>,
    ) -> ConditionResult {
        let Condition { when, once_per, send, .. } = &self.condition;
        let mut result =
            ConditionResult { key: self.key.clone(), templates: send.clone(), ..ConditionResult::default() };
        match self.when.as_ref().map(|expression| evaluate(expression, names, context)) {
            Some(Ok(Value::Bool(true))) => result.triggered = true,
            Some(Err(error)) => faults.push(fault(trigger, when, &error)),
            _ => {}
        }
        if !result.triggered {
            return result;
        }
        let Some(expression) = &self.once_per else { return result };
        let text = evaluate(expression, names, context).and_then(|value| {
            let text = context.text(&value);
            text.map_err(|failure| ExprError { column: 1, message: failure.to_string() })
        });
        match text {
            Ok(text) => result.once_per = text.to_string(),
            Err(error) => faults.push(of_once_per(trigger, once_per, &error)),
        }
        result
    }
}

/// That nothing is known that the message could be sent once for. As in Argo CD it is sent whenever the condition becomes true.
fn of_once_per(trigger: &str, expression: &str, error: &ExprError) -> Fault {
    let mut fault = fault(trigger, expression, error);
    fault.message.push_str("; without oncePer it is told each time that the condition becomes true");
    fault
}

/// How much of an expression is repeated in an error.
const SHOWN: usize = 200;

fn fault(trigger: &str, expression: &str, error: &ExprError) -> Fault {
    let mut shown: String = expression.chars().take(SHOWN).collect();
    if shown.len() < expression.len() {
        shown.push('…');
    }
    Fault { place: format!("trigger.{trigger}"), message: format!("{shown}: {error}") }
}

fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha1::digest(text.as_bytes()))
}
