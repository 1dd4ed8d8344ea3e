//! The text of `--set` and its like, character by character.

use lynceus_object::{Seq, Value};

use crate::go::text;
use crate::limits;

/// What ends the reading of a text: its end, or something wrong in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The end, where it may be. What is wrapped around it is ignored, as in Helm.
    End,
    Error(String),
}

pub(super) struct Scanner<'a> {
    rest: &'a str,
    /// How many empty places the text has made in lists.
    gaps: usize,
    /// How many lists the name that is being read has led into.
    lists: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Scanner { rest: text, gaps: 0, lists: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let char = self.rest.chars().next()?;
        self.advance(char.len_utf8());
        Some(char)
    }

    /// Takes a character if it is this one.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        let taken = self.rest.starts_with(wanted);
        if taken {
            self.advance(wanted.len_utf8());
        }
        taken
    }

    /// What stands before the first of some characters, and which one that is; none at the end of the text.
    /// A backslash takes the meaning from the next character.
    pub(super) fn until(&mut self, stops: &[char], escapes: bool) -> (String, Option<char>) {
        let mut read = String::new();
        while let Some(char) = self.next() {
            if stops.contains(&char) {
                return (read, Some(char));
            }
            if escapes && char == '\\' {
                match self.next() {
                    Some(next) => read.push(next),
                    None => return (read, None),
                }
            } else {
                read.push(char);
            }
        }
        (read, None)
    }

    /// Begins a name.
    pub(super) fn begin(&mut self) {
        self.lists = 0;
    }

    /// Goes into a list, which a name may do only so often.
    pub(super) fn enter_list(&mut self) -> Result<(), Stop> {
        self.lists += 1;
        let most = limits::MAX_SET_LISTS;
        if self.lists > most {
            return Err(Stop::Error(format!("a name leads into more than {most} lists")));
        }
        Ok(())
    }

    /// Sets an item of a list, which grows for it.
    pub(super) fn set_item(&mut self, list: &mut Seq, index: i64, value: Value) -> Result<(), Stop> {
        let index = check_index(index)?;
        self.gaps += index.saturating_sub(list.len());
        if self.gaps > limits::MAX_SET_GAPS {
            return Err(Stop::Error(format!("more than {} items are left out", limits::MAX_SET_GAPS)));
        }
        while list.len() <= index {
            list.push(Value::Null);
        }
        list.make_mut()[index] = value;
        Ok(())
    }

    /// The number of an index, up to its bracket.
    pub(super) fn index(&mut self, escapes: bool) -> Result<i64, Stop> {
        let (digits, stop) = self.until(&[']'], escapes);
        if stop.is_none() {
            return Err(Stop::End);
        }
        let wrong = |what: &str| {
            Stop::Error(format!(
                "error parsing index: strconv.Atoi: parsing {}: {what}",
                text::quote(&digits)
            ))
        };
        digits.parse::<i64>().map_err(|error| match error.kind() {
            std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                wrong("value out of range")
            }
            _ => wrong("invalid syntax"),
        })
    }
}

/// Whether a list may have this index.
pub(super) fn check_index(index: i64) -> Result<usize, Stop> {
    if index < 0 {
        return Err(Stop::Error(format!("negative {index} index not allowed")));
    }
    if index > limits::MAX_SET_INDEX {
        let most = limits::MAX_SET_INDEX;
        return Err(Stop::Error(format!(
            "index of {index} is greater than maximum supported index of {most}"
        )));
    }
    Ok(index as usize)
}

/// Whether a name may have this many levels.
pub(super) fn check_levels(levels: usize) -> Result<(), Stop> {
    let most = limits::MAX_SET_LEVELS;
    if levels > most {
        return Err(Stop::Error(format!(
            "value name nested level is greater than maximum supported nested level of {most}"
        )));
    }
    Ok(())
}
