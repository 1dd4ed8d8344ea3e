//! Runs expressions, counting what they cost.

use lynceus_object::Str;

use super::ast::{Expr, Fold, FoldKind, Kind};
use super::authz::{self, Authorizer};
use super::check::type_name;
use super::error::EvalError;
use super::limits::DEPTH;
use super::standard::{index, index_optional};
use super::value::Val;
use super::{lists, standard};

type Outcome = Result<Val, EvalError>;

/// Runs an expression with a budget; says what it cost.
pub(super) fn run(
    expr: &Expr,
    variables: &[(&str, Val)],
    budget: u64,
    authorizer: Option<&dyn Authorizer>,
) -> (Outcome, u64) {
    let mut eval = Eval { variables, scope: Vec::new(), cost: 0, budget, depth: 0, authorizer };
    let value = eval.expr(expr);
    (value, eval.cost)
}

/// Whether the expression mentions a variable.
pub(super) fn mentions(expr: &Expr, name: &str) -> bool {
    let any = |expr: &Expr| mentions(expr, name);
    match &expr.kind {
        Kind::Literal(_) => false,
        Kind::Ident(found) => found == name,
        Kind::Select { operand, .. } | Kind::Has { operand, .. } => any(operand),
        Kind::Call { target, args, .. } => target.as_deref().is_some_and(any) || args.iter().any(any),
        Kind::List(items) => items.iter().any(|item| any(&item.expr)),
        Kind::Map(entries) => entries.iter().any(|(key, value)| any(&key.expr) || any(value)),
        Kind::Message { fields, .. } => fields.iter().any(|(_, value)| any(value)),
        Kind::OptMap { target, var, body, .. } => any(target) || (var != name && any(body)),
        Kind::Fold(fold) => {
            let shadowed = fold.var == name || fold.second.as_deref() == Some(name);
            any(&fold.range) || (!shadowed && (any(&fold.body) || fold.filter.as_ref().is_some_and(any)))
        }
    }
}

struct Eval<'a> {
    variables: &'a [(&'a str, Val)],
    scope: Vec<(Str, Val)>,
    cost: u64,
    budget: u64,
    depth: usize,
    authorizer: Option<&'a dyn Authorizer>,
}

impl Eval<'_> {
    fn spend(&mut self, cost: u64) -> Result<(), EvalError> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.budget { Err(EvalError::Cost) } else { Ok(()) }
    }

    fn expr(&mut self, expr: &Expr) -> Outcome {
        if self.depth > DEPTH {
            return Err(EvalError::Cost);
        }
        self.depth += 1;
        let value = self.kind(expr);
        self.depth -= 1;
        value
    }

    fn kind(&mut self, expr: &Expr) -> Outcome {
        match &expr.kind {
            Kind::Literal(value) => Ok(value.clone()),
            Kind::Ident(name) => {
                self.spend(1)?;
                self.variable(name)
            }
            Kind::Select { operand, field, optional } => {
                self.spend(1)?;
                let operand = self.expr(operand)?;
                select(&operand, field, *optional)
            }
            Kind::Has { operand, field } => {
                let operand = self.expr(operand)?;
                has(&operand, field)
            }
            Kind::List(items) => {
                self.spend(10)?;
                let mut out = Vec::with_capacity(items.len());
                for item in items {
                    match (self.expr(&item.expr)?, item.optional) {
                        (Val::Optional(None), true) => {}
                        (Val::Optional(Some(value)), true) => out.push((*value).clone()),
                        (value, _) => out.push(value),
                    }
                }
                Ok(Val::list(out))
            }
            Kind::Map(entries) | Kind::Message { fields: entries, .. } => {
                self.spend(30)?;
                let mut out: Vec<(Val, Val)> = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let optional = key.optional;
                    let key = self.expr(&key.expr)?;
                    let value = match (self.expr(value)?, optional) {
                        (Val::Optional(None), true) => continue,
                        (Val::Optional(Some(value)), true) => (*value).clone(),
                        (value, _) => value,
                    };
                    if out.iter().any(|(known, _)| known.equals(&key)) {
                        let shown = standard::to_text(&key).unwrap_or_default();
                        return Err(EvalError::failed(format!("insert failed: key {shown} already exists")));
                    }
                    out.push((key, value));
                }
                Ok(Val::Map(out.into()))
            }
            Kind::OptMap { target, var, body, flat } => {
                self.spend(1)?;
                let Val::Optional(value) = self.expr(target)? else { return Err(EvalError::Overload) };
                let Some(value) = value else { return Ok(Val::Optional(None)) };
                self.scope.push((var.clone(), (*value).clone()));
                let body = self.expr(body);
                self.scope.pop();
                let body = body?;
                Ok(if *flat { body } else { Val::Optional(Some(body.into())) })
            }
            Kind::Fold(fold) => self.fold(fold),
            Kind::Call { .. } => self.call(expr),
        }
    }

    fn variable(&self, name: &Str) -> Outcome {
        if let Some((_, value)) = self.scope.iter().rev().find(|(known, _)| known == name) {
            return Ok(value.clone());
        }
        if let Some((_, value)) = self.variables.iter().find(|(known, _)| *known == name.as_str()) {
            return Ok(value.clone());
        }
        match type_name(name) {
            Some(name) => Ok(Val::Type(name.into())),
            None => Err(EvalError::failed(format!("no such attribute(s): {name}"))),
        }
    }

    fn call(&mut self, expr: &Expr) -> Outcome {
        let Kind::Call { function, target, args, pattern } = &expr.kind else {
            return Err(EvalError::Overload);
        };
        match (function.as_str(), args.as_slice()) {
            ("_&&_", [left, right]) => return self.logic(left, right, false),
            ("_||_", [left, right]) => return self.logic(left, right, true),
            ("_?_:_", [condition, yes, no]) => {
                return match self.expr(condition)? {
                    Val::Bool(true) => self.expr(yes),
                    Val::Bool(false) => self.expr(no),
                    _ => Err(EvalError::Overload),
                };
            }
            ("or" | "orValue", [other]) if target.is_some() => {
                if let Some(target) = target {
                    return match (self.expr(target)?, function.as_str()) {
                        (Val::Optional(None), _) => self.expr(other),
                        (Val::Optional(Some(value)), "orValue") => Ok((*value).clone()),
                        // What is there is there, optional or not.
                        (found, _) => Ok(found),
                    };
                }
            }
            _ => {}
        }
        let mut values = Vec::with_capacity(args.len() + 1);
        if let Some(target) = target {
            values.push(self.expr(target)?);
        }
        for arg in args {
            values.push(self.expr(arg)?);
        }
        self.spend(standard::cost(function, &values))?;
        match (function.as_str(), values.as_slice()) {
            ("_[_]", [of, at]) => index(of, at),
            ("_[?_]", [of, at]) => index_optional(of, at),
            ("check", args) => authz::check(self.authorizer, args).ok_or(EvalError::Overload),
            _ => standard::call(function, target.is_some(), &values, pattern.as_ref()),
        }
        .map_err(|error| match error {
            EvalError::Overload => EvalError::OverloadOf(overload(function, &values)),
            other => other,
        })
    }

    /// `&&` and `||`: one side that decides is enough, even if the other has no value.
    fn logic(&mut self, left: &Expr, right: &Expr, deciding: bool) -> Outcome {
        self.spend(1)?;
        let is =
            |outcome: &Outcome, wanted: bool| matches!(outcome, Ok(Val::Bool(found)) if *found == wanted);
        let first = self.expr(left);
        if is(&first, deciding) || matches!(first, Err(EvalError::Cost)) {
            return first;
        }
        let second = self.expr(right);
        if is(&second, deciding) {
            return second;
        }
        match (first, second) {
            (Ok(Val::Bool(_)), Ok(second @ Val::Bool(_))) => Ok(second),
            (Err(error), _) | (_, Err(error)) => Err(error),
            _ => Err(EvalError::Overload),
        }
    }

    fn fold(&mut self, fold: &Fold) -> Outcome {
        let range = self.expr(&fold.range)?;
        let pairs: Vec<(Val, Option<Val>)> = match (&range, fold.second.is_some()) {
            (Val::List(items, _), false) => items.iter().map(|item| (item.clone(), None)).collect(),
            (Val::List(items, _), true) => {
                items.iter().enumerate().map(|(at, item)| (Val::Int(at as i64), Some(item.clone()))).collect()
            }
            (Val::Map(_) | Val::Fields(..), two) => {
                let entries = range.entries().unwrap_or_default();
                entries.into_iter().map(|(key, value)| (key, two.then_some(value))).collect()
            }
            (other, _) => {
                let name = other.go_name();
                return Err(EvalError::failed(format!("got '{name}', expected iterable type")));
            }
        };
        let depth = self.scope.len();
        let outcome = self.fold_pairs(fold, &range, pairs);
        self.scope.truncate(depth);
        outcome
    }

    fn fold_pairs(&mut self, fold: &Fold, range: &Val, pairs: Vec<(Val, Option<Val>)>) -> Outcome {
        let mut collected: Vec<Val> = Vec::new();
        let mut made: Vec<(Val, Val)> = Vec::new();
        let mut kept = 0usize;
        let mut failed: Option<EvalError> = None;
        let depth = self.scope.len();
        for (first, second) in pairs {
            self.spend(2)?;
            self.scope.truncate(depth);
            self.scope.push((fold.var.clone(), first.clone()));
            if let (Some(name), Some(value)) = (&fold.second, second) {
                self.scope.push((name.clone(), value));
            }
            if let Some(filter) = &fold.filter {
                match self.expr(filter)? {
                    Val::Bool(true) => {}
                    Val::Bool(false) => continue,
                    _ => return Err(EvalError::Overload),
                }
            }
            let body = self.expr(&fold.body);
            match (fold.kind, body) {
                (_, Err(EvalError::Cost)) => return Err(EvalError::Cost),
                (FoldKind::All, Ok(Val::Bool(false))) => return Ok(Val::Bool(false)),
                (FoldKind::Exists, Ok(Val::Bool(true))) => return Ok(Val::Bool(true)),
                // An item without an answer counts only if no other item decides.
                (FoldKind::All | FoldKind::Exists, Err(error)) => failed = failed.or(Some(error)),
                (FoldKind::All | FoldKind::Exists, Ok(Val::Bool(_))) => {}
                (FoldKind::ExistsOne, Ok(Val::Bool(true))) => kept += 1,
                (FoldKind::Filter, Ok(Val::Bool(true))) => collected.push(first),
                (FoldKind::ExistsOne | FoldKind::Filter, Ok(Val::Bool(false))) => {}
                (FoldKind::Map, Ok(value)) => collected.push(value),
                (FoldKind::TransformMap, Ok(value)) => made.push((first, value)),
                (FoldKind::TransformMapEntry, Ok(value)) => {
                    for (key, value) in value.entries().ok_or(EvalError::Overload)? {
                        if made.iter().any(|(known, _)| known.equals(&key)) {
                            let shown = standard::to_text(&key).unwrap_or_default();
                            return Err(EvalError::failed(format!(
                                "insert failed: key {shown} already exists"
                            )));
                        }
                        made.push((key, value));
                    }
                }
                (FoldKind::SortBy, Ok(key)) => made.push((key, first)),
                (_, Ok(_)) => return Err(EvalError::Overload),
                (_, Err(error)) => return Err(error),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        match fold.kind {
            FoldKind::All => Ok(Val::Bool(true)),
            FoldKind::Exists => Ok(Val::Bool(false)),
            FoldKind::ExistsOne => Ok(Val::Bool(kept == 1)),
            FoldKind::Filter | FoldKind::Map => {
                let kind = match (fold.kind, range) {
                    (FoldKind::Filter, Val::List(_, kind)) => kind.clone(),
                    _ => Default::default(),
                };
                Ok(Val::List(collected.into(), kind))
            }
            FoldKind::TransformMap | FoldKind::TransformMapEntry => Ok(Val::Map(made.into())),
            FoldKind::SortBy => lists::sort_by(made),
        }
    }
}

fn select(operand: &Val, field: &Str, optional: bool) -> Outcome {
    match operand {
        Val::Optional(None) => Ok(Val::Optional(None)),
        Val::Optional(Some(value)) => select(value, field, true),
        Val::Object(..) | Val::Fields(..) | Val::Map(_) => match (operand.field(field), optional) {
            (Some(value), false) => Ok(value),
            (found, true) => Ok(Val::Optional(found.map(Into::into))),
            (None, false) => Err(EvalError::NoKey(field.to_string())),
        },
        Val::List(..) => Err(EvalError::failed("unsupported index type 'string' in list")),
        _ if optional => Ok(Val::Optional(None)),
        _ => Err(EvalError::NoKey(field.to_string())),
    }
}

/// A call that no overload takes, as the original names it: operators by their name, functions with the
/// types that they were given.
fn overload(function: &str, values: &[Val]) -> String {
    if function.starts_with(['_', '!', '-', '@']) {
        return function.to_owned();
    }
    let types: Vec<&str> = values.iter().map(Val::type_name).collect();
    format!("{function}({})", types.join(", "))
}

fn has(operand: &Val, field: &Str) -> Outcome {
    match operand {
        Val::Optional(None) => Ok(Val::Bool(false)),
        Val::Optional(Some(value)) => has(value, field),
        Val::Object(..) | Val::Fields(..) | Val::Map(_) => Ok(Val::Bool(operand.field(field).is_some())),
        Val::List(..) => Err(EvalError::failed("unsupported index type 'string' in list")),
        _ => Err(EvalError::NoKey(field.to_string())),
    }
}
