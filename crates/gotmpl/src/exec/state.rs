//! The state of one template that is being executed.

use std::fmt;
use std::sync::Arc;

use super::Dynamic;
use crate::parse::{Arg, Command, Node, Pipe, Symbol, Tree, Variable};
use crate::stack::deep;
use crate::trace::Origin;
use crate::{Context, Error, ErrorKind, Failure, Location};

pub(super) type Eval<T> = Result<T, Box<Error>>;

/// The part of a template that is being evaluated: errors name it.
#[derive(Clone, Copy)]
pub(super) enum At<'t> {
    Start,
    Node(&'t Node),
    Pipe(&'t Pipe),
    Command(&'t Command),
    Arg(&'t Arg),
}

impl At<'_> {
    pub(super) fn position(self) -> Option<usize> {
        match self {
            At::Start => None,
            At::Node(node) => Some(node.at()),
            At::Pipe(pipe) => Some(pipe.at),
            At::Command(command) => Some(command.at),
            At::Arg(arg) => Some(arg.at),
        }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Start => Ok(()),
            At::Node(node) => node.fmt(f),
            At::Pipe(pipe) => pipe.fmt(f),
            At::Command(command) => command.fmt(f),
            At::Arg(arg) => arg.fmt(f),
        }
    }
}

/// One template that is being executed. Templates that it calls have states of their own.
pub(crate) struct State<'t, 'c, 'e> {
    pub(super) tree: &'t Tree,
    pub(super) at: At<'t>,
    pub(super) variables: Vec<(Symbol, Dynamic)>,
    pub(super) context: &'c mut Context<'e>,
    /// The values that decided that this part is reached, if the render is traced.
    pub(super) guard: Origin,
}

impl<'t> State<'t, '_, '_> {
    /// Executes a template; what it prints goes to the context.
    pub(crate) fn enter(context: &mut Context<'_>, tree: &Arc<Tree>, dot: Dynamic) -> Eval<()> {
        if let Some(kind) = context.too_deep() {
            return Err(Box::new(Error {
                template: tree.name.to_string(),
                location: None,
                action: String::new(),
                kind,
                calls: context.calls(),
            }));
        }
        context.enter(tree);
        let result = deep(|| {
            let mut variables = context.spare_variables.pop().unwrap_or_default();
            variables.push((Symbol::DOLLAR, dot.clone()));
            let mut state =
                State { tree, at: At::Start, variables, context: &mut *context, guard: Origin::NONE };
            let result = state.list(&dot, &tree.root).map(|_| ());
            let mut variables = state.variables;
            variables.clear();
            context.spare_variables.push(variables);
            result
        });
        context.leave();
        result
    }

    /// Executes a template that this one calls.
    pub(super) fn descend(&mut self, tree: &Arc<Tree>, dot: Dynamic, at: usize) -> Eval<()> {
        self.context.call_from(at, self.guard);
        State::enter(self.context, tree, dot)
    }

    pub(super) fn check_depth(&self) -> Eval<()> {
        self.context.too_deep().map_or(Ok(()), |kind| Err(self.failed(kind)))
    }

    /// Where the evaluation is.
    pub(super) fn location(&self) -> Option<Location> {
        self.at.position().map(|at| self.tree.source.location(at))
    }

    /// An error at the part that is being evaluated.
    #[cold]
    pub(super) fn failed(&self, kind: ErrorKind) -> Box<Error> {
        // The innermost error tells the calls; repeating them would take their number squared.
        let calls = if kind.cause().is_some() { Vec::new() } else { self.context.calls() };
        Box::new(Error {
            template: self.tree.name.to_string(),
            location: self.location(),
            action: deep(|| self.at.to_string()),
            kind,
            calls,
        })
    }

    #[cold]
    pub(super) fn error<T>(&self, message: impl Into<String>) -> Eval<T> {
        Err(self.failed(ErrorKind::Eval(message.into())))
    }

    /// Counts a step of the evaluation.
    #[inline]
    pub(super) fn step(&mut self) -> Eval<()> {
        self.context.step(1).map_err(|failure| self.limited(&failure))
    }

    /// Counts bytes that are about to be made.
    #[inline]
    pub(super) fn charge(&mut self, bytes: usize) -> Eval<()> {
        self.context.charge(bytes).map_err(|failure| self.limited(&failure))
    }

    /// The error of a budget that is used up.
    #[cold]
    pub(super) fn limited(&self, failure: &Failure) -> Box<Error> {
        self.failed(ErrorKind::Limit(failure.to_string()))
    }

    /// What a variable holds, if it is known here.
    #[inline]
    pub(super) fn known(&self, variable: &Variable) -> Option<&Dynamic> {
        let known = self.variables.iter().rev().find(|(symbol, _)| *symbol == variable.symbol);
        known.map(|(_, value)| value)
    }

    pub(super) fn variable(&self, variable: &Variable) -> Eval<Dynamic> {
        match self.known(variable) {
            Some(value) => Ok(value.clone()),
            None => self.error(format!("undefined variable: {}", variable.name)),
        }
    }

    pub(super) fn set_variable(&mut self, variable: &Variable, value: Dynamic) -> Eval<()> {
        match self.variables.iter_mut().rev().find(|(symbol, _)| *symbol == variable.symbol) {
            Some((_, old)) => *old = value,
            None => return self.error(format!("undefined variable: {}", variable.name)),
        }
        Ok(())
    }

    /// Sets the variable that was declared last, or one before it.
    pub(super) fn set_top_variable(&mut self, from_top: usize, value: Dynamic) {
        let at = self.variables.len().checked_sub(from_top);
        if let Some((_, old)) = at.and_then(|at| self.variables.get_mut(at)) {
            *old = value;
        }
    }
}
