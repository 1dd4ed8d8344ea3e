//! Field selectors: `metadata.name=web,status.phase!=Running`.

use std::fmt;

use super::SelectorError;
use crate::value::Str;

/// What one field has to be, or must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTerm {
    /// The field, such as `metadata.name`.
    pub field: Str,
    /// Whether the field has to have the value, or must not.
    pub equals: bool,
    /// The value.
    pub value: Str,
}

/// Conditions on fields, all of which have to be met. Which fields there are is for the kind to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<FieldTerm>);

impl FieldSelector {
    /// Selects every object.
    pub const fn everything() -> Self {
        FieldSelector(Vec::new())
    }

    /// Reads the text form. In a value `\` stands before `\`, `,` and `=`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut parts = split_terms(text);
        parts.sort_unstable();
        let terms = parts.into_iter().filter(|part| !part.is_empty()).map(|part| {
            let (field, equals, value) = split_term(part).ok_or_else(|| {
                SelectorError(format!("invalid selector: '{text}'; can't understand '{part}'"))
            })?;
            Ok(FieldTerm { field: field.into(), equals, value: unescape(value)?.into() })
        });
        let mut terms = terms.collect::<Result<Vec<FieldTerm>, SelectorError>>()?;
        // A sign alone asks for nothing.
        terms.retain(|term| !(term.field.is_empty() && term.value.is_empty()));
        Ok(FieldSelector(terms))
    }

    /// The conditions.
    pub fn terms(&self) -> &[FieldTerm] {
        &self.0
    }

    /// Whether every object is selected.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// The value that a field has to have, if the selector says so.
    pub fn exact_value(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|term| term.equals && term.field == field).map(|term| term.value.as_str())
    }

    /// Whether fields, looked up by `field`, are selected; a field that is not there is empty.
    pub fn matches<'v>(&self, field: impl Fn(&str) -> Option<&'v str>) -> bool {
        self.0.iter().all(|term| (field(&term.field).unwrap_or_default() == term.value) == term.equals)
    }
}

/// Splits at commas that have no `\` before them.
fn split_terms(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(|char| {
        let splits = char == ',' && !escaped;
        escaped = char == '\\' && !escaped;
        splits
    })
    .collect()
}

fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let at = term
        .match_indices(['=', '!'])
        .find_map(|(at, _)| (term[at..].starts_with('=') || term[at..].starts_with("!=")).then_some(at))?;
    let (field, rest) = term.split_at(at);
    let (equals, value) = match (rest.strip_prefix("!="), rest.strip_prefix("==")) {
        (Some(value), _) => (false, value),
        (None, Some(value)) => (true, value),
        (None, None) => (true, &rest[1..]),
    };
    Some((field, equals, value))
}

fn unescape(value: &str) -> Result<String, SelectorError> {
    let invalid = |sequence: String| {
        SelectorError(format!("invalid field selector: invalid escape sequence: {sequence}"))
    };
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some(char @ ('\\' | ',' | '=')) => out.push(char),
                Some(other) => return Err(invalid(format!("\\{other}"))),
                None => return Err(invalid("\\".to_owned())),
            },
            // Kubernetes prints the number of the character here.
            ',' | '=' => {
                let problem = "invalid field selector: unescaped character in value";
                return Err(SelectorError(format!("{problem}: {}", u32::from(char))));
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let sign = if term.equals { "=" } else { "!=" };
            write!(f, "{comma}{}{sign}", term.field)?;
            for char in term.value.chars() {
                if matches!(char, '\\' | ',' | '=') {
                    f.write_str("\\")?;
                }
                write!(f, "{char}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_by_fields() {
        let selector = FieldSelector::parse("status.phase!=Running,metadata.name=web").unwrap();
        let field = |name: &str| match name {
            "metadata.name" => Some("web"),
            "status.phase" => Some("Pending"),
            _ => None,
        };
        assert!(selector.matches(field));
        assert!(!selector.matches(|_| None));
        assert_eq!(selector.exact_value("metadata.name"), Some("web"));
        assert_eq!(selector.to_string(), "metadata.name=web,status.phase!=Running");
    }

    #[test]
    fn values_may_have_escaped_signs() {
        let selector = FieldSelector::parse(r"a=x\,y\=z\\,b==c").unwrap();
        assert_eq!(selector.exact_value("a"), Some(r"x,y=z\"));
        assert_eq!(selector.to_string(), r"a=x\,y\=z\\,b=c");
    }

    #[test]
    fn an_empty_selector_selects_everything() {
        assert!(FieldSelector::parse("").unwrap().is_everything());
        assert!(FieldSelector::parse(",").unwrap().is_everything());
    }

    #[test]
    fn errors_are_those_of_kubernetes() {
        let check = |text: &str, expected: &str| {
            assert_eq!(FieldSelector::parse(text).unwrap_err().to_string(), expected, "{text}");
        };
        check("abc", "invalid selector: 'abc'; can't understand 'abc'");
        check("a=b=c", "invalid field selector: unescaped character in value: 61");
        check(r"a=\x", r"invalid field selector: invalid escape sequence: \x");
    }
}
