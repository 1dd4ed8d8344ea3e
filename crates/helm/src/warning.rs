//! What Helm says on the way, beside its output.

use std::fmt;

use crate::go::text;

/// How much it matters to Helm. What its older code prints is all of the first kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Something to know.
    Info,
    /// Something that may not be meant.
    Warn,
    /// Why Helm goes no further.
    Error,
}

/// Something that Helm says on the way.
///
/// Its text form is for people; [`Warning::line`] is the line that Helm writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// How much it matters.
    pub level: Level,
    /// What is said.
    pub message: String,
    /// What it is about, by name.
    pub about: Vec<(&'static str, String)>,
}

impl Warning {
    /// Something to know.
    pub(crate) fn info(message: impl Into<String>) -> Self {
        Warning { level: Level::Info, message: message.into(), about: Vec::new() }
    }

    /// Something that may not be meant.
    pub fn warn(message: impl Into<String>) -> Self {
        Warning { level: Level::Warn, ..Warning::info(message) }
    }

    /// Why Helm goes no further.
    pub fn error(message: impl Into<String>) -> Self {
        Warning { level: Level::Error, ..Warning::info(message) }
    }

    /// The same with something that it is about.
    #[must_use]
    pub fn about(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.about.push((name, value.into()));
        self
    }

    /// The line that Helm writes to its standard error, without a break at its end.
    pub fn line(&self) -> String {
        let level = match self.level {
            Level::Info => "INFO",
            Level::Warn => "WARN",
            Level::Error => "ERROR",
        };
        let mut line = format!("level={level} msg={}", quoted_if_needed(&self.message));
        for (name, value) in &self.about {
            line.push_str(&format!(" {name}={}", quoted_if_needed(value)));
        }
        line
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.about.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

/// A word as Go's log writes it: in quotes only if it could be read otherwise.
fn quoted_if_needed(word: &str) -> String {
    let is_plain = |char: char| match char {
        ' ' | '=' | '"' => false,
        char if char.is_ascii() => char >= ' ',
        char => text::is_print(char) && char != char::REPLACEMENT_CHARACTER,
    };
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { text::quote(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_gos_log_writes() {
        let line = |warning: Warning| warning.line();
        assert_eq!(line(Warning::info("no")), "level=INFO msg=no");
        assert_eq!(
            line(Warning::warn("").about("a", r"x\y").about("b", "é")),
            r#"level=WARN msg="" a=x\y b=é"#
        );
        assert_eq!(
            line(Warning::error("two words").about("error", "\"exports\" is not a table\n")),
            r#"level=ERROR msg="two words" error="\"exports\" is not a table\n""#
        );
    }

    #[test]
    fn people_are_told_without_signs() {
        let warning = Warning::warn("returned non-bool value").about("tag", "t").about("chart", "c");
        assert_eq!(warning.to_string(), "returned non-bool value tag=t chart=c");
    }
}
