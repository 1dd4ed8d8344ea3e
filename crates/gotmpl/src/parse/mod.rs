//! From text to trees.

mod lexer;
mod number;
mod parser;
mod pipeline;
mod token;
mod tree;

pub(crate) use lexer::Delims;
pub(crate) use parser::parse;
pub use tree::Tree;
pub(crate) use tree::{Arg, Branch, Callee, Command, Node, Number, Pipe, Source, Symbol, Term, Variable};
