//! Who asks, and may they.

use jiff::Timestamp;
use lynceus_object::Object;

use crate::ApiError;
use crate::attributes::{Attributes, User};
use crate::kinds::Resource;
use crate::view::View;

/// The keys that logins are checked with. They are kept in the data directory.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// The administrator's bearer token.
    pub admin_token: String,
    /// The key that signs service-account tokens: ECDSA P-256, PKCS#8 DER.
    pub signing_key: Vec<u8>,
    /// The issuer in tokens.
    pub issuer: String,
}

/// Checks credentials, issues tokens, answers reviews.
#[derive(Debug, Default)]
pub struct Authenticator {}

/// What the authorizer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go on.
    Allow,
    /// No; with a reason if there is one to give.
    Deny(String),
}

impl Authenticator {
    /// An authenticator with these keys.
    pub fn new(_keys: Keys) -> Result<Self, ApiError> {
        Ok(Authenticator {})
    }

    /// Finds the user by token or by client certificate (`peer`, in DER, its chain already
    /// verified), then applies impersonation headers. No credentials: the anonymous user.
    pub fn authenticate(
        &self,
        _view: &dyn View,
        _parts: &http::request::Parts,
        _peer: Option<&[u8]>,
        _now: Timestamp,
    ) -> Result<User, ApiError> {
        Ok(User::admin())
    }

    /// `serviceaccounts/token`: the TokenRequest with its answer in `status`.
    pub fn issue(
        &self,
        _view: &dyn View,
        _service_account: &Object,
        request: Object,
        _now: Timestamp,
    ) -> Result<Object, ApiError> {
        Ok(request)
    }

    /// Answers a review (TokenReview, SelfSubjectReview, the access reviews): create-only kinds that
    /// are not stored.
    pub fn review(
        &self,
        _view: &dyn View,
        _user: &User,
        _resource: &Resource,
        _namespace: &str,
        review: Object,
        _now: Timestamp,
    ) -> Result<Object, ApiError> {
        Ok(review)
    }
}

/// Whether `user` may.
pub fn authorize(_view: &dyn View, _user: &User, _attributes: &Attributes) -> Decision {
    Decision::Allow
}

/// The 403 for a [`Decision::Deny`].
pub fn forbidden(_user: &User, attributes: &Attributes, reason: &str) -> ApiError {
    ApiError::forbidden(&attributes.group, &attributes.resource, &attributes.name, reason)
}

/// Refuses a role or binding that would give more than its writer has.
pub fn check_escalation(
    _view: &dyn View,
    _user: &User,
    _resource: &Resource,
    _new: &Object,
    _old: Option<&Object>,
) -> Result<(), ApiError> {
    Ok(())
}

/// The roles and bindings that a new cluster starts with.
pub fn bootstrap() -> Vec<Object> {
    Vec::new()
}
