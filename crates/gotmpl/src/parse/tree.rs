//! The parsed form of a template.

use std::fmt::{self, Display as _, Write as _};
use std::sync::Arc;

use crate::format::quote;
use crate::{Function, Location, Str};

/// One parsed template: a file, or a definition inside one.
pub struct Tree {
    /// The name that it is called by.
    pub(crate) name: Str,
    /// The text that it is part of.
    pub(crate) source: Arc<Source>,
    /// Shared by all templates that are the same text under several names.
    pub(crate) root: Arc<Vec<Node>>,
}

/// A text with templates.
pub(crate) struct Source {
    /// The name under which it was parsed.
    pub(crate) name: Str,
    pub(crate) text: Str,
}

impl Source {
    /// The place of a byte of the text.
    pub(crate) fn location(&self, at: usize) -> Location {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Location { name: self.name.to_string(), line, column: Some(at - line_start) }
    }
}

impl Node {
    /// Where it is in the source.
    pub(crate) fn at(&self) -> usize {
        match self {
            Self::Text { at, .. }
            | Self::Action { at, .. }
            | Self::Template { at, .. }
            | Self::Break { at }
            | Self::Continue { at } => *at,
            Self::If(branch) | Self::Range(branch) | Self::With(branch) => branch.pipe.at,
        }
    }
}

impl Tree {
    pub(crate) fn empty(name: &Str) -> Self {
        let source = Arc::new(Source { name: name.clone(), text: Str::new() });
        Self { name: name.clone(), source, root: Arc::default() }
    }

    /// The name that the template is called by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether there is nothing but spaces: such a definition does not replace another.
    pub fn is_empty(&self) -> bool {
        self.root.iter().all(|node| match *node {
            Node::Text { at, end } => self.source.text[at..end].trim().is_empty(),
            _ => false,
        })
    }
}

/// Most of them are texts and actions. The others are kept elsewhere, so that the nodes of a template lie close together:
/// a rendering goes through most of them once, and waits for memory as long as it works.
pub(crate) enum Node {
    /// The text between two places of the source.
    Text {
        at: usize,
        end: usize,
    },
    Action {
        at: usize,
        pipe: Pipe,
    },
    If(Box<Branch>),
    Range(Box<Branch>),
    With(Box<Branch>),
    Template {
        at: usize,
        name: Str,
        pipe: Option<Box<Pipe>>,
    },
    Break {
        at: usize,
    },
    Continue {
        at: usize,
    },
}

pub(crate) struct Branch {
    pub(crate) pipe: Pipe,
    pub(crate) body: Vec<Node>,
    pub(crate) otherwise: Option<Vec<Node>>,
}

pub(crate) struct Pipe {
    pub(crate) at: usize,
    /// The variables that are declared or, if `assign`, set.
    pub(crate) variables: Vec<Variable>,
    pub(crate) assign: bool,
    pub(crate) commands: Vec<Command>,
}

/// A variable as a template names it.
#[derive(Clone)]
pub(crate) struct Variable {
    /// With its `$`.
    pub(crate) name: Str,
    pub(crate) symbol: Symbol,
}

/// What stands for a name in the text that it is part of: to compare two is to compare numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symbol(pub(crate) u32);

impl Symbol {
    /// The variable that holds what a template was given.
    pub(crate) const DOLLAR: Self = Self(0);
}

pub(crate) struct Command {
    pub(crate) at: usize,
    pub(crate) args: Vec<Arg>,
}

pub(crate) struct Arg {
    pub(crate) at: usize,
    pub(crate) term: Term,
}

pub(crate) enum Term {
    Bool(bool),
    Dot,
    Nil,
    Number(Box<Number>),
    Str { quoted: Str, text: Str },
    Field(Box<[Str]>),
    Variable { variable: Variable, fields: Box<[Str]> },
    Function { name: Str, call: Callee },
    Pipe(Box<Pipe>),
    Chain { on: Box<Arg>, fields: Box<[Str]> },
}

/// What a name calls.
pub(crate) enum Callee {
    Builtin(crate::builtin::Builtin),
    Function(Arc<Function>),
}

/// A number constant: everything that its syntax allows it to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Number {
    pub(crate) text: Str,
    pub(crate) int: Option<i64>,
    pub(crate) uint: Option<u64>,
    pub(crate) float: Option<f64>,
    pub(crate) complex: Option<(f64, f64)>,
}

impl fmt::Display for Node {
    /// As errors show it; what stands inside of a block is not part of that.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { .. } => Ok(()),
            Self::Action { pipe, .. } => write!(f, "{{{{{pipe}}}}}"),
            Self::If(branch) => write!(f, "{{{{if {}}}}}", branch.pipe),
            Self::Range(branch) => write!(f, "{{{{range {}}}}}", branch.pipe),
            Self::With(branch) => write!(f, "{{{{with {}}}}}", branch.pipe),
            Self::Template { name, pipe, .. } => {
                write!(f, "{{{{template {}", quote::double(name))?;
                if let Some(pipe) = pipe {
                    write!(f, " {pipe}")?;
                }
                f.write_str("}}")
            }
            Self::Break { .. } => f.write_str("{{break}}"),
            Self::Continue { .. } => f.write_str("{{continue}}"),
        }
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.variables.is_empty() {
            let sign = if self.assign { "=" } else { ":=" };
            let names: Vec<&str> = self.variables.iter().map(|variable| variable.name.as_str()).collect();
            write!(f, "{} {sign} ", names.join(", "))?;
        }
        for (at, command) in self.commands.iter().enumerate() {
            if at > 0 {
                f.write_str(" | ")?;
            }
            command.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, arg) in self.args.iter().enumerate() {
            if at > 0 {
                f.write_char(' ')?;
            }
            arg.write_in_parens(f)?;
        }
        Ok(())
    }
}

impl Arg {
    fn write_in_parens(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.term {
            Term::Pipe(pipe) => write!(f, "({pipe})"),
            _ => self.fmt(f),
        }
    }
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields: &[Str] = &[];
        match &self.term {
            Term::Bool(value) => write!(f, "{value}")?,
            Term::Dot => f.write_char('.')?,
            Term::Nil => f.write_str("nil")?,
            Term::Number(number) => f.write_str(&number.text)?,
            Term::Str { quoted, .. } => f.write_str(quoted)?,
            Term::Function { name, .. } => f.write_str(name)?,
            Term::Pipe(pipe) => pipe.fmt(f)?,
            Term::Field(names) => fields = names,
            Term::Variable { variable, fields: names } => {
                f.write_str(&variable.name)?;
                fields = names;
            }
            Term::Chain { on, fields: names } => {
                on.write_in_parens(f)?;
                fields = names;
            }
        }
        fields.iter().try_for_each(|field| write!(f, ".{field}"))
    }
}
