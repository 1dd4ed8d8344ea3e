//! `lynceus app get --output tree`: resources and what they own, in columns.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lynceus_cluster::Node;
use lynceus_engine::{Checks, Look, health_of};
use lynceus_object::ObjectKey;

use super::context::Context;
use crate::exit::Outcome;
use crate::format;
use crate::table::Table;

/// The live resources of an application with everything below them, as `argocd` lays them out.
pub(crate) fn table(context: &Context, look: &Look, detailed: bool, now: Timestamp) -> Outcome<Table> {
    let header: &[&str] = match detailed {
        true => &["KIND/NAME", "STATUS", "HEALTH", "AGE", "MESSAGE", "REASON"],
        false => &["KIND/NAME", "STATUS", "HEALTH", "MESSAGE"],
    };
    let roots = look.changes.changes.iter().filter_map(|change| change.pair.live().cloned());
    let cluster = match look.cluster.as_deref() {
        Some(cluster) => cluster,
        None => context.cluster()?,
    };
    let nodes = lynceus_cluster::tree(cluster.cache(), roots);
    let mut children: BTreeMap<Option<ObjectKey>, Vec<&Node>> = BTreeMap::new();
    for node in &nodes {
        children.entry(node.parent.clone()).or_default().push(node);
    }
    let statuses = look.assessment.resources.iter().map(|resource| {
        let (group, kind) = (resource.group.clone(), resource.kind.clone());
        let key = ObjectKey::new(group, kind, resource.namespace.clone(), resource.name.clone());
        (key, resource.status.to_string())
    });
    let mut drawing = Drawing {
        table: Table::new(header),
        children,
        statuses: statuses.collect(),
        detailed,
        now,
        checks: Checks { children: true, ..context.engine()?.checks() },
    };
    for root in drawing.children.get(&None).cloned().unwrap_or_default() {
        drawing.draw(root, "", "");
    }
    Ok(drawing.table)
}

struct Drawing<'a> {
    table: Table,
    children: BTreeMap<Option<ObjectKey>, Vec<&'a Node>>,
    statuses: BTreeMap<ObjectKey, String>,
    detailed: bool,
    now: Timestamp,
    checks: Checks,
}

impl<'a> Drawing<'a> {
    /// Draws a node behind its branch, and its children behind what goes on below it.
    fn draw(&mut self, node: &'a Node, branch: &str, below: &str) {
        let object = &node.object;
        let health = health_of(Some(object), &self.checks);
        let (state, reason) =
            health.map(|health| (health.status.to_string(), health.message.to_string())).unwrap_or_default();
        let name = format!("{branch}{}/{}", object.kind(), object.name());
        let status = self.statuses.get(&object.key()).cloned().unwrap_or_default();
        let made = object.value().str_at(&["metadata", "creationTimestamp"]).unwrap_or_default();
        let age = made.parse::<Timestamp>().map(|made| format::duration(self.now.duration_since(made)));
        match self.detailed {
            true => {
                let age = age.unwrap_or_else(|_| "<unknown>".to_owned());
                self.table.row([name, status, state, age, String::new(), reason]);
            }
            false => self.table.row([name, status, state, reason]),
        }
        let nodes = self.children.get(&Some(object.key())).cloned().unwrap_or_default();
        for (place, node) in nodes.iter().enumerate() {
            let (branch, further) =
                if place + 1 == nodes.len() { ("└─", "  ") } else { ("├─", "│ ") };
            self.draw(node, &format!("{below}{branch}"), &format!("{below}{further}"));
        }
    }
}
