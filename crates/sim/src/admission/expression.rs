//! CEL expressions of admission, compiled once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_object::{Map, Object, Value, value};

use super::limits::EXPRESSIONS;
use super::{Write, review};
use crate::cel::{Env, Program, Ty, Val};

/// Programs by their text.
#[derive(Debug, Default)]
pub(super) struct Expressions(Mutex<HashMap<String, Result<Arc<Program>, String>>>);

impl Expressions {
    /// A compiled expression, or why it does not compile.
    pub(super) fn get(&self, text: &str) -> Result<Arc<Program>, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(text) {
            return found.clone();
        }
        let env = Env::new(
            ["object", "oldObject", "request", "params", "namespaceObject", "variables"]
                .map(|name| (name, Ty::Dyn)),
        );
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
