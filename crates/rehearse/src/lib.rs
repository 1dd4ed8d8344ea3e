//! What would happen if this were synced: the engine at work on the embedded Kubernetes, on a clock that is moved.
