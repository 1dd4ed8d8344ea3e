//! Finds the type of an expression, and everything that cannot work before it is run.

use lynceus_object::Str;

use super::Env;
use super::ast::{Expr, Fold, FoldKind, Kind};
use super::error::Issue;
use super::limits::DEPTH;
use super::signature::{Mismatch, resolve};
use super::types::Ty;
use super::value::Val;

/// The type of the whole expression, or what is wrong with it.
pub(super) fn check(expr: &mut Expr, env: &Env) -> Result<Ty, Vec<Issue>> {
    let mut checker = Checker { env, scope: Vec::new(), issues: Vec::new(), depth: 0, mixed: false };
    let ty = checker.expr(expr);
    if checker.issues.is_empty() { Ok(ty) } else { Err(checker.issues) }
}

/// A variable whose name has a dot.
pub(super) const REQUEST_RESOURCE: &str = "authorizer.requestResource";

/// Names with a dot that are functions, not fields of a variable.
pub(super) const NAMESPACES: [&str; 7] =
    ["sets", "optional", "lists", "strings", "ip", "format", "jsonpatch"];

struct Checker<'a> {
    env: &'a Env,
    scope: Vec<(Str, Ty)>,
    issues: Vec<Issue>,
    depth: usize,
    /// Whether items of a literal may differ in type.
    mixed: bool,
}

impl Checker<'_> {
    fn fail(&mut self, at: usize, message: impl Into<String>) -> Ty {
        self.issues.push(Issue::new(at, message));
        Ty::Dyn
    }

    fn variable(&self, name: &str) -> Option<Ty> {
        let local = self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, ty)| ty.clone());
        local.or_else(|| self.env.variable(name).cloned())
    }

    fn expr(&mut self, expr: &mut Expr) -> Ty {
        if self.depth > DEPTH {
            return self.fail(expr.at, format!("expression recursion limit exceeded: {DEPTH}"));
        }
        self.depth += 1;
        let ty = self.kind(expr);
        self.depth -= 1;
        ty
    }

    fn kind(&mut self, expr: &mut Expr) -> Ty {
        let at = expr.at;
        // `google.protobuf.Duration` is one name, though it parses as fields of a variable.
        if let Some(name) = qualified(expr)
            && let Some(known) = DOTTED.iter().find(|known| **known == name)
        {
            expr.kind = Kind::Literal(Val::Type((*known).into()));
            return Ty::Type;
        }
        if qualified(expr).as_deref() == Some(REQUEST_RESOURCE) && self.variable(REQUEST_RESOURCE).is_some() {
            expr.kind = Kind::Ident(REQUEST_RESOURCE.into());
        }
        match &mut expr.kind {
            Kind::Literal(value) => literal(value),
            Kind::Ident(name) => match self.variable(name) {
                Some(ty) => ty,
                None if type_name(name).is_some() => Ty::Type,
                None => self.fail(at, format!("undeclared reference to '{name}' (in container '')")),
            },
            Kind::Select { operand, field, optional } => {
                let operand = self.expr(operand);
                self.select(at, &operand, field, *optional)
            }
            Kind::Has { operand, field } => {
                let operand = self.expr(operand);
                self.select(at, &operand, field, false);
                Ty::Bool
            }
            Kind::List(items) => {
                let mut item: Option<Ty> = None;
                for entry in items {
                    let here = entry.expr.at;
                    let ty = self.expr(&mut entry.expr);
                    let ty = if entry.optional { self.inside(here, &ty) } else { ty };
                    item = Some(match item {
                        None => ty,
                        Some(before) => self.same(here, before, ty),
                    });
                }
                Ty::list(item.unwrap_or(Ty::Dyn))
            }
            Kind::Map(entries) => {
                let (mut keys, mut values): (Option<Ty>, Option<Ty>) = (None, None);
                for (key, value) in entries {
                    let here = value.at;
                    let key_ty = self.expr(&mut key.expr);
                    let value_ty = self.expr(value);
                    let value_ty = if key.optional { self.inside(here, &value_ty) } else { value_ty };
                    let key_at = key.expr.at;
                    keys = Some(match keys {
                        None => key_ty,
                        Some(before) => self.same(key_at, before, key_ty),
                    });
                    values = Some(match values {
                        None => value_ty,
                        Some(before) => self.same(here, before, value_ty),
                    });
                }
                Ty::map(keys.unwrap_or(Ty::Dyn), values.unwrap_or(Ty::Dyn))
            }
            Kind::Message { name, fields } => {
                // A type is known by a variable of its first name: only mutations have any.
                let first = name.split('.').next().unwrap_or_default();
                if self.variable(first).is_none() {
                    let message = format!("undeclared reference to '{name}' (in container '')");
                    return self.fail(at, message);
                }
                fields.iter_mut().for_each(|(_, value)| drop(self.expr(value)));
                Ty::Dyn
            }
            Kind::Fold(fold) => self.fold(at, fold),
            Kind::OptMap { target, var, body, flat } => {
                let of = unwrap(&self.expr(target));
                self.scope.push((var.clone(), of));
                let body = self.expr(body);
                self.scope.pop();
                if *flat { body } else { Ty::optional(body) }
            }
            Kind::Call { .. } => self.call(expr),
        }
    }

    /// Items of one literal have one type.
    fn same(&mut self, at: usize, before: Ty, ty: Ty) -> Ty {
        if ty.fits(&before) || before.fits(&ty) || self.mixed {
            return before.join(&ty);
        }
        self.fail(at, format!("expected type '{before}' but found '{ty}'"));
        before
    }

    /// What an optional item of a literal holds; anything else may not be called optional.
    fn inside(&mut self, at: usize, ty: &Ty) -> Ty {
        if !matches!(ty, Ty::Optional(_) | Ty::Dyn) {
            return self.fail(at, format!("expected type 'optional_type({ty})' but found '{ty}'"));
        }
        unwrap(ty)
    }

    fn select(&mut self, at: usize, operand: &Ty, field: &Str, optional: bool) -> Ty {
        let (operand, wrapped) = match operand {
            Ty::Optional(of) => ((**of).clone(), true),
            other => (other.clone(), optional),
        };
        let ty = match &operand {
            Ty::Dyn => Ty::Dyn,
            Ty::Map(map) => map.1.clone(),
            Ty::Object(object) => match object.fields.get(field) {
                Some((_, ty)) => ty.clone(),
                None => return self.fail(at, format!("undefined field '{field}'")),
            },
            other => return self.fail(at, format!("type '{other}' does not support field selection")),
        };
        if wrapped { Ty::optional(ty) } else { ty }
    }

    fn fold(&mut self, at: usize, fold: &mut Fold) -> Ty {
        let range = self.expr(&mut fold.range);
        let (first, second) = match (&range, fold.second.is_some()) {
            (Ty::List(list), false) => (list.item.clone(), Ty::Dyn),
            (Ty::List(list), true) => (Ty::Int, list.item.clone()),
            (Ty::Map(map), _) => (map.0.clone(), map.1.clone()),
            (Ty::Dyn, _) => (Ty::Dyn, Ty::Dyn),
            (other, _) => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                let here = fold.range.at;
                self.fail(here, message);
                (Ty::Dyn, Ty::Dyn)
            }
        };
        let depth = self.scope.len();
        self.scope.push((fold.var.clone(), first.clone()));
        if let Some(name) = &fold.second {
            self.scope.push((name.clone(), second));
        }
        if let Some(filter) = &mut fold.filter {
            let ty = self.expr(filter);
            self.need_bool(filter.at, "_?_:_", &ty);
        }
        let body = self.expr(&mut fold.body);
        self.scope.truncate(depth);
        match fold.kind {
            FoldKind::All => self.need_bool(at, "_&&_", &body),
            FoldKind::Exists => self.need_bool(at, "_||_", &body),
            FoldKind::ExistsOne | FoldKind::Filter => self.need_bool(at, "_?_:_", &body),
            _ => {}
        }
        match fold.kind {
            FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne => Ty::Bool,
            FoldKind::Filter => match range {
                list @ Ty::List(_) => list,
                _ => Ty::list(first),
            },
            FoldKind::Map => Ty::list(body),
            FoldKind::TransformMap => Ty::map(first, body),
            FoldKind::TransformMapEntry => body,
            FoldKind::SortBy => range,
        }
    }

    fn need_bool(&mut self, at: usize, function: &str, ty: &Ty) {
        if !ty.fits(&Ty::Bool) {
            let args =
                if function == "_?_:_" { format!("({ty}, dyn, dyn)") } else { format!("(bool, {ty})") };
            self.fail(at, format!("found no matching overload for '{function}' applied to '{args}'"));
        }
    }

    fn call(&mut self, expr: &mut Expr) -> Ty {
        let at = expr.at;
        let Kind::Call { function, target, args, pattern } = &mut expr.kind else { return Ty::Dyn };
        if function == "matches" && pattern.as_ref().is_some_and(|pattern| pattern.error().is_some()) {
            let here = args.first().map_or(at, |arg| arg.at);
            return self.fail(here, "invalid matches argument");
        }
        // `sets.contains(…)` parses as a method of a variable called `sets`.
        if let Some(Expr { kind: Kind::Ident(name), .. }) = target.as_deref()
            && NAMESPACES.contains(&name.as_str())
            && self.variable(name).is_none()
        {
            *function = ecow::eco_format!("{name}.{function}");
            *target = None;
        }
        let target_ty = target.as_mut().map(|target| self.expr(target));
        // The arguments of a format may be of any types; other lists hold one.
        let mixed = self.mixed;
        self.mixed |= function == "format";
        let arg_types: Vec<Ty> = args.iter_mut().map(|arg| self.expr(arg)).collect();
        self.mixed = mixed;
        if let Some(issue) = literal_issue(function, args) {
            self.issues.push(issue);
        }
        // Each side of a junction is told by itself.
        if matches!(function.as_str(), "_&&_" | "_||_") {
            for (arg, ty) in args.iter().zip(&arg_types) {
                if !ty.fits(&Ty::Bool) {
                    self.issues.push(Issue::new(arg.at, format!("expected type 'bool' but found '{ty}'")));
                }
            }
            return Ty::Bool;
        }
        let object = |ty: &Ty| matches!(ty, Ty::Object(_));
        if matches!(function.as_str(), "_[_]" | "_[?_]") && arg_types.first().is_some_and(object) {
            return self.no_overload(at, function, None, &arg_types);
        }
        match resolve(function, target_ty.as_ref(), &arg_types) {
            Ok(ty) => keep_list_type(function, &arg_types, ty),
            Err(Mismatch::Unknown) => {
                self.fail(at, format!("undeclared reference to '{function}' (in container '')"))
            }
            Err(Mismatch::Types) => self.no_overload(at, function, target_ty.as_ref(), &arg_types),
        }
    }

    fn no_overload(&mut self, at: usize, function: &str, target: Option<&Ty>, args: &[Ty]) -> Ty {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let args = args.join(", ");
        let applied = match target {
            Some(target) => format!("{target}.({args})"),
            None => format!("({args})"),
        };
        self.fail(at, format!("found no matching overload for '{function}' applied to '{applied}'"))
    }
}

/// `+` of two `set` or `map` lists is again one.
fn keep_list_type(function: &str, args: &[Ty], ty: Ty) -> Ty {
    match (function, args.first(), &ty) {
        ("_+_", Some(first @ Ty::List(_)), Ty::List(_)) => first.clone(),
        _ => ty,
    }
}

/// Literals that can never be read are found before anything runs.
fn literal_issue(function: &str, args: &[Expr]) -> Option<Issue> {
    let [Expr { at, kind: Kind::Literal(Val::String(text)) }] = args else { return None };
    let (bad, what) = match function {
        "duration" => (crate::crd::go_duration(text).is_none(), "duration"),
        "timestamp" => (super::time::timestamp(text).is_none(), "timestamp"),
        _ => (false, ""),
    };
    bad.then(|| Issue::new(*at, format!("invalid {what} argument")))
}

fn unwrap(ty: &Ty) -> Ty {
    match ty {
        Ty::Optional(of) => (**of).clone(),
        _ => Ty::Dyn,
    }
}

fn literal(value: &Val) -> Ty {
    match value {
        Val::Null => Ty::Null,
        Val::Bool(_) => Ty::Bool,
        Val::Int(_) => Ty::Int,
        Val::Uint(_) => Ty::Uint,
        Val::Double(_) => Ty::Double,
        Val::String(_) => Ty::String,
        Val::Bytes(_) => Ty::Bytes,
        _ => Ty::Dyn,
    }
}

/// Types whose names have dots.
const DOTTED: [&str; 8] = [
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "net.IP",
    "net.CIDR",
    "kubernetes.URL",
    "kubernetes.Quantity",
    "kubernetes.Semver",
    "kubernetes.NamedFormat",
];

/// The dotted name that a chain of fields spells, if it is nothing but names.
fn qualified(expr: &Expr) -> Option<String> {
    match &expr.kind {
        Kind::Select { operand, field, optional: false } => match &operand.kind {
            Kind::Ident(name) => Some(format!("{name}.{field}")),
            _ => Some(format!("{}.{field}", qualified(operand)?)),
        },
        _ => None,
    }
}

/// A type's name as an expression writes it, to the name that `type()` gives.
pub(super) fn type_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "bool" => "bool",
        "int" => "int",
        "uint" => "uint",
        "double" => "double",
        "string" => "string",
        "bytes" => "bytes",
        "list" => "list",
        "map" => "map",
        "null_type" => "null_type",
        "optional_type" => "optional_type",
        "type" => "type",
        "timestamp" => "google.protobuf.Timestamp",
        "duration" => "google.protobuf.Duration",
        _ => return None,
    })
}
