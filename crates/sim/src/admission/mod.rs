//! Admission: what may change or refuse a write between authorization and the store.
//!
//! | module | what it is |
//! |---|---|
//! | [`builtin`] | service accounts, runtime classes, growing claims and the default priority class |
//! | [`limit_range`] | what containers ask for by default, at least and at most |
//! | [`pod_security`] | what the labels of a namespace ask of its pods |
//! | [`quota`] | how much a namespace may hold |
//! | [`webhook`] | webhooks, called in the order of the original |
//! | [`declared`] | webhooks that the stage plays |
//! | [`policy`] | ValidatingAdmissionPolicies, in CEL |
//! | [`mutation`] | MutatingAdmissionPolicies, in CEL |
//! | [`matching`] | which rules and selectors a write falls under |
//! | [`review`] | the AdmissionReview that is sent, and what is read from the answer |

mod builtin;
mod declared;
mod expression;
mod limit_range;
mod limits;
mod matching;
mod mutation;
mod pod_security;
mod policy;
mod quota;
mod review;
mod webhook;

use std::sync::atomic::AtomicU64;

use lynceus_object::Object;
use lynceus_object::schema::TypeRef;

use crate::ApiError;
use crate::attributes::{Admission, Operation};
use crate::stage::Webhook;
use crate::view::View;
pub(crate) use builtin::service_account as check_account;
pub(crate) use declared::{environment as declared_environment, words as failure_words};
use expression::{Expressions, Use};
pub(crate) use quota::{Taken, check as check_quotas};
use webhook::Phase;

/// A write and the objects it is about.
struct Write<'a> {
    admission: &'a Admission,
    object: Option<&'a Object>,
    old: Option<&'a Object>,
}

/// The admission chain with what it keeps between requests (how many reviews there were, compiled
/// expressions).
#[derive(Debug)]
pub struct Chain {
    reviews: AtomicU64,
    expressions: Expressions,
    mutations: Expressions,
    messages: Expressions,
    /// Webhooks whose answers are declared.
    declared: Vec<Webhook>,
}

impl Default for Chain {
    fn default() -> Self {
        Chain {
            reviews: AtomicU64::default(),
            expressions: Expressions::default(),
            mutations: Expressions::of(Use::Mutating),
            messages: Expressions::of(Use::Telling),
            declared: Vec::new(),
        }
    }
}

impl Chain {
    /// A chain that has called nobody yet.
    pub fn new() -> Self {
        Chain::default()
    }

    /// A chain in which some webhooks are not called: what they answer is declared.
    pub fn declaring(declared: Vec<Webhook>) -> Self {
        Chain { declared, ..Chain::default() }
    }

    /// Lets built-in plugins, policies and mutating webhooks change `object`, which is of the type `ty`.
    /// Gives warnings for the client.
    pub async fn mutate(
        &self,
        view: &dyn View,
        admission: &Admission,
        ty: TypeRef<'_>,
        object: &mut Object,
        old: Option<&Object>,
    ) -> Result<Vec<String>, ApiError> {
        limit_range::mutate(view, admission, object, old);
        let mut warnings = Vec::new();
        let policies = mutation::Policies { chain: self, view, admission, ty, old };
        let changed = policies.mutate(object, false)?;
        let seen = webhook::mutate(self, view, admission, object, old, &mut warnings).await?;
        // Whoever asked to see what others did after him gets to see it once.
        if changed {
            policies.mutate(object, true)?;
        }
        webhook::mutate_again(self, view, admission, object, old, (seen, &mut warnings)).await?;
        Ok(warnings)
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
        limit_range::validate(view, &write)?;
        builtin::validate(view, &write)?;
        let mut warnings = pod_security::validate(view, &write)?;
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
