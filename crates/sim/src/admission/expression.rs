//! CEL expressions of admission, compiled once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_object::{Map, Object, Value, value};

use super::limits::EXPRESSIONS;
use super::{Write, review};
use crate::cel::{Env, Program, Ty, Val};

/// What every expression may use.
const VARIABLES: [&str; 6] = ["object", "oldObject", "request", "params", "namespaceObject", "variables"];
/// The types that mutations may make values of.
const TYPES: [&str; 2] = ["Object", "JSONPatch"];

/// Programs by their text.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    known: Mutex<HashMap<String, Result<Arc<Program>, String>>>,
    /// Whether these are mutations, which may make objects and patches.
    mutating: bool,
}

impl Expressions {
    /// Expressions of mutations.
    pub(super) fn of_mutations() -> Self {
        Expressions { mutating: true, ..Expressions::default() }
    }

    /// A compiled expression, or why it does not compile.
    pub(super) fn get(&self, text: &str) -> Result<Arc<Program>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(text) {
            return found.clone();
        }
        let types = TYPES.into_iter().filter(|_| self.mutating);
        let env = Env::new(VARIABLES.into_iter().chain(types).map(|name| (name, Ty::Dyn)));
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

/// A problem in other words where it comes from a variable that has no value.
pub(super) fn explained(failed: &[(&str, String)], problem: String) -> String {
    let missing = problem.strip_prefix("no such key: ");
    match failed.iter().find(|(name, _)| Some(*name) == missing) {
        Some((name, why)) => format!("composited variable {name:?} fails to evaluate: {why}"),
        None => problem,
    }
}

/// The variables that expressions of admission see.
pub(super) struct Scope {
    values: Vec<(&'static str, Val)>,
    variables: Map,
}

impl Scope {
    pub(super) fn new(write: &Write<'_>, params: Option<&Object>, namespace: Option<&Object>) -> Self {
        let lift =
            |object: Option<&Object>| object.map_or(Val::Null, |object| Val::lift(object.value(), &Ty::Dyn));
        let request = review::request("", write, write.admission, None);
        let mut request = request.get("request").cloned().unwrap_or_default();
        for field in ["object", "oldObject", "uid"] {
            request.remove(&[field]);
        }
        Scope {
            values: vec![
                ("object", lift(write.object)),
                ("oldObject", lift(write.old)),
                ("request", Val::lift(&request, &Ty::Dyn)),
                ("params", lift(params)),
                ("namespaceObject", lift(namespace)),
                ("variables", Val::lift(&value!({}), &Ty::Dyn)),
            ],
            variables: Map::new(),
        }
    }

    /// Runs an expression within a budget, which it uses up.
    pub(super) fn run(&self, program: &Program, budget: &mut u64) -> Result<Val, String> {
        let (outcome, cost) = program.run(&self.values, *budget);
        *budget = budget.saturating_sub(cost);
        outcome.map_err(|error| error.to_string())
    }

    /// Gives the later expressions a variable.
    pub(super) fn define(&mut self, name: &str, value: &Val) {
        self.variables.insert(name, value.to_value().unwrap_or(Value::Null));
        if let Some(slot) = self.values.iter_mut().find(|(known, _)| *known == "variables") {
            slot.1 = Val::lift(&Value::Map(self.variables.clone()), &Ty::Dyn);
        }
    }
}
