//! Admission: what may change or refuse a write between authorization and the store.
//!
//! | module | what it is |
//! |---|---|
//! | [`builtin`] | the server's own plugins |
//! | [`webhook`] | webhooks, called in the order of the original |
//! | [`policy`] | ValidatingAdmissionPolicies, in CEL |
//! | [`matching`] | which rules and selectors a write falls under |
//! | [`review`] | the AdmissionReview that is sent, and what is read from the answer |

mod builtin;
mod expression;
mod limits;
mod matching;
mod policy;
mod review;
mod webhook;

use std::sync::atomic::AtomicU64;

use lynceus_object::Object;

use crate::ApiError;
use crate::attributes::{Admission, Operation};
use crate::view::View;
use expression::Expressions;
use webhook::Phase;

/// A write and the objects it is about.
struct Write<'a> {
    admission: &'a Admission,
    object: Option<&'a Object>,
    old: Option<&'a Object>,
}

/// The admission chain with what it keeps between requests (how many reviews there were, compiled
/// expressions).
#[derive(Debug, Default)]
pub struct Chain {
    reviews: AtomicU64,
    expressions: Expressions,
}

impl Chain {
    /// A chain that has called nobody yet.
    pub fn new() -> Self {
        Chain::default()
    }

    /// Lets built-in plugins and mutating webhooks change `object`. Gives warnings for the client.
    pub async fn mutate(
        &self,
        view: &dyn View,
        admission: &Admission,
        object: &mut Object,
        old: Option<&Object>,
    ) -> Result<Vec<String>, ApiError> {
        webhook::mutate(self, view, admission, object, old).await
    }

    /// Lets built-in plugins, policies and validating webhooks refuse. `object` is `None` for a deletion.
    pub async fn validate(
        &self,
        view: &dyn View,
        admission: &Admission,
        object: Option<&Object>,
        old: Option<&Object>,
    ) -> Result<Vec<String>, ApiError> {
        let write = Write { admission, object, old };
        builtin::validate(view, &write)?;
        let mut warnings = Vec::new();
        if admission.operation == Operation::Delete {
            // A deletion has nothing to change, but mutating webhooks may refuse it all the same.
            warnings.extend(webhook::validate(self, view, &write, Phase::Mutating).await?);
        }
        warnings.extend(policy::validate(self, view, &write)?);
        warnings.extend(webhook::validate(self, view, &write, Phase::Validating).await?);
        Ok(warnings)
    }
}

#[cfg(test)]
mod tests;
