//! Any source of an Application to manifests, with what was read and where each came from.
