//! Why a template cannot be read or evaluated, in the words of the original.

use crate::limits;

/// Why a template cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// An action has no closing brace, or a line ends in it.
    #[error("unclosed action")]
    UnclosedAction,
    /// Nothing in an action begins with this character.
    #[error("unrecognized character in action: {}", code_point(*.0))]
    Character(char),
    /// These signs, digits and dots are no number.
    #[error("cannot parse number {0}")]
    Number(String),
    /// `....`
    #[error("invalid multiple recursive descent")]
    RepeatedDescent,
    /// `[` without `]`
    #[error("unterminated array")]
    UnterminatedArray,
    /// What is in the brackets is neither a key nor an index nor a slice.
    #[error("invalid array index {0}")]
    Index(String),
    /// A part of a slice is a sign alone or too large.
    #[error("array index {0} is not a number")]
    IndexNumber(String),
    /// `[?(` without `)`
    #[error("unterminated filter")]
    UnterminatedFilter,
    /// Something other than `]` follows a filter's `)`.
    #[error("unclosed array expect ]")]
    UnclosedFilter,
    /// A quote without its pair.
    #[error("unterminated quoted string")]
    UnterminatedQuote,
    /// An escape that is none.
    #[error("unquote string {0} error invalid syntax")]
    Quote(String),
    /// More filters and unions inside each other than [`limits::JSONPATH_DEPTH`].
    #[error("filters and unions nest more than {} deep", limits::JSONPATH_DEPTH)]
    TooDeep,
}

/// Why a template cannot be evaluated on a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No value has this field.
    #[error("{0} is not found")]
    MissingKey(String),
    /// An index on something else than a list.
    #[error("{0} is not array or slice")]
    NotAList(&'static str),
    /// A filter on something else than a list.
    #[error("{0} is not array or slice and cannot be filtered")]
    NotFilterable(String),
    /// An index outside of its list.
    #[error("array index out of bounds: index {index}, length {length}")]
    OutOfBounds {
        /// The index, counted from the front.
        index: i64,
        /// How long the list is.
        length: usize,
    },
    /// A slice that ends before it begins.
    #[error("starting index {start} is greater than ending index {end}")]
    Backwards {
        /// The first index.
        start: i64,
        /// The index after the last one.
        end: i64,
    },
    /// A slice with a step of 0 or less.
    #[error("step must be > 0")]
    Step,
    /// A side of a comparison leads to several values.
    #[error("can only compare one element at a time")]
    SeveralElements,
    /// A comparison of kinds that cannot be compared at all.
    #[error("invalid type for comparison")]
    Incomparable,
    /// A comparison of two kinds that cannot be compared with each other.
    #[error("incompatible types for comparison")]
    Incompatible,
    /// A comparison with, for example, `=`.
    #[error("unrecognized filter operator {0}")]
    Operator(String),
    /// `{end}` without a range before it.
    #[error("not in range, nothing to end")]
    NothingToEnd,
    /// A word that means nothing.
    #[error("unrecognized identifier {0}")]
    Word(String),
    /// More ranges inside each other than [`limits::JSONPATH_DEPTH`].
    #[error("ranges nest more than {} deep", limits::JSONPATH_DEPTH)]
    TooDeep,
    /// More values on the way than [`limits::JSONPATH_VALUES`].
    #[error("the template leads through more than {} values", limits::JSONPATH_VALUES)]
    TooMany,
}

/// A character as Go's `%#U` shows it: with its number, and itself if it can be seen.
fn code_point(char: char) -> String {
    let number = u32::from(char);
    if is_visible(char) { format!("U+{number:04X} '{char}'") } else { format!("U+{number:04X}") }
}

/// The standard library knows what can be seen, but tells it only by escaping what cannot.
/// The letter in front is for combining characters, which are escaped where they stand first.
fn is_visible(char: char) -> bool {
    matches!(char, '"' | '\'' | '\\') || String::from_iter(['a', char]).escape_debug().count() == 2
}
