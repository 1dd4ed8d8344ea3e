//! What is wrong with what is delivered, why, and what would mend it.
//!
//! A [`Snapshot`] is everything that was seen at one moment, as plain data. [`examine`] makes of it an [`Examination`]: findings
//! by rules that each know one sort of trouble, one file each in `rules`; and a graph of what waits for what, over all applications,
//! made by `links`. What is found where nothing deeper is found is a root cause; everything else hangs below one, or is said to be
//! unexplained. Nothing is run and nothing is asked here: a rule that cannot tell from the snapshot says nothing.

mod case;
mod examination;
mod finding;
mod fix;
mod followup;
mod graph;
pub mod limits;
mod links;
mod node;
mod page;
pub mod provenance;
pub mod report;
mod rules;
mod snapshot;
pub mod surgery;
#[cfg(test)]
mod tests;
mod words;

pub use case::{App, Case, Pods};
pub use examination::{Also, Chain, Examination, Names, Root, Stopped, examine, examine_apart};
pub use finding::{Code, Evidence, Finding, Findings, Severity};
pub use fix::{Action, Edit, Fix, Place, Proof, Risk, Step};
pub use graph::Graph;
pub use links::origin::may_make;
pub use node::{AppName, Node};
pub use page::page;
pub use rules::near;
pub use rules::{
    Misnamed, RULES, Rule, lacking, misnamed_value_files, optional_value_files, rule, value_files,
};
pub use snapshot::{
    Chance, ClusterView, Delivery, EngineView, Hindrance, Hollow, IdlePatch, Lack, Lacking, Override,
    Partial, PassedOver, Reach, Recorded, Refused, RepositoryView, SETTINGS, Site, Snapshot, Wanted, Way,
    Withheld, Written,
};
