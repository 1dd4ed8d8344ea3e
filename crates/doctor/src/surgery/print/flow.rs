//! Values in braces and brackets.

use lynceus_object::{Map, Value};

use super::{Printer, scalar};
use crate::surgery::anatomy::Quotes;

impl Printer<'_> {
    /// A value as it stands inside of brackets. `lead` is what its line begins with, if items have their own lines.
    pub(in super::super) fn flow(&self, value: &Value, was: Option<Quotes>, lead: Option<&str>) -> String {
        match value {
            Value::Str(text) if self.habits.flow.json => scalar::double(text),
            Value::Str(text) => self.string(text, was, true),
            Value::Map(map) if !map.is_empty() => self.braces(map, lead),
            Value::Seq(items) if !items.is_empty() => {
                let items = items.iter().map(|item| self.flow(item, None, self.inner(lead).as_deref()));
                self.brackets(('[', ']'), items.collect(), lead)
            }
            other => scalar::unquoted(other),
        }
    }

    /// A field as it stands inside of braces.
    pub(in super::super) fn flow_field(&self, name: &str, value: &Value, lead: Option<&str>) -> String {
        let flow = &self.habits.flow;
        let key = if flow.json { scalar::double(name) } else { self.key(name, true) };
        // Without a blank the colon of a plain key would be part of it.
        let blank = if key.starts_with(['"', '\'']) { flow.colon } else { " " };
        format!("{key}:{blank}{}", self.flow(value, None, lead))
    }

    fn braces(&self, map: &Map, lead: Option<&str>) -> String {
        let inner = self.inner(lead);
        let fields = map.iter().map(|(name, value)| self.flow_field(name, value, inner.as_deref()));
        self.brackets(('{', '}'), fields.collect(), lead)
    }

    fn brackets(&self, (open, close): (char, char), parts: Vec<String>, lead: Option<&str>) -> String {
        let newline = self.habits.newline;
        match (lead, self.inner(lead)) {
            (Some(lead), Some(inner)) => {
                let parts = parts.join(&format!(",{newline}{inner}"));
                format!("{open}{newline}{inner}{parts}{newline}{lead}{close}")
            }
            _ => format!("{open}{}{close}", parts.join(&format!(",{}", self.habits.flow.comma))),
        }
    }

    /// What the lines inside of brackets begin with.
    fn inner(&self, lead: Option<&str>) -> Option<String> {
        let unit = self.habits.flow.unit.as_ref()?;
        lead.map(|lead| format!("{lead}{unit}"))
    }
}
