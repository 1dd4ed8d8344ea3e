//! The resources of a build, in the order in which they came.

use crate::resource::Resource;

/// Resources in order.
///
/// Kustomize looks through all of them for every id, which makes its cost grow with the square of their number. Whoever
/// looks many up builds an index first.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// The resources.
    pub list: Vec<Resource>,
}
