//! Metrics that autoscalers ask for, beside what pods use of computing.

use lynceus_api::Glob;
use lynceus_object::{Quantity, Selector, Str};

use super::read::{Field, StageError};

/// A metric and what it is.
#[derive(Clone, Debug)]
pub struct Metric {
    /// The metric's name.
    pub name: Str,
    of: Option<Glob>,
    namespace: Option<Glob>,
    labels: Vec<(Str, Str)>,
    /// What it is.
    pub value: Quantity,
}

impl Metric {
    pub(super) fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let of = field.get("of");
        if let Some(of) = &of
            && !of.text()?.contains('/')
        {
            return Err(of.wrong("names no object", "write it as Service/web or Pod/web-*"));
        }
        let labels = field.get("labels").map_or_else(|| Ok(Vec::new()), |labels| labels.entries())?;
        let label = |(key, value): (Str, Field<'_>)| Ok((key, Str::from(value.text()?)));
        Ok(Metric {
            name: field.need("name")?.text()?.into(),
            of: of.map(|of| of.glob()).transpose()?,
            namespace: field.get("namespace").map(|name| name.glob()).transpose()?,
            labels: labels.into_iter().map(label).collect::<Result<_, StageError>>()?,
            value: quantity(&field.need("value")?)?,
        })
    }

    /// Whether it is about objects of the cluster, and not about something outside of it.
    pub fn is_of_objects(&self) -> bool {
        self.of.is_some()
    }

    /// Whether it is this metric of an object.
    pub fn is_for(&self, name: &str, kind: &str, namespace: &str, object: &str) -> bool {
        let of = self.of.as_ref().is_some_and(|of| of.matches(&format!("{kind}/{object}")));
        of && self.name == name && self.is_in(namespace)
    }

    /// Whether it is this metric of something outside.
    pub fn is_outside(&self, name: &str, namespace: &str, selector: &Selector) -> bool {
        let label =
            |key: &str| self.labels.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
        self.of.is_none() && self.name == name && self.is_in(namespace) && selector.matches(label)
    }

    fn is_in(&self, namespace: &str) -> bool {
        self.namespace.as_ref().is_none_or(|known| known.matches(namespace))
    }
}

/// An amount.
pub(super) fn quantity(field: &Field<'_>) -> Result<Quantity, StageError> {
    Quantity::parse(&field.amount()?)
        .map_err(|error| field.wrong(error.to_string(), "write it as 8, 500m or 32Gi"))
}
