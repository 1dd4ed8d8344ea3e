//! Admission: what may change or refuse a write between authorization and the store.

use lynceus_object::Object;

use crate::ApiError;
use crate::attributes::Admission;
use crate::view::View;

/// The admission chain with what it keeps between requests (the webhook client, compiled rules).
#[derive(Debug, Default)]
pub struct Chain {}

impl Chain {
    /// A chain that has called nobody yet.
    pub fn new() -> Self {
        Chain {}
    }

    /// Lets built-in plugins and mutating webhooks change `object`. Gives warnings for the client.
    pub async fn mutate(
        &self,
        _view: &dyn View,
        _admission: &Admission,
        _object: &mut Object,
        _old: Option<&Object>,
    ) -> Result<Vec<String>, ApiError> {
        Ok(Vec::new())
    }

    /// Lets built-in plugins and validating webhooks refuse. `object` is `None` for a deletion.
    pub async fn validate(
        &self,
        _view: &dyn View,
        _admission: &Admission,
        _object: Option<&Object>,
        _old: Option<&Object>,
    ) -> Result<Vec<String>, ApiError> {
        Ok(Vec::new())
    }
}
