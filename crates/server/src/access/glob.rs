//! Patterns of policies, as the library reads them that Argo CD matches with: `*` is any text, `?` any character, `[a-z]`
//! and `[!abc]` one of some, `{a,b}` either. Nothing stops a star.
//!
//! What is odd there is odd here: a range is one range or some characters but not both, a brace that is not closed ends
//! with the pattern, and a pattern that cannot be read matches nothing.

/// A pattern ready to match.
#[derive(Debug)]
pub(super) enum Glob {
    /// This text.
    Text(Box<str>),
    /// These texts in this order, with anything between them.
    Pieces(Vec<Box<str>>),
    /// Everything else.
    Program(Vec<Step>),
}

/// A step of a pattern. Several places in a program are followed at once, so that no pattern takes long.
#[derive(Debug)]
pub(super) enum Step {
    /// This character.
    Char(char),
    /// Any character.
    Any,
    /// A character between two, or not.
    Range(char, char, bool),
    /// One of these, or not.
    List(Box<str>, bool),
    /// Go on in both places.
    Fork(usize, usize),
    /// Go on there.
    Jump(usize),
}

/// The longest pattern that is read.
const LONGEST: usize = 4_096;

impl Glob {
    /// Reads a pattern; none if it cannot be read.
    pub(super) fn read(pattern: &str) -> Option<Self> {
        if pattern.len() > LONGEST {
            return None;
        }
        if !pattern.contains(['*', '?', '[', '{', '\\', '\0']) {
            return Some(Glob::Text(pattern.into()));
        }
        if !pattern.contains(['?', '[', '{', '\\', '\0']) {
            return Some(Glob::Pieces(pattern.split('*').map(Into::into).collect()));
        }
        let mut reader = Reader { chars: pattern.chars().collect(), at: 0, steps: Vec::new() };
        reader.sequence(0)?;
        Some(Glob::Program(reader.steps))
    }

    /// Whether a text matches as a whole.
    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Glob::Text(own) => **own == *text,
            Glob::Pieces(pieces) => in_order(pieces, text),
            Glob::Program(steps) => run(steps, text),
        }
    }

    /// What every text begins with that matches.
    pub(super) fn beginning(&self) -> &str {
        match self {
            Glob::Text(text) => text,
            Glob::Pieces(pieces) => pieces.first().map(AsRef::as_ref).unwrap_or_default(),
            Glob::Program(_) => "",
        }
    }
}

fn in_order(pieces: &[Box<str>], text: &str) -> bool {
    let [first, middle @ .., last] = pieces else { return false };
    // The library lets what is before and behind one star overlap, so that `team/*/web` is also `team/web`.
    if middle.is_empty() {
        return text.starts_with(&**first) && text.ends_with(&**last);
    }
    let Some(mut rest) = text.strip_prefix(&**first) else { return false };
    for piece in middle {
        match rest.find(&**piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(&**last)
}

/// Reads a pattern into steps.
struct Reader {
    chars: Vec<char>,
    at: usize,
    steps: Vec<Step>,
}

/// How deep braces may be nested.
const DEEPEST: usize = 64;

impl Reader {
    fn next(&mut self) -> Option<char> {
        let c = self.chars.get(self.at).copied();
        self.at += usize::from(c.is_some());
        // The library takes this character for the end.
        c.filter(|c| *c != '\0')
    }

    /// Reads up to the end, or within braces up to the `,` or `}` that ends an alternative, which is given.
    fn sequence(&mut self, depth: usize) -> Option<Option<char>> {
        if depth > DEEPEST {
            return None;
        }
        while let Some(c) = self.next() {
            match c {
                '*' => {
                    let at = self.steps.len();
                    self.steps.extend([Step::Fork(at + 1, at + 3), Step::Any, Step::Jump(at)]);
                }
                '?' => self.steps.push(Step::Any),
                '[' => self.class()?,
                '{' => self.alternatives(depth + 1)?,
                ',' | '}' if depth > 0 => return Some(Some(c)),
                // One that is last is passed over.
                '\\' => self.next().into_iter().for_each(|c| self.steps.push(Step::Char(c))),
                c => self.steps.push(Step::Char(c)),
            }
        }
        Some(None)
    }

    fn alternatives(&mut self, depth: usize) -> Option<()> {
        let mut ends = Vec::new();
        loop {
            let fork = self.steps.len();
            self.steps.push(Step::Jump(fork + 1));
            let end = self.sequence(depth)?;
            if end != Some(',') {
                break;
            }
            ends.push(self.steps.len());
            self.steps.push(Step::Jump(0));
            self.steps[fork] = Step::Fork(fork + 1, self.steps.len());
        }
        let behind = self.steps.len();
        ends.into_iter().for_each(|end| self.steps[end] = Step::Jump(behind));
        Some(())
    }

    fn class(&mut self) -> Option<()> {
        let not = self.chars.get(self.at) == Some(&'!');
        self.at += usize::from(not);
        let first = self.next()?;
        if self.chars.get(self.at) == Some(&'-') {
            self.at += 1;
            let last = self.next()?;
            if self.next()? != ']' || last < first {
                return None;
            }
            self.steps.push(Step::Range(first, last, not));
            return Some(());
        }
        self.at -= 1;
        let mut list = String::new();
        loop {
            match self.next()? {
                ']' => break,
                '\\' => list.push(self.next()?),
                c => list.push(c),
            }
        }
        if list.is_empty() {
            return None;
        }
        self.steps.push(Step::List(list.into(), not));
        Some(())
    }
}

fn run(steps: &[Step], text: &str) -> bool {
    let (mut now, mut then) = (Places::new(steps.len()), Places::new(steps.len()));
    now.enter(steps, 0);
    for c in text.chars() {
        for &at in &now.list {
            let goes_on = match steps.get(at) {
                Some(Step::Char(own)) => *own == c,
                Some(Step::Any) => true,
                Some(Step::Range(low, high, not)) => (*low <= c && c <= *high) != *not,
                Some(Step::List(list, not)) => list.contains(c) != *not,
                Some(Step::Fork(..) | Step::Jump(_)) | None => false,
            };
            if goes_on {
                then.enter(steps, at + 1);
            }
        }
        std::mem::swap(&mut now, &mut then);
        then.clear();
        if now.list.is_empty() {
            return false;
        }
    }
    now.list.contains(&steps.len())
}

/// The places in a program that are followed.
struct Places {
    list: Vec<usize>,
    seen: Vec<bool>,
}

impl Places {
    fn new(steps: usize) -> Self {
        Places { list: Vec::new(), seen: vec![false; steps + 1] }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.seen.fill(false);
    }

    fn enter(&mut self, steps: &[Step], at: usize) {
        let mut waiting = vec![at];
        while let Some(at) = waiting.pop() {
            if self.seen.get(at).is_none_or(|seen| *seen) {
                continue;
            }
            self.seen[at] = true;
            match steps.get(at) {
                Some(Step::Fork(one, other)) => waiting.extend([*one, *other]),
                Some(Step::Jump(place)) => waiting.push(*place),
                _ => self.list.push(at),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let glob = Glob::read(pattern).unwrap();
        for text in matching {
            assert!(glob.matches(text), "{pattern} should match {text:?}");
        }
        for text in others {
            assert!(!glob.matches(text), "{pattern} should not match {text:?}");
        }
    }

    #[test]
    fn stars_cross_everything() {
        check("*", &["", "a", "a/b"], &[]);
        check("*/*", &["a/b", "/", "a/b/c"], &["a", ""]);
        check("a*b*c", &["abc", "axbxc", "abcbc"], &["ab", "abcd"]);
        check("ab*ba", &["abba", "abxba", "aba"], &["ab", "ba"]);
        check("team/*/web", &["team/prod/web", "team/web"], &["team/prod/api"]);
        check("proj/*", &["proj/", "proj/a/b"], &["proj", "other/a"]);
    }

    #[test]
    fn braces_ranges_and_marks_are_read() {
        check("{get,sync}", &["get", "sync"], &["getsync", "{get,sync}"]);
        check("{a,b{c,d}}/?", &["a/x", "bc/x", "bd/x"], &["b/x", "a/", "a/xy"]);
        check("[a-c]x", &["ax", "cx"], &["dx"]);
        check("[!a-c]x", &["dx"], &["ax"]);
        check("[abc]", &["a"], &["d", "abc"]);
        check(r"a\*", &["a*"], &["ab"]);
        check("{a,", &["a", ""], &["b"]);
        check("a}", &["a}"], &["a"]);
    }

    #[test]
    fn what_the_library_refuses_matches_nothing() {
        for pattern in ["[", "[]", "[a", "[a-z0-9]", "[z-a]", "[!]"] {
            assert!(Glob::read(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn no_pattern_takes_long() {
        let glob = Glob::read(&format!("{}c", "{a*,*a}".repeat(100))).unwrap();
        assert!(!glob.matches(&format!("{}b", "a".repeat(500))));
        assert!(Glob::read(&"{".repeat(4_000)).is_none());
    }
}
