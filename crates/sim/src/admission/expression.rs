//! CEL expressions of admission, compiled once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_object::{Object, Value, value};

use super::limits::{CONDITION_BUDGET, EXPRESSIONS};
use super::{Write, review};
use crate::attributes::{Admission, Attributes, User};
use crate::auth;
use crate::cel::{Answer, Authorizer, Env, Program, Question, Ty, Val};
use crate::view::View;

/// What every expression may use.
const VARIABLES: [&str; 6] = ["object", "oldObject", "request", "params", "namespaceObject", "variables"];
/// The types that mutations may make values of.
const TYPES: [&str; 2] = ["Object", "JSONPatch"];

/// What an expression is there for, which decides what it may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Use {
    /// To decide something: it may ask who may do what.
    #[default]
    Deciding,
    /// To change something: it may also make objects and patches.
    Mutating,
    /// To find words for a refusal.
    Telling,
}

/// Programs by their text.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    known: Mutex<HashMap<String, Result<Arc<Program>, String>>>,
    of: Use,
}

impl Expressions {
    /// Expressions that are there for something.
    pub(super) fn of(of: Use) -> Self {
        Expressions { of, ..Expressions::default() }
    }

    /// A compiled expression, or why it does not compile.
    pub(super) fn get(&self, text: &str) -> Result<Arc<Program>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(text) {
            return found.clone();
        }
        let types = TYPES.into_iter().filter(|_| self.of == Use::Mutating);
        let env = Env::new(VARIABLES.into_iter().chain(types).map(|name| (name, Ty::Dyn)));
        let env = if self.of == Use::Telling { env } else { env.with_authorizer() };
        let compiled = Program::compile(text, &env).map(Arc::new).map_err(|error| error.to_string());
        // Configurations change rarely; starting over is cheaper than keeping track of use.
        if known.len() >= EXPRESSIONS {
            known.clear();
        }
        known.insert(text.to_owned(), compiled.clone());
        compiled
    }
}

/// What is said of a match condition or a validation that has no value.
pub(super) fn failure(of: &Value, problem: &str) -> String {
    let text = of.str_at(&["expression"]).unwrap_or_default();
    format!("expression '{text}' resulted in error: {problem}")
}

/// Whether match conditions hold: one that is false decides, whatever is wrong with others. What is wrong is told together.
pub(super) fn hold(
    conditions: &[Value],
    expressions: &Expressions,
    scope: &Scope<'_>,
) -> Result<bool, String> {
    let mut budget = CONDITION_BUDGET;
    let mut problems: Vec<String> = Vec::new();
    for condition in conditions {
        let program = expressions.get(condition.str_at(&["expression"]).unwrap_or_default());
        match program.and_then(|program| scope.run(&program, &mut budget)) {
            Ok(Val::Bool(true)) => {}
            Ok(_) => return Ok(false),
            Err(problem) => {
                let problem = failure(condition, &problem);
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
    }
    match problems.len() {
        0 => Ok(true),
        1 => Err(problems.remove(0)),
        _ => Err(format!("[{}]", problems.join(", "))),
    }
}

/// A problem in other words where it comes from a variable that has no value.
pub(super) fn explained(failed: &[(&str, String)], problem: String) -> String {
    let missing = problem.strip_prefix("no such key: ");
    match failed.iter().find(|(name, _)| Some(*name) == missing) {
        Some((name, why)) => format!("composited variable {name:?} fails to evaluate: {why}"),
        None => problem,
    }
}

/// The variables that expressions of admission see, and whom they may ask.
pub(super) struct Scope<'a> {
    values: Vec<(&'static str, Val)>,
    variables: Vec<(Val, Val)>,
    rights: Rights<'a>,
}

/// Who may do what, as whoever makes the request would be told.
struct Rights<'a> {
    view: &'a dyn View,
    admission: &'a Admission,
}

impl Authorizer for Rights<'_> {
    fn decide(&self, question: &Question) -> Answer {
        let account =
            question.account.as_ref().map(|(namespace, name)| User::service_account(namespace, name));
        let user = account.as_ref().unwrap_or(&self.admission.user);
        let version = if question.path.is_empty() { "*" } else { "" };
        let attributes = Attributes {
            verb: question.verb.clone(),
            group: question.group.clone(),
            version: version.into(),
            resource: question.resource.clone(),
            subresource: question.subresource.clone(),
            namespace: question.namespace.clone(),
            name: question.name.clone(),
            path: question.path.clone(),
        };
        let (allowed, reason) = auth::explain(self.view, user, &attributes);
        Answer { allowed, reason: reason.into(), error: Default::default() }
    }
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        view: &'a dyn View,
        write: &Write<'a>,
        params: Option<&Object>,
        namespace: Option<&Object>,
    ) -> Self {
        let lift =
            |object: Option<&Object>| object.map_or(Val::Null, |object| Val::lift(object.value(), &Ty::Dyn));
        let request = review::request("", write, write.admission, None);
        let mut request = request.get("request").cloned().unwrap_or_default();
        for field in ["object", "oldObject", "uid"] {
            request.remove(&[field]);
        }
        let admission = write.admission;
        let own = Question {
            group: admission.resource.group.clone(),
            resource: admission.resource.resource.clone(),
            subresource: admission.subresource.clone(),
            namespace: admission.namespace.clone(),
            name: admission.name.clone(),
            ..Question::default()
        };
        Scope {
            rights: Rights { view, admission },
            values: vec![
                ("authorizer", Val::authorizer()),
                ("authorizer.requestResource", Val::request_resource(own)),
                ("object", lift(write.object)),
                ("oldObject", lift(write.old)),
                ("request", Val::lift(&request, &Ty::Dyn)),
                ("params", lift(params)),
                ("namespaceObject", lift(namespace)),
                ("variables", Val::lift(&value!({}), &Ty::Dyn)),
            ],
            variables: Vec::new(),
        }
    }

    /// What the names stand for.
    pub(super) fn values(&self) -> Vec<(&'static str, Val)> {
        self.values.clone()
    }

    /// Runs an expression within a budget, which it uses up.
    pub(super) fn run(&self, program: &Program, budget: &mut u64) -> Result<Val, String> {
        let (outcome, cost) = program.run_asking(&self.values, *budget, &self.rights);
        *budget = budget.saturating_sub(cost);
        outcome.map_err(|error| error.to_string())
    }

    /// Gives the later expressions a variable.
    pub(super) fn define(&mut self, name: &str, value: Val) {
        self.variables.push((Val::text(name), value));
        if let Some(slot) = self.values.iter_mut().find(|(known, _)| *known == "variables") {
            slot.1 = Val::Map(self.variables.clone().into());
        }
    }
}
