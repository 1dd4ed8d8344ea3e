//! `x-kubernetes-validations`: rules that are compiled with a definition and run on every write.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_object::{Str, Value};

use super::limits::{RULE_BUDGET, RULE_MESSAGE_BYTES, RULES_BUDGET};
use super::schema::{Additional, ListType, Schema, Type};
use super::shown::{quoted, shown};
use super::validate::old_item;
use crate::cel::{Env, EvalError, ListTy, ObjectTy, Program, Ty, Val, escape, is_reserved};
use crate::error::{FieldError, FieldErrorKind};

/// One rule of one schema node.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    text: Str,
    message: Str,
    reason: Reason,
    field_path: String,
    optional_old: bool,
    uses_old: bool,
    program: Arc<Program>,
    message_program: Option<Arc<Program>>,
    ty: Ty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Invalid,
    Forbidden,
    Required,
    Duplicate,
}

/// What is wrong with one rule, for the definition's validation.
#[derive(Debug, Default)]
pub(crate) struct RuleProblem {
    /// The rule itself.
    pub rule: Option<String>,
    /// Its `messageExpression`.
    pub message: Option<String>,
    /// Whether it looks at `oldSelf`.
    pub uses_old: bool,
}

/// The type that rules see for a schema node; `None` where rules see nothing.
pub(crate) fn type_of(schema: &Schema, is_root: bool) -> Option<Ty> {
    if schema.int_or_string {
        return Some(Ty::Dyn);
    }
    match schema.ty {
        Type::Array => {
            let items = schema.items.as_deref()?;
            let item = type_of(items, items.embedded)?;
            Some(Ty::List(Arc::new(ListTy { item, list: schema.list.clone() })))
        }
        Type::Object => {
            if let Some(Additional::Schema(other)) = &schema.additional {
                return Some(Ty::map(Ty::String, type_of(other, other.embedded)?));
            }
            Some(Ty::Object(Arc::new(object_type(schema, is_root))))
        }
        Type::String => Some(match text_format(schema) {
            "byte" => Ty::Bytes,
            "duration" => Ty::Duration,
            "date" | "date-time" => Ty::Timestamp,
            _ => Ty::String,
        }),
        Type::Boolean => Some(Ty::Bool),
        Type::Number => Some(Ty::Double),
        Type::Integer => Some(Ty::Int),
        Type::Any => None,
    }
}

fn text_format(schema: &Schema) -> &'static str {
    schema.checks.as_ref().and_then(|checks| checks.format).map_or("", super::format::Format::word)
}

fn object_type(schema: &Schema, is_root: bool) -> ObjectTy {
    let mut fields: BTreeMap<Str, (Str, Ty)> = BTreeMap::new();
    for (name, property) in &schema.properties {
        if let (Some(ty), Some(escaped)) = (type_of(property, property.embedded), escape(name)) {
            if is_reserved(name) {
                fields.insert(name.clone(), (name.clone(), ty.clone()));
            }
            fields.insert(escaped, (name.clone(), ty));
        }
    }
    if is_root {
        let names = ["name", "generateName"].map(|name| (Str::from(name), (Str::from(name), Ty::String)));
        let metadata = Ty::Object(Arc::new(ObjectTy { fields: names.into() }));
        fields.insert("apiVersion".into(), ("apiVersion".into(), Ty::String));
        fields.insert("kind".into(), ("kind".into(), Ty::String));
        fields.insert("metadata".into(), ("metadata".into(), metadata));
    }
    ObjectTy { fields }
}

/// Compiles the rules of one node. The problems stand in the order of the rules, with `None` for a
/// rule that is fine.
pub(crate) fn compile(source: &Value, schema: &Schema, is_root: bool) -> (Vec<Rule>, Vec<RuleProblem>) {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    let written = source.items_at(&["x-kubernetes-validations"]);
    // The type covers everything below the node: it is not made for the many nodes without rules.
    if written.is_empty() {
        return (rules, problems);
    }
    let ty = type_of(schema, is_root).unwrap_or(Ty::Dyn);
    for rule in written {
        let (compiled, problem) = compile_one(rule, &ty, schema);
        rules.extend(compiled);
        problems.push(problem);
    }
    (rules, problems)
}

fn compile_one(rule: &Value, ty: &Ty, schema: &Schema) -> (Option<Rule>, RuleProblem) {
    let word = |name: &str| rule.str_at(&[name]).unwrap_or_default();
    let mut problem = RuleProblem::default();
    let optional_old = rule.bool_at(&["optionalOldSelf"]).unwrap_or(false);
    let old_ty = if optional_old { Ty::optional(ty.clone()) } else { ty.clone() };
    let env = Env::new([("self", ty.clone()), ("oldSelf", old_ty)]);
    if word("rule").trim().is_empty() {
        return (None, problem);
    }
    let program = match Program::compile(word("rule"), &env) {
        Ok(program) if *program.ty() == Ty::Bool || *program.ty() == Ty::Dyn => program,
        Ok(_) => {
            problem.rule = Some("cel expression must evaluate to a bool".into());
            return (None, problem);
        }
        Err(error) => {
            problem.rule = Some(format!("compilation failed: {error}"));
            return (None, problem);
        }
    };
    problem.uses_old = program.uses("oldSelf");
    let mut message_program = None;
    if !word("messageExpression").is_empty() {
        match Program::compile(word("messageExpression"), &env) {
            Ok(program) if matches!(program.ty(), Ty::String | Ty::Dyn) => {
                message_program = Some(program.into())
            }
            Ok(_) => problem.message = Some("messageExpression must evaluate to a string".into()),
            Err(error) => problem.message = Some(format!("messageExpression compilation failed: {error}")),
        }
    }
    let compiled = Rule {
        text: word("rule").trim().into(),
        message: word("message").trim().into(),
        reason: match word("reason") {
            "FieldValueForbidden" => Reason::Forbidden,
            "FieldValueRequired" => Reason::Required,
            "FieldValueDuplicate" => Reason::Duplicate,
            _ => Reason::Invalid,
        },
        field_path: super::field_path::resolve(word("fieldPath"), schema)
            .map(|(path, _)| path)
            .unwrap_or_default(),
        optional_old,
        uses_old: problem.uses_old,
        program: program.into(),
        message_program,
        ty: ty.clone(),
    };
    (Some(compiled), problem)
}

/// Compiles all rules of a schema into the tree. Rules that do not compile are left out: the
/// definition's validation has refused them.
pub(crate) fn attach(schema: &mut Schema, source: &Value, is_root: bool) {
    schema.rules = compile(source, schema, is_root).0;
    let mut below = false;
    for (name, property) in &mut schema.properties {
        if let Some(source) = source.at(&["properties", name]) {
            let embedded = property.embedded;
            attach(property, source, embedded);
            below |= property.has_rules;
        }
    }
    if let (Some(items), Some(source)) = (&mut schema.items, source.get("items")) {
        let embedded = items.embedded;
        attach(items, source, embedded);
        below |= items.has_rules;
    }
    if let (Some(Additional::Schema(other)), Some(source)) =
        (&mut schema.additional, source.get("additionalProperties"))
    {
        let embedded = other.embedded;
        attach(other, source, embedded);
        below |= other.has_rules;
    }
    schema.has_rules = below || !schema.rules.is_empty();
}

/// Runs all rules of a schema on a value. `old` is the value before the change.
pub(crate) fn run(value: &Value, old: Option<&Value>, schema: &Schema, path: &str) -> Vec<FieldError> {
    if !schema.has_rules {
        return Vec::new();
    }
    let mut run = Run { errors: Vec::new(), budget: RULES_BUDGET, spent: false };
    let correlation = match old {
        Some(old) => Correlation::Same { unchanged: old == value },
        None => Correlation::None,
    };
    run.node(value, old, schema, path, correlation);
    run.errors
}

/// Whether a broken rule was broken before, which is then no reason to refuse.
#[derive(Clone, Copy)]
enum Correlation {
    None,
    Same { unchanged: bool },
}

impl Correlation {
    fn unchanged(self) -> bool {
        matches!(self, Correlation::Same { unchanged: true })
    }

    /// What holds one level down: a value that cannot be found again follows the one around it.
    fn below(self, value: &Value, old: Option<&Value>) -> Self {
        match (self, old) {
            (Correlation::None, _) => Correlation::None,
            (_, Some(old)) => Correlation::Same { unchanged: old == value },
            (same, None) => same,
        }
    }
}

struct Run {
    errors: Vec<FieldError>,
    budget: u64,
    spent: bool,
}

impl Run {
    fn node(&mut self, value: &Value, old: Option<&Value>, schema: &Schema, path: &str, same: Correlation) {
        if value.is_null() || self.spent || !schema.has_rules {
            return;
        }
        let old = old.filter(|old| !old.is_null());
        self.rules(value, old, schema, path, same);
        match value {
            Value::Map(map) => {
                for (name, field) in map.iter() {
                    let before = old.and_then(|old| old.get(name));
                    let changed = match (path, name.as_str()) {
                        ("", "apiVersion" | "kind") => Correlation::None,
                        _ => match before {
                            Some(_) => same.below(field, before),
                            None => Correlation::Same { unchanged: false },
                        },
                    };
                    if let Some(property) = schema.properties.get(name) {
                        let below = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                        self.node(field, before, property, &below, changed);
                    } else if let Some(Additional::Schema(other)) = &schema.additional {
                        self.node(field, before, other, &format!("{path}[{name}]"), changed);
                    }
                }
            }
            Value::Seq(items) => {
                let Some(item_schema) = schema.items.as_deref() else { return };
                let old_items = old.and_then(Value::as_seq).unwrap_or_default();
                for (at, item) in items.iter().enumerate() {
                    let before = old_item(old_items, item, &schema.list);
                    let changed = match schema.list {
                        ListType::Map(_) => before
                            .map_or(Correlation::Same { unchanged: false }, |_| same.below(item, before)),
                        _ => same,
                    };
                    self.node(item, before, item_schema, &format!("{path}[{at}]"), changed);
                }
            }
            _ => {}
        }
    }

    fn rules(&mut self, value: &Value, old: Option<&Value>, schema: &Schema, path: &str, same: Correlation) {
        let field = if path.is_empty() { "<nil>" } else { path };
        for rule in &schema.rules {
            if self.spent {
                return;
            }
            if rule.uses_old && old.is_none() && !rule.optional_old {
                continue;
            }
            let mut variables = vec![("self", Val::lift(value, &rule.ty))];
            let before = old.map(|old| Val::lift(old, &rule.ty));
            match (rule.optional_old, before) {
                (true, before) => variables.push(("oldSelf", Val::Optional(before.map(Into::into)))),
                (false, Some(before)) => variables.push(("oldSelf", before)),
                (false, None) => {}
            }
            let (outcome, cost) = rule.program.run(&variables, RULE_BUDGET);
            let kind = quoted(schema.ty.word());
            if cost > self.budget {
                self.out_of_budget(field, kind);
                return;
            }
            self.budget -= cost;
            match outcome {
                Ok(Val::Bool(true)) => {}
                Ok(_) => {
                    let error = self.broken(rule, value, schema, path, &variables);
                    if rule.uses_old || !same.unchanged() {
                        self.errors.push(error);
                    }
                }
                Err(error) => {
                    let detail = rule.failure(&error);
                    self.spent |= error == EvalError::Cost;
                    self.errors.push(FieldError::invalid(field, kind, detail));
                }
            }
        }
    }

    fn out_of_budget(&mut self, field: &str, kind: String) {
        self.spent = true;
        let detail =
            "validation failed due to running out of cost budget, no further validation rules will be run";
        self.errors.push(FieldError::invalid(field, kind, detail));
    }

    fn broken(
        &mut self,
        rule: &Rule,
        value: &Value,
        schema: &Schema,
        path: &str,
        variables: &[(&str, Val)],
    ) -> FieldError {
        let field = match (path, rule.field_path.as_str()) {
            ("", "") => "<nil>".to_owned(),
            (path, "") => path.to_owned(),
            ("", below) => below.trim_start_matches('.').to_owned(),
            (path, below) => format!("{path}{below}"),
        };
        let detail = self.message(rule, variables).unwrap_or_else(|| rule.default_message());
        let shown_value = match schema.ty {
            Type::Object | Type::Array => String::new(),
            _ => shown(value),
        };
        let (kind, value, detail) = match rule.reason {
            Reason::Invalid => (FieldErrorKind::Invalid, shown_value, detail),
            Reason::Forbidden => (FieldErrorKind::Forbidden, String::new(), detail),
            Reason::Required => (FieldErrorKind::Required, String::new(), detail),
            Reason::Duplicate => (FieldErrorKind::Duplicate, shown_value, String::new()),
        };
        FieldError { kind, field, value, detail }
    }

    /// The message that the rule computes; anything unusable falls back to the fixed one.
    fn message(&mut self, rule: &Rule, variables: &[(&str, Val)]) -> Option<String> {
        let (outcome, cost) = rule.message_program.as_ref()?.run(variables, RULE_BUDGET);
        self.budget = self.budget.saturating_sub(cost);
        let Ok(Val::String(text)) = outcome else { return None };
        let text = text.trim();
        let usable = !text.is_empty() && text.len() <= RULE_MESSAGE_BYTES && !text.contains('\n');
        usable.then(|| text.to_owned())
    }
}

impl Rule {
    fn name(&self) -> &str {
        if self.message.is_empty() { &self.text } else { &self.message }
    }

    fn default_message(&self) -> String {
        if self.message.is_empty() { format!("failed rule: {}", self.text) } else { self.message.to_string() }
    }

    fn failure(&self, error: &EvalError) -> String {
        let name = self.name();
        match error {
            EvalError::Overload | EvalError::OverloadOf(_) => format!(
                "'{error}': call arguments did not match a supported operator, function or macro signature for rule: {name}"
            ),
            EvalError::Cost => format!(
                "'{error}': no further validation rules will be run due to call cost exceeds limit for rule: {name}"
            ),
            other => format!("{other} evaluating rule: {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn check(schema: Value, object: Value, old: Option<Value>, expected: &[&str]) {
        let mut compiled = Schema::compile(&schema);
        attach(&mut compiled, &schema, true);
        let found: Vec<String> =
            run(&object, old.as_ref(), &compiled, "").iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    fn spec(rules: Value) -> Value {
        value!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"min": {"type": "integer"}, "max": {"type": "integer"}, "name": {"type": "string"}},
            "x-kubernetes-validations": rules}}})
    }

    #[test]
    fn a_broken_rule_is_told_with_its_message() {
        let object = value!({"spec": {"min": 5, "max": 2}});
        check(
            spec(value!([{"rule": "self.min <= self.max"}])),
            object.clone(),
            None,
            &["spec: Invalid value: failed rule: self.min <= self.max"],
        );
        check(
            spec(value!([{"rule": "self.min <= self.max", "message": "min must be <= max"}])),
            object.clone(),
            None,
            &["spec: Invalid value: min must be <= max"],
        );
        check(
            spec(
                value!([{"rule": "self.min <= self.max", "messageExpression": "'%d > %d'.format([self.min, self.max])",
                "reason": "FieldValueForbidden", "fieldPath": ".min"}]),
            ),
            object,
            None,
            &["spec.min: Forbidden: 5 > 2"],
        );
    }

    #[test]
    fn transition_rules_need_an_old_value() {
        let schema = spec(value!([{"rule": "self.name == oldSelf.name", "message": "name is immutable"}]));
        check(schema.clone(), value!({"spec": {"name": "a"}}), None, &[]);
        check(
            schema,
            value!({"spec": {"name": "a"}}),
            Some(value!({"spec": {"name": "b"}})),
            &["spec: Invalid value: name is immutable"],
        );
    }

    #[test]
    fn an_unchanged_value_may_stay_broken() {
        let schema = spec(value!([{"rule": "self.min <= self.max"}]));
        let broken = value!({"spec": {"min": 5, "max": 2}});
        let mut touched = broken.clone();
        touched.set(&["metadata", "name"], "x");
        check(schema, touched, Some(broken), &[]);
    }

    #[test]
    fn a_missing_field_is_an_error_of_the_rule() {
        check(
            spec(value!([{"rule": "self.min > 0"}])),
            value!({"spec": {}}),
            None,
            &["spec: Invalid value: \"object\": no such key: min evaluating rule: self.min > 0"],
        );
    }
}
