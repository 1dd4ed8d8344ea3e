//! Goes through a check for one object.

use std::cmp::Ordering;

use lynceus_object::Value;

use super::model::{
    Alternative, Form, Group, Operand, Part, Path, Relation, Rule, Saying, Step, Template, Test,
};
use crate::Health;

/// What the steps say of an object; `None` if they say nothing.
pub(super) fn judge(steps: &[Step], object: &Value) -> Option<Health> {
    go(steps, object).flatten()
}

/// The outer option is whether something was said, the inner one whether that is a health.
fn go(steps: &[Step], object: &Value) -> Option<Option<Health>> {
    steps.iter().find_map(|step| match step {
        Step::Rule(rule) => {
            let item = held(&rule.groups, object, None)?;
            say(&rule.saying, object, item)
        }
        Step::When(groups, steps) => {
            held(groups, object, None)?;
            go(steps, object)
        }
        Step::Each { list, backwards, rules } => {
            let items = items(at(object, list));
            if *backwards {
                items.into_iter().rev().find_map(|item| apply(rules, object, item))
            } else {
                items.into_iter().find_map(|item| apply(rules, object, item))
            }
        }
    })
}

/// The items of a list, or the values of a map in the order of its keys.
fn items(value: Option<&Value>) -> Vec<&Value> {
    match value {
        Some(Value::Seq(items)) => items.iter().collect(),
        Some(Value::Map(map)) => map.values().collect(),
        _ => Vec::new(),
    }
}

fn apply(rules: &[Rule], object: &Value, item: &Value) -> Option<Option<Health>> {
    let rule = rules.iter().find(|rule| held(&rule.groups, object, Some(item)).is_some())?;
    say(&rule.saying, object, Some(item))
}

fn say(saying: &Saying, object: &Value, item: Option<&Value>) -> Option<Option<Health>> {
    match saying {
        Saying::Health(status, template) => Some(Some(Health::new(*status, fill(template, object, item)))),
        Saying::Nothing => Some(None),
        Saying::Skip => None,
    }
}

/// Whether tests hold for an object.
pub(super) fn holds_all(groups: &[Group], object: &Value) -> bool {
    held(groups, object, None).is_some()
}

/// Whether all groups hold, and for which condition the last of them does.
fn held<'a>(groups: &[Group], object: &'a Value, item: Option<&'a Value>) -> Option<Option<&'a Value>> {
    groups.iter().try_fold(item, |bound, group| {
        if item.is_some() || !group.tests.iter().any(about_item) {
            let holds = group.tests.iter().all(|test| holds(test, object, item));
            return (holds != group.not).then_some(bound);
        }
        let conditions = object.items_at(&["status", "conditions"]);
        let found = conditions
            .iter()
            .find(|condition| group.tests.iter().all(|test| holds(test, object, Some(condition))));
        match (found, group.not) {
            (Some(condition), false) => Some(Some(condition)),
            (None, true) => Some(bound),
            _ => None,
        }
    })
}

fn about_item(test: &Test) -> bool {
    matches!(test.subject, Operand::Item(_))
}

fn holds(test: &Test, object: &Value, item: Option<&Value>) -> bool {
    let subject = read(&test.subject, object, item);
    let subject = subject.as_ref();
    let any = |relation: &dyn Fn(Option<&Value>) -> bool| {
        test.values.iter().any(|value| relation(read(value, object, item).as_ref()))
    };
    match test.relation {
        Relation::Present => subject.is_some(),
        Relation::Absent => subject.is_none(),
        Relation::True => subject.is_some_and(|value| *value != Value::Bool(false)),
        Relation::NotTrue => subject.is_none_or(|value| *value == Value::Bool(false)),
        Relation::Equal => any(&|value| subject == value),
        Relation::Unequal => !any(&|value| subject == value),
        Relation::Prefix => any(&|value| match (subject, value) {
            (Some(Value::Str(text)), Some(Value::Str(prefix))) => text.starts_with(prefix.as_str()),
            _ => false,
        }),
        Relation::Less => any(&|value| ordered(subject, value) == Some(Ordering::Less)),
        Relation::Greater => any(&|value| ordered(subject, value) == Some(Ordering::Greater)),
        Relation::AtLeast => any(&|value| ordered(subject, value).is_some_and(Ordering::is_ge)),
        Relation::AtMost => any(&|value| ordered(subject, value).is_some_and(Ordering::is_le)),
    }
}

/// Numbers are ordered by their value and texts by their letters; nothing else is.
fn ordered(a: Option<&Value>, b: Option<&Value>) -> Option<Ordering> {
    match (a?, b?) {
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (a, b) => a.as_float()?.partial_cmp(&b.as_float()?),
    }
}

/// The value of an operand. What is null is not there.
fn read(operand: &Operand, object: &Value, item: Option<&Value>) -> Option<Value> {
    let value = match operand {
        Operand::Root(path) => at(object, path).cloned(),
        Operand::Item(path) => item.and_then(|item| at(item, path)).cloned(),
        Operand::Condition(kind, path) => {
            let conditions = object.items_at(&["status", "conditions"]);
            let of_kind = conditions.iter().rev().find(|item| item.str_at(&["type"]) == Some(kind));
            of_kind.and_then(|condition| at(condition, path)).cloned()
        }
        Operand::Length(path) => Some(Value::from(items(at(object, path)).len())),
        Operand::Literal(value) => Some(value.clone()),
    };
    value.filter(|value| !value.is_null())
}

fn at<'a>(value: &'a Value, path: &Path) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, field| value.get(field))
}

fn fill(template: &Template, object: &Value, item: Option<&Value>) -> String {
    let mut message = String::new();
    for part in &template.0 {
        match part {
            Part::Text(text) => message.push_str(text),
            Part::Field { prefix, alternatives, form } => {
                let found = alternatives.iter().find_map(|one| choose(one, object, item));
                if let Some(value) = found {
                    message.push_str(prefix);
                    message.push_str(&written(&value, *form));
                }
            }
        }
    }
    message
}

fn choose(alternative: &Alternative, object: &Value, item: Option<&Value>) -> Option<Value> {
    read(&alternative.operand, object, item).filter(|value| !alternative.filled || !value.is_empty())
}

fn written(value: &Value, form: Form) -> String {
    match form {
        Form::Plain => plain(value),
        Form::Lower => plain(value).to_lowercase(),
        Form::Joined => items(Some(value)).into_iter().map(plain).collect::<Vec<_>>().join(", "),
    }
}

/// A value in a message.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Str(text) => text.to_string(),
        Value::Seq(_) | Value::Map(_) => lynceus_object::json::to_string(value),
    }
}
