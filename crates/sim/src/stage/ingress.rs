//! Ingress controllers that are there although no pod of theirs is.

use lynceus_object::Str;

use super::read::{Field, StageError};
use crate::kinds::validation::names;

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
            controller: field.need("controller")?.name(controller)?.into(),
            address: field.get("address").map(|text| text.name(address).map(Str::from)).transpose()?,
        })
    }
}

/// What is wrong with the name of a controller, which is a domain and a path.
fn controller(text: &str) -> Vec<String> {
    match text.split_once('/') {
        Some((domain, path)) if !path.is_empty() => names::dns_subdomain(domain),
        _ => vec!["write it as k8s.io/ingress-nginx".to_owned()],
    }
}

/// What is wrong with what Ingresses are reached at.
fn address(text: &str) -> Vec<String> {
    match names::ip(text) {
        Some(_) => Vec::new(),
        None => names::dns_subdomain(text),
    }
}
