//! The text of a script, put into words that the interpreter reads as Argo CD's would.
//!
//! Argo CD's scripts are Lua 5.1, the interpreter is 5.2, and three things are settled by its parser alone:
//!
//! - A backslash before any letter that means nothing stands for the letter. 5.2 refuses it, or gives it a meaning.
//! - `..` writes numbers. It cannot be told how, but what is neither text nor number may say what happens: so that each `a .. b`
//!   becomes `a .. joint .. b`, where the joint first takes `b` and then joins both (see `prelude.lua`).
//! - A function with `...` finds them in `arg` as well.
//!
//! Nothing moves to another line.

/// What the joint is called in the rewritten text. A script that uses the name is left as it is.
pub(crate) const JOINT: &str = "__joint";

/// The script with its escapes put right, and nothing else.
pub(crate) fn escaped(text: &str) -> String {
    Scanner::new(text, false, false).run()
}

/// The script with all that is rewritten; `None` if it cannot be.
pub(crate) fn joined(text: &str) -> Option<String> {
    if text.contains(JOINT) || text.starts_with('\u{1b}') {
        return None;
    }
    // A table that says how it is concatenated must not meet the joint.
    let joints = !text.contains("__concat");
    let rewritten = Scanner::new(text, joints, text.contains("arg")).run();
    Some(format!("local {JOINT}=_ENV.{JOINT} _ENV.{JOINT}=nil {rewritten}"))
}

/// Where in the head of a function the scanner is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    Outside,
    Name,
    Parameters { open: bool, named: bool },
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    made: String,
    joints: bool,
    arguments: bool,
    head: Head,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, joints: bool, arguments: bool) -> Self {
        let made = String::with_capacity(text.len() + 64);
        Scanner { text, at: 0, made, joints, arguments, head: Head::Outside }
    }

    fn run(mut self) -> String {
        while let Some(letter) = self.rest().chars().next() {
            match letter {
                '-' if self.rest().starts_with("--") => self.comment(),
                '[' => match self.bracket() {
                    Some(length) => self.copy(length),
                    None => self.copy(1),
                },
                '"' | '\'' => self.quoted(letter),
                '0'..='9' => self.number(),
                '.' => self.dots(),
                letter if letter.is_ascii_alphabetic() || letter == '_' => self.word(),
                '(' | ')' => self.parenthesis(letter),
                letter => self.copy(letter.len_utf8()),
            }
        }
        self.made
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn copy(&mut self, bytes: usize) {
        let rest = self.rest();
        self.made.push_str(rest.get(..bytes).unwrap_or(rest));
        self.at += bytes.min(rest.len());
    }

    fn copy_while(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.copy(rest.find(|letter| !wanted(letter)).unwrap_or(rest.len()));
    }

    /// How long the text in long brackets is that begins here. One without an end reaches to the end.
    fn bracket(&self) -> Option<usize> {
        let rest = self.rest();
        let inner = rest.strip_prefix('[')?;
        let level = inner.len() - inner.trim_start_matches('=').len();
        inner[level..].strip_prefix('[')?;
        let end = format!("]{}]", "=".repeat(level));
        Some(rest.find(&end).map_or(rest.len(), |at| at + end.len()))
    }

    fn comment(&mut self) {
        self.copy(2);
        match self.bracket() {
            Some(length) => self.copy(length),
            None => self.copy_while(|letter| letter != '\n' && letter != '\r'),
        }
    }

    fn number(&mut self) {
        self.copy_while(|letter| letter.is_ascii_alphanumeric() || letter == '.' || letter == '_');
    }

    fn dots(&mut self) {
        let rest = self.rest();
        if rest.starts_with("...") {
            if let Head::Parameters { open, .. } = &mut self.head {
                *open = true;
            }
            self.copy(3);
        } else if rest.starts_with("..") {
            self.copy(2);
            if self.joints {
                self.made.push_str(JOINT);
                self.made.push_str("..");
                // Otherwise a number that follows would begin with a point.
                self.made.push(' ');
            }
        } else if rest[1..].starts_with(|letter: char| letter.is_ascii_digit()) {
            self.number();
        } else {
            self.copy(1);
        }
    }

    fn word(&mut self) {
        let from = self.at;
        self.copy_while(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        match (&self.text[from..self.at], &mut self.head) {
            ("function", head) => *head = Head::Name,
            ("arg", Head::Parameters { named, .. }) => *named = true,
            _ => {}
        }
    }

    fn parenthesis(&mut self, letter: char) {
        self.copy(1);
        self.head = match (letter, self.head) {
            ('(', Head::Name) => Head::Parameters { open: false, named: false },
            (')', Head::Parameters { open: true, named: false }) if self.arguments => {
                self.made.push_str(&format!(" local arg={JOINT}(...) "));
                Head::Outside
            }
            _ => Head::Outside,
        };
    }

    fn quoted(&mut self, quote: char) {
        self.copy(1);
        loop {
            self.copy_while(|letter| !matches!(letter, '\\' | '\n' | '\r') && letter != quote);
            match self.rest().chars().next() {
                Some('\\') => self.escape(),
                Some(letter) if letter == quote => return self.copy(1),
                // The text has no end, which the interpreter will say.
                _ => return,
            }
        }
    }

    fn escape(&mut self) {
        let rest = self.rest();
        match rest[1..].chars().next() {
            Some('a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' | '"' | '\'' | '\n') => self.copy(2),
            Some('\r') => self.copy(if rest.starts_with("\\\r\n") { 3 } else { 2 }),
            Some('0'..='9') => {
                let digits: String = rest[1..].chars().take(3).take_while(char::is_ascii_digit).collect();
                self.at += 1 + digits.len();
                // Three digits hold more than a byte: what is too much is cut off.
                let code = digits.parse::<u16>().unwrap_or_default() % 256;
                self.made.push_str(&format!("\\{code:03}"));
            }
            _ => self.at += 1,
        }
    }
}
