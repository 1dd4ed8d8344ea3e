//! How line breaks inside a flow scalar become spaces.

/// The blanks and breaks between two words of a scalar.
#[derive(Default)]
pub(super) struct Gap<'a> {
    /// The first line break, unless it was escaped.
    first: Option<&'a str>,
    /// The line breaks after it.
    rest: String,
    /// Whether a line has ended at all.
    pub(super) broken: bool,
}

impl<'a> Gap<'a> {
    /// Adds a line break of the text.
    pub(super) fn add_break(&mut self, found: &'a str) {
        if self.broken {
            self.rest.push_str(found);
        } else {
            self.broken = true;
            self.first = Some(found);
        }
    }

    /// Adds a line break that the text hides behind a backslash.
    pub(super) fn add_escaped_break(&mut self) {
        self.broken = true;
    }

    /// Writes what the line breaks mean: one is a space, each further one is kept.
    pub(super) fn write(&self, out: &mut String) {
        match self.first {
            Some("\n") if self.rest.is_empty() => out.push(' '),
            Some("\n") => out.push_str(&self.rest),
            first => {
                out.push_str(first.unwrap_or_default());
                out.push_str(&self.rest);
            }
        }
    }
}
