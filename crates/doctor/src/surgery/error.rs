//! Why a change cannot be made in the text.

use lynceus_files::FilePath;
use lynceus_object::FieldPath;

/// A change that cannot be made by text alone. Nothing has been changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{} cannot be changed in {file}{}: {problem}", subject(.field), place(*.line))]
pub struct SurgeryError {
    /// The file.
    pub file: FilePath,
    /// The line, from 1, where a person has to look; 0 if there is none.
    pub line: u32,
    /// The field of the change; the root if it is about a whole document or a line.
    pub field: FieldPath,
    /// What is in the way.
    pub problem: Problem,
}

/// What is in the way of a change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file is a Helm template.
    #[error(
        "the file has template actions ({{{{ }}}}) in it, so that it is not YAML; edit the template by hand"
    )]
    Template,
    /// The document cannot be read.
    #[error("document {document} cannot be read: {reason}")]
    Broken {
        /// Which one, from 1, as people count.
        document: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// There are not as many documents.
    #[error("there is no document {document}; the file has {count}")]
    NoDocument {
        /// Which one, from 1, as people count.
        document: usize,
        /// How many there are.
        count: usize,
    },
    /// There is nothing to remove.
    #[error("there is no such field")]
    Missing,
    /// A step of the path, or the change, needs something else there.
    #[error("{at} is of type {found}, where a {wanted} is needed")]
    Unfit {
        /// What is there, by its path.
        at: String,
        /// Its type.
        found: &'static str,
        /// `map` or `list`.
        wanted: &'static str,
    },
    /// An item would leave a gap in its list.
    #[error("{at} has {len} items, so that there can be no item {index}")]
    Beyond {
        /// The list, by its path.
        at: String,
        /// How many items it has.
        len: usize,
        /// Which was asked for, from 0.
        index: usize,
    },
    /// A list has no item of a given value.
    #[error("{at} has no item {item}")]
    NoItem {
        /// The list, by its path.
        at: String,
        /// The item.
        item: String,
    },
    /// What would be changed is written elsewhere.
    #[error(
        "it is inside of *{0}, which stands for what is written at &{0}; change it there, or write it out here"
    )]
    Alias(String),
    /// What would be changed counts elsewhere too.
    #[error("it belongs to &{0}, and *{0} repeats that elsewhere; change both by hand")]
    Shared(String),
    /// What would be changed comes from another map.
    #[error("it comes from another map by the merge key <<; change it there")]
    Merged,
    /// The key is there more than once.
    #[error("the key is given more than once; remove all but the last by hand")]
    Duplicate,
    /// A document is not removed as a field is.
    #[error("a whole document is removed as one, not as a field")]
    Root,
    /// The text is written in a way that the surgeon does not know.
    #[error("the text is written in a way that cannot be changed safely; edit it by hand")]
    Layout,
    /// The text that would come of it says something else.
    #[error("the changed text would not say what was asked for; edit it by hand")]
    Check,
    /// Only a text can stand there.
    #[error("only a single text can be set there")]
    Shape,
    /// Only a part of the text comes from there.
    #[error("only what is between {before:?} and {after:?} comes from there")]
    Foreign {
        /// What comes before it.
        before: String,
        /// What comes after it.
        after: String,
    },
    /// There are not as many lines.
    #[error("the file has no line {0}")]
    NoLine(u32),
    /// The line is something else.
    #[error("the line is not a single \"{0}: value\"")]
    OtherLine(String),
    /// The line has template actions in it.
    #[error("the line has a template action in it")]
    Action,
    /// The value may go on below.
    #[error("what stands below may belong to the value")]
    GoesOn,
}

impl Problem {
    /// Whether it may only be in the way of changing a part of a value.
    pub(super) fn is_partial(&self) -> bool {
        matches!(self, Problem::Alias(_) | Problem::Merged | Problem::Check)
    }
}

fn subject(field: &FieldPath) -> String {
    if field.is_root() { "the document".to_owned() } else { field.to_string() }
}

fn place(line: u32) -> String {
    if line > 0 { format!(":{line}") } else { String::new() }
}
