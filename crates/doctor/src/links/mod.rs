//! What waits for what: one file for each sort of relation.

mod application;
mod claim;
pub(crate) mod class;
mod controller;
mod deletion;
pub(crate) mod kind;
pub(crate) mod missing;
pub(crate) mod namespace;
pub(crate) mod origin;
pub(crate) mod produced;
mod provisioner;
pub(crate) mod reference;
pub(crate) mod route;
pub(crate) mod service;
pub(crate) mod store;
mod workload;

use crate::case::Case;
use crate::graph::Graph;

/// Draws everything that waits for something.
pub(crate) fn link(case: &Case<'_>, graph: &mut Graph) {
    application::link(case, graph);
    for server in case.servers() {
        workload::link(case, server, graph);
        claim::link(case, server, graph);
        controller::link(case, server, graph);
        deletion::link(case, server, graph);
        provisioner::link(case, server, graph);
        store::link(case, server, graph);
        reference::link(case, server, graph);
        service::link(case, server, graph);
    }
    missing::link(case, graph);
    class::link(case, graph);
    route::link(case, graph);
    produced::link(case, graph);
    kind::link(case, graph);
    namespace::link(case, graph);
}
