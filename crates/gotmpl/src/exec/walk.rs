//! Goes through the nodes of a template and prints.

use std::sync::Arc;

use super::state::{At, Eval};
use super::{Dynamic, State};
use crate::parse::{Branch, Node, Pipe};
use crate::stack::deep;
use crate::{Str, Value, format};

/// About how many bytes are noted of each piece that is printed while a render is traced.
const NOTE: usize = 160;

/// What comes after a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
}

impl<'t> State<'t, '_, '_> {
    pub(super) fn list(&mut self, dot: &Dynamic, nodes: &'t [Node]) -> Eval<Flow> {
        for node in nodes {
            self.at = At::Node(node);
            self.step()?;
            match node {
                Node::Text { at, end } => {
                    let tree = self.tree;
                    let start = self.context.out.len();
                    self.print(&tree.source.text[*at..*end])?;
                    self.trace_text(*at, start);
                }
                Node::Action { at, pipe } => {
                    if !self.print_quickly(dot, node, pipe)? {
                        let value = self.pipeline(dot, pipe)?;
                        if pipe.variables.is_empty() {
                            self.at = At::Node(node);
                            self.print_value(&value, *at)?;
                        }
                    }
                }
                _ => {
                    let flow = self.block(dot, node)?;
                    if flow != Flow::Next {
                        return Ok(flow);
                    }
                }
            }
        }
        Ok(Flow::Next)
    }

    /// Executes a node that is neither a text nor an action.
    fn block(&mut self, dot: &Dynamic, node: &'t Node) -> Eval<Flow> {
        match node {
            Node::If(branch) => return deep(|| self.branch(dot, branch, false)),
            Node::With(branch) => return deep(|| self.branch(dot, branch, true)),
            Node::Range(branch) => return deep(|| self.range(dot, branch)),
            Node::Template { at, name, pipe } => self.template(dot, name, pipe.as_deref(), *at)?,
            Node::Break { .. } => return Ok(Flow::Break),
            Node::Continue { .. } => return Ok(Flow::Continue),
            Node::Text { .. } | Node::Action { .. } => {}
        }
        Ok(Flow::Next)
    }

    #[inline]
    fn print(&mut self, text: &str) -> Eval<()> {
        let notes = if self.context.recorder.is_some() { NOTE } else { 0 };
        self.charge(text.len() + notes)?;
        self.context.out.push_str(text);
        Ok(())
    }

    fn print_value(&mut self, value: &Dynamic, at: usize) -> Eval<()> {
        let start = self.context.out.len();
        if let Value::Str(text) = &value.value {
            self.print(text)?;
        } else {
            let Ok(text) = format::shown(&value.value, self.context.room()) else {
                let failure = self.context.too_long();
                return Err(self.limited(&failure));
            };
            self.print(&text)?;
        }
        self.trace_value(value, at, start);
        Ok(())
    }

    /// `if` and `with`, which differ in what dot is inside.
    fn branch(&mut self, dot: &Dynamic, branch: &'t Branch, with: bool) -> Eval<Flow> {
        let known = self.variables.len();
        let value = self.pipeline(dot, &branch.pipe)?;
        let guard = self.trace_guard(value.origin);
        let flow = if value.value.truth() {
            self.list(if with { &value } else { dot }, &branch.body)
        } else {
            branch.otherwise.as_ref().map_or(Ok(Flow::Next), |nodes| self.list(dot, nodes))
        };
        self.variables.truncate(known);
        self.guard = guard;
        flow
    }

    fn template(&mut self, dot: &Dynamic, name: &Str, pipe: Option<&'t Pipe>, at: usize) -> Eval<()> {
        let Some(tree) = self.context.templates.lookup(name).map(Arc::clone) else {
            return self.error(format!("template {} not defined", format::quote::double(name)));
        };
        self.check_depth()?;
        let dot = match pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Dynamic::invalid(),
        };
        self.descend(&tree, dot, at)
    }

    fn range(&mut self, dot: &Dynamic, branch: &'t Branch) -> Eval<Flow> {
        let known = self.variables.len();
        let over = self.pipeline(dot, &branch.pipe)?;
        let guard = self.trace_guard(over.origin);
        let flow = self.iterate(&over, branch);
        let flow = match flow? {
            Some(Flow::Break) => Ok(Flow::Next),
            Some(flow) => Ok(flow),
            None => branch.otherwise.as_ref().map_or(Ok(Flow::Next), |nodes| self.list(dot, nodes)),
        };
        self.variables.truncate(known);
        self.guard = guard;
        flow
    }

    /// Runs the body for each element; gives nothing if there was none.
    fn iterate(&mut self, over: &Dynamic, branch: &'t Branch) -> Eval<Option<Flow>> {
        match &over.value.underlying() {
            Value::Nil => Ok(None),
            Value::Int(count, int) => {
                if branch.pipe.variables.len() > 1 {
                    let number =
                        if int.is_signed() { count.to_string() } else { count.cast_unsigned().to_string() };
                    return self.error(format!("can't use {number} to iterate over more than one variable"));
                }
                let end =
                    if int.is_signed() { u64::try_from(*count).unwrap_or(0) } else { count.cast_unsigned() };
                let numbers = (0..end).map(|at| (Dynamic::invalid(), Value::Int(at.cast_signed(), *int)));
                self.elements(over, numbers.map(|(key, value)| (key, Dynamic::concrete(value))), branch)
            }
            Value::List(list) => {
                let element = list.element();
                let items = (0..list.len()).map_while(|at| Some((at, list.get(at)?)));
                let items = items
                    .map(|(at, item)| (Dynamic::concrete(Value::from(at)), Dynamic::of_type(item, element)));
                self.elements(over, items, branch)
            }
            Value::Map(map) => {
                let element = map.element();
                let items = map.entries().into_iter();
                let items = items.map(|(key, value)| {
                    (Dynamic::concrete(Value::Str(key)), Dynamic::of_type(value, element))
                });
                self.elements(over, items, branch)
            }
            other => {
                let shown = format::shown(other, self.context.room()).unwrap_or_default();
                self.error(format!("range can't iterate over {shown}"))
            }
        }
    }

    fn elements(
        &mut self,
        over: &Dynamic,
        items: impl Iterator<Item = (Dynamic, Dynamic)>,
        branch: &'t Branch,
    ) -> Eval<Option<Flow>> {
        let known = self.variables.len();
        let mut flow = None;
        for (key, value) in items {
            self.step()?;
            let (key, value) = self.trace_element(over, key, value);
            self.set_range_variables(&branch.pipe, key, &value)?;
            let after = self.list(&value, &branch.body)?;
            self.variables.truncate(known);
            flow = Some(Flow::Next);
            if after == Flow::Break {
                return Ok(Some(Flow::Break));
            }
        }
        Ok(flow)
    }

    /// With two variables the key comes first; a single one is the element.
    fn set_range_variables(&mut self, pipe: &'t Pipe, key: Dynamic, value: &Dynamic) -> Eval<()> {
        match (pipe.variables.as_slice(), pipe.assign) {
            ([], _) => {}
            ([one], true) => self.set_variable(one, value.clone())?,
            ([first, second, ..], true) => {
                self.set_variable(first, key)?;
                self.set_variable(second, value.clone())?;
            }
            (variables, false) => {
                self.set_top_variable(1, value.clone());
                if variables.len() > 1 {
                    self.set_top_variable(2, key);
                }
            }
        }
        Ok(())
    }
}
