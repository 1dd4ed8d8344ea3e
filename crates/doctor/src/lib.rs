//! What is wrong with what is delivered, why, and what would mend it.

pub mod provenance;
pub mod surgery;
