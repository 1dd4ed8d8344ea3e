//! Which objects are meant: by their labels, or by a few of their fields.

mod field;
mod label;
mod parse;

pub use field::{FieldSelector, FieldTerm};
pub use label::{key_problems, value_problems};

use std::fmt;

use crate::object::Object;
use crate::value::{Str, Value};

/// Why a selector is not one; the text is what Kubernetes says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(String);

/// How a requirement compares the value of a label with its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `key=value`
    Equals,
    /// `key==value`, which means the same and is printed as it was written.
    DoubleEquals,
    /// `key!=value`; also true if the label is not there.
    NotEquals,
    /// `key in (a,b)`
    In,
    /// `key notin (a,b)`; also true if the label is not there.
    NotIn,
    /// `key`
    Exists,
    /// `!key`
    DoesNotExist,
    /// `key>5`
    GreaterThan,
    /// `key<5`
    LessThan,
}

/// What one label has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The name of the label.
    pub key: Str,
    /// How it is compared.
    pub operator: Operator,
    /// With what; sorted and without duplicates when read from text.
    pub values: Vec<Str>,
}

/// Requirements on labels, all of which have to be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Selects no object at all: what an absent `LabelSelector` means.
    Nothing,
    /// Selects the objects that meet every requirement; all objects if there is none.
    All(Vec<Requirement>),
}

impl Default for Selector {
    fn default() -> Self {
        Selector::everything()
    }
}

impl Selector {
    /// Selects every object.
    pub const fn everything() -> Self {
        Selector::All(Vec::new())
    }

    /// Reads the text form: `app=web,tier in (a, b),!canary`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        parse::parse(text).map(Selector::All)
    }

    /// Selects the objects that have all of these labels.
    pub fn from_labels<'a>(labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut requirements: Vec<Requirement> = labels
            .into_iter()
            .map(|(key, value)| Requirement {
                key: key.into(),
                operator: Operator::Equals,
                values: vec![value.into()],
            })
            .collect();
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Selector::All(requirements)
    }

    /// Reads a `LabelSelector`, with `matchLabels` and `matchExpressions`. An absent one selects
    /// nothing, an empty one everything.
    pub fn from_object(selector: Option<&Value>) -> Result<Self, SelectorError> {
        let Some(selector) = selector.filter(|selector| !selector.is_null()) else {
            return Ok(Selector::Nothing);
        };
        let mut requirements = Vec::new();
        for (key, value) in
            selector.get("matchLabels").and_then(Value::as_map).into_iter().flat_map(|m| m.iter())
        {
            let value = value.as_str().unwrap_or_default();
            requirements.push(Requirement::new(key.clone(), Operator::Equals, vec![value.into()])?);
        }
        for expression in selector.items_at(&["matchExpressions"]) {
            requirements.push(Requirement::from_expression(expression)?);
        }
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Selector::All(requirements))
    }

    /// The requirements; none for [`Selector::Nothing`].
    pub fn requirements(&self) -> &[Requirement] {
        match self {
            Selector::Nothing => &[],
            Selector::All(requirements) => requirements,
        }
    }

    /// Whether every object is selected.
    pub fn is_everything(&self) -> bool {
        matches!(self, Selector::All(requirements) if requirements.is_empty())
    }

    /// Whether labels, looked up by `label`, are selected.
    pub fn matches<'v>(&self, label: impl Fn(&str) -> Option<&'v str>) -> bool {
        match self {
            Selector::Nothing => false,
            Selector::All(requirements) => {
                requirements.iter().all(|requirement| requirement.matches(label(&requirement.key)))
            }
        }
    }

    /// Whether an object's labels are selected.
    pub fn matches_object(&self, object: &Object) -> bool {
        self.matches(|key| object.label(key))
    }

    /// Whether a map of labels is selected; `None` is one without labels.
    pub fn matches_labels(&self, labels: Option<&Value>) -> bool {
        self.matches(|key| labels.and_then(|labels| labels.str_at(&[key])))
    }

    /// The value that a label has to have, if the selector says so.
    pub fn exact_value(&self, key: &str) -> Option<&str> {
        let requirement = self.requirements().iter().find(|requirement| requirement.key == key)?;
        match (requirement.operator, requirement.values.as_slice()) {
            (Operator::Equals | Operator::DoubleEquals | Operator::In, [value]) => Some(value),
            _ => None,
        }
    }
}

impl Requirement {
    /// A requirement whose key and values are ones that labels can have.
    pub fn new(key: impl Into<Str>, operator: Operator, values: Vec<Str>) -> Result<Self, SelectorError> {
        let key = key.into();
        let mut problems = Vec::new();
        if let Some(problem) = label::joined(label::key_problems(&key)) {
            problems.push(format!("key: Invalid value: {key:?}: {problem}"));
        }
        problems.extend(operator.problem_with(&values));
        for (at, value) in values.iter().enumerate() {
            if let Some(problem) = label::joined(label::value_problems(value)) {
                problems.push(format!("values[{at}][{key}]: Invalid value: {value:?}: {problem}"));
            }
        }
        match problems.as_slice() {
            [] => Ok(Requirement { key, operator, values }),
            [problem] => Err(SelectorError(problem.clone())),
            several => Err(SelectorError(format!("[{}]", several.join(", ")))),
        }
    }

    /// Reads an item of `matchExpressions`.
    fn from_expression(expression: &Value) -> Result<Self, SelectorError> {
        let operator = match expression.str_at(&["operator"]).unwrap_or_default() {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            other => return Err(SelectorError(format!("{other:?} is not a valid label selector operator"))),
        };
        let values = expression.items_at(&["values"]).iter().filter_map(Value::as_str).map(Str::from);
        Requirement::new(expression.str_at(&["key"]).unwrap_or_default(), operator, values.collect())
    }

    /// Whether a label with this value, or none, is as required.
    pub fn matches(&self, value: Option<&str>) -> bool {
        let is_listed = |value: &str| self.values.iter().any(|known| known == value);
        let compare = |ok: fn(i64, i64) -> bool| {
            let own = self.values.first().and_then(|own| own.parse().ok());
            matches!((value.and_then(|value| value.parse().ok()), own), (Some(a), Some(b)) if ok(a, b))
        };
        match self.operator {
            Operator::Equals | Operator::DoubleEquals | Operator::In => value.is_some_and(is_listed),
            Operator::NotEquals | Operator::NotIn => !value.is_some_and(is_listed),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => compare(|label, own| label > own),
            Operator::LessThan => compare(|label, own| label < own),
        }
    }
}

impl Operator {
    fn problem_with(self, values: &[Str]) -> Option<String> {
        let problem = match self {
            Operator::In | Operator::NotIn if values.is_empty() => {
                "for 'in', 'notin' operators, values set can't be empty"
            }
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals if values.len() != 1 => {
                "exact-match compatibility requires one single value"
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                "values set must be empty for exists and does not exist"
            }
            Operator::GreaterThan | Operator::LessThan => match values {
                [value] if value.parse::<i64>().is_ok() => return None,
                [value] => {
                    return Some(format!(
                        "values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer"
                    ));
                }
                _ => "for 'Gt', 'Lt' operators, exactly one value is required",
            },
            _ => return None,
        };
        let listed: Value = values.iter().cloned().collect();
        Some(format!("values: Invalid value: {}: {problem}", crate::json::to_string(&listed)))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, requirement) in self.requirements().iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let mut values = self.values.clone();
        values.sort();
        let values = values.join(",");
        match self.operator {
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    fn check(selector: &str, labels: Value, expected: bool) {
        let parsed = Selector::parse(selector).unwrap();
        assert_eq!(parsed.matches_labels(Some(&labels)), expected, "{selector} on {labels:?}");
    }

    #[test]
    fn equality_needs_the_label() {
        check("app=web", value!({"app": "web"}), true);
        check("app==web", value!({"app": "db"}), false);
        check("app=web", value!({}), false);
        check("app!=web", value!({}), true);
        check("app!=web", value!({"app": "web"}), false);
        check("app=", value!({"app": ""}), true);
    }

    #[test]
    fn sets_and_existence() {
        check("app in (a, b)", value!({"app": "b"}), true);
        check("app notin (a,b)", value!({"app": "b"}), false);
        check("app notin (a,b)", value!({}), true);
        check("app,!canary", value!({"app": "x"}), true);
        check("!app", value!({"app": "x"}), false);
        check("in in (in)", value!({"in": "in"}), true);
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        check("n>9", value!({"n": "10"}), true);
        check("n<9", value!({"n": "10"}), false);
        check("n>9", value!({"n": "x"}), false);
    }

    #[test]
    fn everything_and_nothing() {
        check("", value!({}), true);
        assert!(!Selector::from_object(None).unwrap().matches(|_| None));
        assert!(Selector::from_object(Some(&value!({}))).unwrap().matches(|_| None));
    }

    #[test]
    fn prints_sorted_by_key() {
        let print = |text: &str| Selector::parse(text).unwrap().to_string();
        assert_eq!(print("x in (b,a),a==1, !z ,c"), "a==1,c,x in (a,b),!z");
        assert_eq!(print("x in (,a)"), "x in (,a)");
        assert_eq!(print("x in ()"), "x in ()");
        assert_eq!(print("n>5"), "n>5");
    }

    #[test]
    fn reads_label_selectors() {
        let selector = value!({
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["a", "b"]},
                {"key": "canary", "operator": "DoesNotExist"},
            ],
        });
        let selector = Selector::from_object(Some(&selector)).unwrap();
        assert_eq!(selector.to_string(), "app=web,!canary,tier in (a,b)");
        assert_eq!(selector.exact_value("app"), Some("web"));
        let wrong = value!({"matchExpressions": [{"key": "a", "operator": "Near"}]});
        let error = Selector::from_object(Some(&wrong)).unwrap_err();
        assert_eq!(error.to_string(), "\"Near\" is not a valid label selector operator");
    }

    #[test]
    fn errors_are_those_of_kubernetes() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Selector::parse(text).unwrap_err().to_string(), expected, "{text}");
        };
        check("a=b=c", "found '=', expected: ',' or 'end of string'");
        check("a,", "found '', expected: identifier after ','");
        check("=a", "found '=', expected: !, identifier, or 'end of string'");
        check("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
        check("a in b", "unable to parse requirement: found 'b' expected: '('");
        check("a in (b", "unable to parse requirement: found '', expected: ',' or ')'");
        check(
            "-a=b",
            "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of alphanumeric \
             characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  \
             or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        );
        check(
            "a=-b",
            "unable to parse requirement: values[0][a]: Invalid value: \"-b\": a valid label must be an empty \
             string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
             '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        );
    }
}
