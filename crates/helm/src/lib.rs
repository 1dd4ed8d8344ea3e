//! Charts rendered as Helm renders them: chart, values and capabilities to manifests, hooks and notes.
//!
//! Nothing here reads a file, a clock or the network. A loaded [`Chart`] can be shared between threads and
//! rendered any number of times.

mod capabilities;
mod chart;
mod dependencies;
mod engine;
mod error;
mod go;
pub mod limits;
mod lint;
mod manifest;
mod name;
mod output;
mod pack;
mod provenance;
mod render;
pub mod resolve;
mod schema;
mod show;
mod values;
mod warning;

pub use capabilities::{Capabilities, HelmVersion, KubeVersion};
pub use chart::{Chart, ChartError, ChartFile, Dependency, Lock, Maintainer, Metadata};
pub use engine::{Lookup, RenderError, World};
pub use error::{HelmError, InstallError};
pub use lint::{Finding, LintOptions, Severity, lint};
pub use manifest::{Hook, Manifest, ManifestError};
pub use name::{Variable, release_name};
pub use output::Output;
pub use pack::{PackError, archive_name, pack};
pub use provenance::{Explanation, Fed, Place, Traces};
pub use render::{Crd, Options, Release, Rendering, render, render_traced};
pub use schema::SchemaError;
pub use show::{Show, ShowError, show};
pub use values::{Origin, UserValues, ValueOptions, ValuesError, ValuesFile};
pub use warning::{Level, Warning};
