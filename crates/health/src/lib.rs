//! Object to health.
