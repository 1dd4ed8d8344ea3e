//! Ingress controllers that are there although no pod of theirs is.

use lynceus_object::Str;

use super::read::{Field, StageError};

/// Somebody who serves Ingresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingress {
    /// The controller, as IngressClasses name it.
    pub controller: Str,
    /// Where its Ingresses are reached: an address or a name.
    pub address: Option<Str>,
}

impl Ingress {
    pub(super) fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        Ok(Ingress {
            controller: field.need("controller")?.text()?.into(),
            address: field.get("address").map(|text| text.text().map(Str::from)).transpose()?,
        })
    }
}
