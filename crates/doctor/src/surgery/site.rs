//! The place of a step in the text, and whether anything else depends on it.

use lynceus_object::{FieldPath, Segment};

use super::anatomy::{Kind, Node};
use super::error::Problem;
use super::page::Page;

/// A node and where it hangs.
pub(super) struct Site<'n> {
    pub(super) node: &'n Node,
    pub(super) slot: Slot,
    /// What it is in, the outermost first, with its position there.
    pub(super) around: Vec<(&'n Node, usize)>,
}

/// What a value hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Root,
    /// The colon of a key in this column; `after` is just behind it.
    Key {
        after: usize,
        column: usize,
    },
    /// A dash in this column; `after` is just behind it.
    Dash {
        after: usize,
        column: usize,
    },
    /// Something in braces or brackets. Whether there is a colon, or none is needed.
    Flow {
        after: usize,
        has_colon: bool,
    },
}

/// A step did not find its way; how far it came, and why.
pub(super) struct Lost {
    pub(super) pos: usize,
    pub(super) problem: Problem,
}

/// Finds the node at a path of fields and positions.
pub(super) fn find<'n>(page: &Page<'_>, root: &'n Node, path: &FieldPath) -> Result<Site<'n>, Lost> {
    let mut site = Site { node: root, slot: Slot::Root, around: Vec::new() };
    for segment in path.segments() {
        let lost = |problem| Lost { pos: site.node.body, problem };
        let (position, value, slot) = child(page, site.node, segment).map_err(lost)?;
        site.around.push((site.node, position));
        site.node = value;
        site.slot = slot;
    }
    Ok(site)
}

fn child<'n>(page: &Page<'_>, node: &'n Node, segment: &Segment) -> Result<(usize, &'n Node, Slot), Problem> {
    let column = page.column(node.body);
    match (&node.kind, segment) {
        (Kind::Alias(name), _) => Err(Problem::Alias(name.clone())),
        (Kind::Map { flow, .. }, Segment::Field(name)) => {
            let missing = if node.merges() { Problem::Merged } else { Problem::Layout };
            let (position, entry) = node.field(name).ok_or(missing)?;
            let slot = match flow {
                true => Slot::Flow { after: entry.after, has_colon: entry.has_colon },
                false => Slot::Key { after: entry.after, column },
            };
            Ok((position, &entry.value, slot))
        }
        (Kind::Seq { flow, items }, Segment::Index(index)) => {
            let item = items.get(*index).ok_or(Problem::Layout)?;
            let slot = match flow {
                true => Slot::Flow { after: item.after, has_colon: true },
                false => Slot::Dash { after: item.after, column },
            };
            Ok((*index, &item.value, slot))
        }
        _ => Err(Problem::Layout),
    }
}

impl Site<'_> {
    /// Refuses a change that would count elsewhere too. What is at the site goes, with all that is in it, or stays and has
    /// something added.
    pub(super) fn is_alone(&self, root: &Node, goes: bool) -> Result<(), Problem> {
        let stays = if goes { None } else { Some(self.node) };
        let kept: Vec<&str> = self
            .around
            .iter()
            .map(|(node, _)| *node)
            .chain(stays)
            .filter_map(|node| node.anchor.as_deref())
            .collect();
        let mut lost = Vec::new();
        if goes {
            self.node.visit(&mut |node| lost.extend(node.anchor.as_deref()));
        }
        let gone = if goes { self.node.start..self.node.end } else { 0..0 };
        let mut shared = None;
        root.visit(&mut |node| {
            if let Kind::Alias(name) = &node.kind {
                let is_lost = lost.contains(&name.as_str()) && !gone.contains(&node.start);
                if kept.contains(&name.as_str()) || is_lost {
                    shared = Some(name.clone());
                }
            }
        });
        shared.map_or(Ok(()), |name| Err(Problem::Shared(name)))
    }
}
