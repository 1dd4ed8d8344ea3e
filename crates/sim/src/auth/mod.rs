//! Who asks, and may they.
//!
//! Logins are the administrator's token, those of a file, tokens of service accounts and client certificates;
//! permissions are RBAC, read from the store at every request, so that a change counts at once.

mod aggregation;
mod authority;
mod bootstrap;
mod certificate;
mod der;
mod escalation;
mod impersonation;
mod rbac;
mod request;
mod review;
mod service_account;
mod token;
mod token_file;

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value, value};

pub use aggregation::{aggregated, selects};
pub use bootstrap::bootstrap;
pub use escalation::check_escalation;
pub(crate) use impersonation::impersonate;
pub use token_file::{TokenFile, TokenFileError};

use crate::ApiError;
use crate::attributes::{Attributes, User};
use crate::kinds::Resource;
use crate::view::View;
use authority::Authority;
use service_account::Tokens;
use token::{Signer, TokenError};

/// The keys that logins are checked with. They are kept in the data directory.
#[derive(Clone, Default)]
pub struct Keys {
    /// The administrator's bearer token.
    pub admin_token: String,
    /// The key that signs service-account tokens: ECDSA P-256, PKCS#8 DER.
    pub signing_key: Vec<u8>,
    /// The issuer in tokens.
    pub issuer: String,
    /// The root certificate and its key, in PEM; without them nobody signs certificates.
    pub root: Option<(String, String)>,
}

/// Keys are secret, so that nothing of them is shown.
impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keys({})", self.issuer)
    }
}

/// Checks credentials, issues tokens, answers reviews.
#[derive(Debug)]
pub struct Authenticator {
    admin: FixedToken,
    file: TokenFile,
    tokens: Tokens,
    authority: Option<Authority>,
    anonymous: bool,
}

/// A token that is compared in constant time and never shown.
#[derive(Clone)]
struct FixedToken(String);

impl std::fmt::Debug for FixedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FixedToken")
    }
}

impl FixedToken {
    fn is(&self, token: &str) -> bool {
        let (a, b) = (self.0.as_bytes(), token.as_bytes());
        !a.is_empty()
            && a.len() == b.len()
            && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

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
    pub fn new(keys: Keys) -> Result<Self, ApiError> {
        let tokens = Tokens::new(Signer::new(&keys.signing_key)?, keys.issuer);
        let admin = FixedToken(keys.admin_token);
        let authority = keys.root.map(|(root, key)| Authority::new(&root, &key)).transpose()?;
        Ok(Authenticator { admin, file: TokenFile::default(), tokens, authority, anonymous: true })
    }

    /// Takes these tokens as well.
    #[must_use]
    pub fn with_tokens(mut self, file: TokenFile) -> Self {
        self.file = file;
        self
    }

    /// Turns away whoever brings no credentials.
    #[must_use]
    pub fn without_anonymous(mut self) -> Self {
        self.anonymous = false;
        self
    }

    /// Finds the user by token or by client certificate (`peer`, in DER, its chain already
    /// verified), then applies impersonation headers. No credentials: the anonymous user, if it may come in.
    pub fn authenticate(
        &self,
        view: &dyn View,
        parts: &http::request::Parts,
        peer: Option<&[u8]>,
        now: Timestamp,
    ) -> Result<User, ApiError> {
        let user = self.login(view, parts, peer, now)?;
        impersonate(view, user, &parts.headers)
    }

    fn login(
        &self,
        view: &dyn View,
        parts: &http::request::Parts,
        peer: Option<&[u8]>,
        now: Timestamp,
    ) -> Result<User, ApiError> {
        if let Some(user) = peer.and_then(certificate::user_of) {
            return Ok(user);
        }
        let header = parts.headers.get(http::header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|text| {
            let (scheme, token) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
        });
        match (token, header) {
            (Some(token), _) => {
                self.user_of_token(view, token, &[], now).map(|(user, _)| user).map_err(|_| unauthorized())
            }
            (None, _) if self.anonymous => Ok(User::anonymous()),
            (None, _) => Err(unauthorized()),
        }
    }

    /// The user of a token, and the audiences that it is for among those asked for.
    fn user_of_token(
        &self,
        view: &dyn View,
        token: &str,
        audiences: &[Str],
        now: Timestamp,
    ) -> Result<(User, Vec<Str>), TokenError> {
        if self.admin.is(token) {
            return Ok((User::admin(), Vec::new()));
        }
        if let Some(user) = self.file.user(token) {
            return Ok((user, Vec::new()));
        }
        self.tokens.user(view, token, audiences, now)
    }

    /// `serviceaccounts/token`: the TokenRequest with its answer in `status`.
    pub fn issue(
        &self,
        view: &dyn View,
        service_account: &Object,
        request: Object,
        now: Timestamp,
    ) -> Result<Object, ApiError> {
        self.tokens.issue(view, service_account, request, now)
    }

    /// The token that stands in a Secret of the type `kubernetes.io/service-account-token`.
    pub fn secret_token(&self, service_account: &Object, secret: &str) -> Result<String, ApiError> {
        self.tokens.legacy(service_account, secret)
    }

    /// A CertificateSigningRequest with what its signer says to it, if there is anything left to say.
    pub fn certified(&self, request: &Object, now: Timestamp) -> Option<Object> {
        self.authority.as_ref()?.answered(request, now)
    }

    /// Answers a review (TokenReview, SelfSubjectReview, the access reviews): create-only kinds that
    /// are not stored.
    pub fn review(
        &self,
        view: &dyn View,
        user: &User,
        resource: &Resource,
        namespace: &str,
        review: Object,
        now: Timestamp,
    ) -> Result<Object, ApiError> {
        review::review(self, view, user, resource, namespace, review, now)
    }

    /// The document at `/.well-known/openid-configuration`.
    pub fn openid_configuration(&self) -> Value {
        let issuer = &self.tokens.issuer;
        value!({
            "issuer": issuer, "jwks_uri": format!("{issuer}/openid/v1/jwks"), "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
        })
    }

    /// The document at `/openid/v1/jwks`.
    pub fn key_set(&self) -> Value {
        value!({"keys": [self.tokens.signer.public_key()]})
    }
}

/// 401: credentials were given and are not good.
pub fn unauthorized() -> ApiError {
    ApiError::new(401, "Unauthorized", "Unauthorized")
}

/// Whether `user` may.
pub fn authorize(view: &dyn View, user: &User, attributes: &Attributes) -> Decision {
    let verdict = rbac::decide(view, user, attributes);
    if verdict.allowed { Decision::Allow } else { Decision::Deny(verdict.reason) }
}

/// The same with the reason that access reviews show either way.
pub(crate) fn explain(view: &dyn View, user: &User, attributes: &Attributes) -> (bool, String) {
    let verdict = rbac::decide(view, user, attributes);
    (verdict.allowed, verdict.reason)
}

/// The 403 for a [`Decision::Deny`].
pub fn forbidden(user: &User, attributes: &Attributes, reason: &str) -> ApiError {
    let (name, verb) = (user.name.as_str(), &attributes.verb);
    let message = if attributes.is_resource() {
        let resource = match attributes.subresource.as_str() {
            "" => attributes.resource.to_string(),
            part => format!("{}/{part}", attributes.resource),
        };
        let place = match attributes.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {namespace:?}"),
        };
        let group = attributes.group.as_str();
        format!("User {name:?} cannot {verb} resource {resource:?} in API group {group:?} {place}")
    } else {
        format!("User {name:?} cannot {verb} path {:?}", attributes.path.as_str())
    };
    // The message may end up in a browser.
    let mut message = message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    if !reason.is_empty() {
        message.push_str(&format!(": {reason}"));
    }
    if attributes.is_resource() {
        return ApiError::forbidden(&attributes.group, &attributes.resource, &attributes.name, &message);
    }
    ApiError::new(403, "Forbidden", format!("forbidden: {message}")).with_details(value!({}))
}

#[cfg(test)]
mod tests;
