//! What stands between `%` and the verb, and what it does to a piece of text.

/// The flags, the width and the precision of one verb.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) minus: bool,
    pub(super) plus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    /// `%+v`
    pub(super) plus_v: bool,
    /// `%#v`
    pub(super) sharp_v: bool,
}

impl Flags {
    /// `%v` makes its own meaning of `+` and `#`.
    pub(super) fn for_value(&mut self) {
        self.sharp_v = std::mem::take(&mut self.sharp);
        self.plus_v = std::mem::take(&mut self.plus);
    }
}

/// Text that may not grow beyond a limit.
pub(super) struct Output {
    text: String,
    limit: usize,
    pub(super) full: bool,
}

impl Output {
    pub(super) fn new(limit: usize) -> Self {
        Self { text: String::new(), limit, full: false }
    }

    pub(super) fn push_str(&mut self, text: &str) {
        if text.len() > self.limit - self.text.len() {
            self.full = true;
        }
        if !self.full {
            self.text.push_str(text);
        }
    }

    pub(super) fn push(&mut self, c: char) {
        self.push_str(c.encode_utf8(&mut [0; 4]));
    }

    fn fill(&mut self, c: char, count: usize) {
        if count > self.limit - self.text.len() {
            self.full = true;
        }
        if !self.full {
            self.text.extend(std::iter::repeat_n(c, count));
        }
    }

    /// Fills up to the width with spaces or, if wanted, with zeros.
    pub(super) fn padding(&mut self, flags: Flags, count: usize) {
        self.fill(if flags.zero && !flags.minus { '0' } else { ' ' }, count);
    }

    /// Writes a text as wide as wanted.
    pub(super) fn pad(&mut self, flags: Flags, text: &str) {
        let missing = flags.width.unwrap_or(0);
        if missing == 0 {
            return self.push_str(text);
        }
        let missing = missing.saturating_sub(text.chars().count());
        if !flags.minus {
            self.padding(flags, missing);
        }
        self.push_str(text);
        if flags.minus {
            self.padding(flags, missing);
        }
    }

    pub(super) fn finish(self) -> Option<String> {
        (!self.full).then_some(self.text)
    }
}
