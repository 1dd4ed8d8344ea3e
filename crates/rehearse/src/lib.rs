//! What would happen if this were synced: the engine at work on the embedded Kubernetes, on a clock that is moved.
//!
//! A [`Script`] says what is played: a repository as it stands or two revisions of it, what the cluster is like, and which
//! applications. [`rehearse`] plays it and gives a [`Rehearsal`]: a [`Report`], which is plain data, and the [`World`] at rest.
//! [`Rehearsal::verify`] plays the same script once more with some files replaced, and compares; a [`Trial`] says what that proves of a
//! fix.
//!
//! | part | files |
//! |---|---|
//! | what is played | `script`, `premises` (the repository, as the engine will see it) |
//! | what there is to play: Applications, what they render, which nobody else creates | `survey` |
//! | what nobody tells and is taken to be there | `assumption` |
//! | clusters, engine and clock | `world` |
//! | playing it until nothing changes any more | `play` |
//! | what came of it | `report` |
//! | whether a fix heals | `verify`, `trial` |
//! | what a real cluster is like, to begin as it | `record` |
//!
//! Everything that is moved by the clock is a task of one thread: run it on a runtime of one
//! (`tokio::runtime::Builder::new_current_thread`), or the clock may run ahead of what it should wait for.

mod assumption;
mod checkout;
mod error;
pub mod limits;
mod play;
mod premises;
mod record;
mod report;
mod script;
mod seen;
mod survey;
mod trial;
mod verify;
mod world;

pub use assumption::{Assumption, Sort};
pub use checkout::{Checkout, CheckoutError};
pub use error::RehearseError;
pub use limits::Limits;
pub use play::{Rehearsal, rehearse};
pub use premises::Premises;
pub use record::{RecordError, record};
pub use report::{
    ApplicationReport, Ending, MassDeletion, Note, Place, Report, SetReport, Step, StepKind, Unrehearsed,
    Verdict,
};
pub use script::{Overlay, Script};
pub use trial::{Attempt, Complaint, Trial};
pub use verify::{Comparison, Verification};
pub use world::{Call, Hand, World};
