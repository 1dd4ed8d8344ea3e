//! Lua's patterns, matched in counted steps.
//!
//! The interpreter's own matcher can take longer than the universe for a short pattern, and nobody would count.

use crate::limits;
use crate::meter::Meter;

/// How many captures a pattern may have.
const CAPTURES: usize = 32;

/// What a pair of parentheses holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capture {
    /// The text between two places.
    Span(usize, usize),
    /// A place: `()`.
    Place(usize),
    /// One that is not closed yet.
    Open(usize),
}

/// A match: from where to where, and what was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) captures: Vec<Capture>,
}

/// A pattern on its way through a text.
pub(super) struct Search<'a> {
    text: &'a [u8],
    pattern: &'a [u8],
    anchored: bool,
    captures: Vec<Capture>,
    steps: u64,
    meter: &'a Meter,
}

type Found = mlua::Result<Option<usize>>;

fn malformed(what: &str) -> mlua::Error {
    mlua::Error::runtime(format!("malformed pattern ({what})"))
}

impl<'a> Search<'a> {
    pub(super) fn new(text: &'a [u8], pattern: &'a [u8], meter: &'a Meter) -> Self {
        let anchored = pattern.first() == Some(&b'^');
        let pattern = if anchored { &pattern[1..] } else { pattern };
        Search { text, pattern, anchored, captures: Vec::new(), steps: 0, meter }
    }

    /// The first match at or after a place.
    pub(super) fn find(&mut self, from: usize) -> mlua::Result<Option<Match>> {
        for start in from..=self.text.len() {
            if let Some(found) = self.at(start)? {
                return Ok(Some(found));
            }
            if self.anchored {
                break;
            }
        }
        Ok(None)
    }

    /// The match at a place.
    pub(super) fn at(&mut self, start: usize) -> mlua::Result<Option<Match>> {
        self.captures.clear();
        let end = self.step(start, 0, 0)?;
        Ok(end.map(|end| Match { start, end, captures: self.captures.clone() }))
    }

    /// Whether the pattern holds only at the beginning.
    pub(super) fn anchored(&self) -> bool {
        self.anchored
    }

    fn count(&mut self) -> mlua::Result<()> {
        self.steps += 1;
        if self.steps.is_multiple_of(64) {
            self.meter.charge(64)?;
        }
        Ok(())
    }

    /// Matches what is left of the pattern at `at` of the text; gives where the match ends.
    fn step(&mut self, mut at: usize, mut p: usize, depth: usize) -> Found {
        if depth > limits::PATTERN_DEPTH {
            return Err(mlua::Error::runtime("pattern too complex"));
        }
        loop {
            self.count()?;
            let Some(&letter) = self.pattern.get(p) else { return Ok(Some(at)) };
            match (letter, self.pattern.get(p + 1)) {
                (b'(', Some(b')')) => return self.open(at, p + 2, Capture::Place(at), depth),
                (b'(', _) => return self.open(at, p + 1, Capture::Open(at), depth),
                (b')', _) => return self.close(at, p + 1, depth),
                (b'$', None) => return Ok((at == self.text.len()).then_some(at)),
                (b'%', Some(b'b')) => match self.balanced(at, p + 2)? {
                    Some(end) => (at, p) = (end, p + 4),
                    None => return Ok(None),
                },
                (b'%', Some(b'f')) => match self.frontier(at, p + 2)? {
                    Some(next) => p = next,
                    None => return Ok(None),
                },
                (b'%', Some(digit)) if digit.is_ascii_digit() => match self.again(at, *digit)? {
                    Some(end) => (at, p) = (end, p + 2),
                    None => return Ok(None),
                },
                _ => {
                    let next = self.class_end(p)?;
                    match self.pattern.get(next) {
                        Some(b'?') => {
                            if self.single(at, p, next)
                                && let Some(end) = self.step(at + 1, next + 1, depth + 1)?
                            {
                                return Ok(Some(end));
                            }
                            p = next + 1;
                        }
                        Some(b'+') if !self.single(at, p, next) => return Ok(None),
                        Some(b'+') => return self.most(at + 1, p, next, depth),
                        Some(b'*') => return self.most(at, p, next, depth),
                        Some(b'-') => return self.least(at, p, next, depth),
                        _ if !self.single(at, p, next) => return Ok(None),
                        _ => (at, p) = (at + 1, next),
                    }
                }
            }
        }
    }

    fn open(&mut self, at: usize, p: usize, capture: Capture, depth: usize) -> Found {
        if self.captures.len() >= CAPTURES {
            return Err(mlua::Error::runtime("too many captures"));
        }
        let before = self.captures.len();
        self.captures.push(capture);
        let found = self.step(at, p, depth + 1)?;
        if found.is_none() {
            self.captures.truncate(before);
        }
        Ok(found)
    }

    fn close(&mut self, at: usize, p: usize, depth: usize) -> Found {
        let open = self.captures.iter().rposition(|capture| matches!(capture, Capture::Open(_)));
        let Some(open) = open else { return Err(mlua::Error::runtime("invalid pattern capture")) };
        let before = self.captures[open];
        if let Capture::Open(start) = before {
            self.captures[open] = Capture::Span(start, at);
        }
        let found = self.step(at, p, depth + 1)?;
        if found.is_none() {
            self.captures.truncate(self.captures.len().max(open + 1));
            self.captures[open] = before;
        }
        Ok(found)
    }

    /// As many as there are, then fewer.
    fn most(&mut self, at: usize, p: usize, next: usize, depth: usize) -> Found {
        let mut count = 0;
        while self.single(at + count, p, next) {
            self.count()?;
            count += 1;
        }
        loop {
            if let Some(end) = self.step(at + count, next + 1, depth + 1)? {
                return Ok(Some(end));
            }
            if count == 0 {
                return Ok(None);
            }
            count -= 1;
        }
    }

    /// As few as will do.
    fn least(&mut self, mut at: usize, p: usize, next: usize, depth: usize) -> Found {
        loop {
            if let Some(end) = self.step(at, next + 1, depth + 1)? {
                return Ok(Some(end));
            }
            if !self.single(at, p, next) {
                return Ok(None);
            }
            at += 1;
        }
    }

    /// `%bxy`: from an x to its y.
    fn balanced(&mut self, at: usize, p: usize) -> Found {
        let (Some(&open), Some(&close)) = (self.pattern.get(p), self.pattern.get(p + 1)) else {
            return Err(malformed("missing arguments to '%b'"));
        };
        if self.text.get(at) != Some(&open) {
            return Ok(None);
        }
        let mut level = 1_usize;
        for (offset, letter) in self.text[at + 1..].iter().enumerate() {
            if *letter == close {
                level -= 1;
                if level == 0 {
                    self.meter.charge(offset as u64 / 8)?;
                    return Ok(Some(at + offset + 2));
                }
            } else if *letter == open {
                level += 1;
            }
        }
        self.meter.charge(self.text.len() as u64 / 8)?;
        Ok(None)
    }

    /// `%f[set]`: between a letter that is not in the set and one that is.
    fn frontier(&mut self, at: usize, p: usize) -> Found {
        if self.pattern.get(p) != Some(&b'[') {
            return Err(malformed("missing '[' after '%f' in pattern"));
        }
        let next = self.class_end(p)?;
        let before = if at == 0 { 0 } else { self.text[at - 1] };
        let here = self.text.get(at).copied().unwrap_or(0);
        let crossed = !in_set(before, &self.pattern[p..next]) && in_set(here, &self.pattern[p..next]);
        Ok(crossed.then_some(next))
    }

    /// `%1`: what was captured, once more.
    fn again(&mut self, at: usize, digit: u8) -> Found {
        let index = usize::from(digit).wrapping_sub(usize::from(b'1'));
        let Some(Capture::Span(start, end)) = self.captures.get(index).copied() else {
            return Err(mlua::Error::runtime(format!("invalid capture index %{}", char::from(digit))));
        };
        let wanted = &self.text[start..end];
        self.meter.charge(wanted.len() as u64 / 64)?;
        Ok(self.text[at..].starts_with(wanted).then_some(at + wanted.len()))
    }

    /// Where the class that begins at `p` ends.
    fn class_end(&self, p: usize) -> mlua::Result<usize> {
        match self.pattern[p] {
            b'%' if p + 1 >= self.pattern.len() => Err(malformed("ends with '%'")),
            b'%' => Ok(p + 2),
            b'[' => {
                let mut at = p + 1;
                if self.pattern.get(at) == Some(&b'^') {
                    at += 1;
                }
                // The first letter of a set is in it even if it is its end.
                let first = at;
                loop {
                    match self.pattern.get(at) {
                        None => return Err(malformed("missing ']'")),
                        Some(b']') if at > first => return Ok(at + 1),
                        Some(b'%') => at += 2,
                        Some(_) => at += 1,
                    }
                }
            }
            _ => Ok(p + 1),
        }
    }

    /// Whether the letter at a place is of the class between `p` and `end`.
    fn single(&self, at: usize, p: usize, end: usize) -> bool {
        let Some(&letter) = self.text.get(at) else { return false };
        match self.pattern[p] {
            b'.' => true,
            b'%' => in_class(letter, self.pattern[p + 1]),
            b'[' => in_set(letter, &self.pattern[p..end]),
            wanted => wanted == letter,
        }
    }
}

/// Whether a letter is in `[set]`.
fn in_set(letter: u8, set: &[u8]) -> bool {
    let inner = &set[1..set.len().saturating_sub(1)];
    let (inner, turned) = match inner.split_first() {
        Some((b'^', rest)) => (rest, true),
        _ => (inner, false),
    };
    let mut at = 0;
    let mut found = false;
    while at < inner.len() {
        match (inner[at], inner.get(at + 1), inner.get(at + 2)) {
            (b'%', Some(class), _) => {
                found |= in_class(letter, *class);
                at += 2;
            }
            (low, Some(b'-'), Some(high)) => {
                found |= (low..=*high).contains(&letter);
                at += 3;
            }
            (one, _, _) => {
                found |= one == letter;
                at += 1;
            }
        }
    }
    found != turned
}

fn in_class(letter: u8, class: u8) -> bool {
    let found = match class.to_ascii_lowercase() {
        b'a' => letter.is_ascii_alphabetic(),
        b'c' => letter.is_ascii_control(),
        b'd' => letter.is_ascii_digit(),
        b'g' => letter.is_ascii_graphic(),
        b'l' => letter.is_ascii_lowercase(),
        b'p' => letter.is_ascii_punctuation(),
        b's' => letter.is_ascii_whitespace() || letter == 0x0b,
        b'u' => letter.is_ascii_uppercase(),
        b'w' => letter.is_ascii_alphanumeric(),
        b'x' => letter.is_ascii_hexdigit(),
        _ => return class == letter,
    };
    found != class.is_ascii_uppercase()
}
