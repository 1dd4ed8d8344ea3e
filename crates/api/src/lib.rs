//! Argo CD's wire types, and the words that every crate shares.
