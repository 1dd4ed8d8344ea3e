//! Queue, reconcile, execute, status.
