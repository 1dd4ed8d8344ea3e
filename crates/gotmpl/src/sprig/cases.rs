//! Spellings of names: `SwapCase`, `PascalCase`, `snake_case`, `kebab-case`.

use super::runes::{is_letter, is_lower, is_number, is_punctuation, is_title, is_upper, runes};
use super::runes::{to_lower, to_title, to_upper};

/// Capitals become small letters and the other way round; a small letter at the start of a word gets title case.
pub(super) fn swap(text: &str) -> String {
    let mut at_start = true;
    let mut swapped = |c: char| {
        if is_upper(c) || is_title(c) {
            at_start = false;
            to_lower(c)
        } else if is_lower(c) {
            if std::mem::take(&mut at_start) { to_title(c) } else { to_upper(c) }
        } else {
            at_start = c.is_whitespace();
            c
        }
    };
    runes(text).map(&mut swapped).collect()
}

/// Joins words that `-`, `_` or space separate, each with a capital: `http_server` to `HttpServer`.
///
/// One separator goes between two words, further ones stay, and so do those at both ends. A name of
/// separators only gets its last one twice: a quirk of the original that scripts may have met.
pub(super) fn pascal(text: &str) -> String {
    let body = text.trim_start_matches(is_connector);
    let mut name = text[..text.len() - body.len()].to_owned();
    let mut rest = runes(body);
    let Some(first) = rest.next() else {
        name.extend(text.chars().next_back());
        return name;
    };
    // In a word that starts with a capital, further capitals become small until another letter comes.
    let mut lowering = is_upper(first);
    let mut held = to_upper(first);
    for c in rest {
        held = match (is_connector(held), is_connector(c)) {
            (true, false) => {
                lowering = is_upper(c);
                to_upper(c)
            }
            (true, true) => {
                name.push(held);
                c
            }
            (false, _) => {
                name.push(held);
                lowering = lowering && is_upper(c);
                if lowering { to_lower(c) } else { c }
            }
        };
    }
    name.push(held);
    name
}

/// Splits a name into words, in small letters, with `connector` between them: `HTTPServer` to `http_server`.
pub(super) fn joined(text: &str, connector: char) -> String {
    let mut writer =
        Writer { words: words(text), at: 0, connector, text: String::with_capacity(text.len() + 8) };
    while writer.at + 1 < writer.words.len() {
        writer.step();
    }
    writer.take();
    writer.text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    /// Starts with a capital.
    Capital,
    /// Small letters.
    Small,
    Connector,
    Punctuation,
    Other,
}

struct Writer<'a> {
    words: Vec<(Kind, &'a str)>,
    at: usize,
    connector: char,
    text: String,
}

impl Writer<'_> {
    fn kind(&self) -> Option<Kind> {
        self.words.get(self.at).map(|(kind, _)| *kind)
    }

    /// Writes the word at the place and goes on.
    fn take(&mut self) {
        let Some(&(kind, word)) = self.words.get(self.at) else { return };
        self.at += 1;
        if !matches!(kind, Kind::Capital | Kind::Connector) {
            return self.text.push_str(word);
        }
        for c in word.chars() {
            self.text.push(match c {
                c if is_connector(c) => self.connector,
                c if is_upper(c) => to_lower(c),
                c => c,
            });
        }
    }

    /// Separates what is written from the next word, unless that is a separation itself.
    fn separate(&mut self) {
        if !matches!(self.kind(), None | Some(Kind::Connector | Kind::Punctuation)) {
            self.text.push(self.connector);
        }
    }

    /// Writes a word and what belongs to it.
    fn step(&mut self) {
        let kind = self.kind();
        self.take();
        match kind {
            Some(Kind::Number) => self.number_tail(),
            Some(Kind::Connector | Kind::Punctuation) => {}
            _ if self.kind() != Some(Kind::Number) => self.separate(),
            // A number at the very end belongs to the word before it, and so does one before a new word.
            _ if self.at + 1 == self.words.len() => {}
            _ if self.words[self.at + 1].0 != Kind::Small => {
                self.take();
                self.separate();
            }
            // Small letters after a number belong to it: `http2xx` has the words `http` and `2xx`.
            _ => {
                self.text.push(self.connector);
                self.take();
                self.number_tail();
            }
        }
    }

    fn number_tail(&mut self) {
        while matches!(self.kind(), Some(Kind::Small | Kind::Number)) {
            self.take();
        }
        self.separate();
    }
}

fn words(text: &str) -> Vec<(Kind, &str)> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = match first {
            c if is_connector(c) => (Kind::Connector, run(rest, is_connector)),
            c if is_punctuation(c) => (Kind::Punctuation, run(rest, is_punctuation)),
            c if is_upper(c) => (Kind::Capital, capital_word(rest)),
            c if is_alphabetic(c) => (Kind::Small, run(rest, is_small)),
            c if is_number(c) => (Kind::Number, run(rest, is_number)),
            c => {
                let more = run(&rest[c.len_utf8()..], |c| {
                    !(is_connector(c) || is_alphabetic(c) || is_number(c) || is_punctuation(c))
                });
                (Kind::Other, c.len_utf8() + more)
            }
        };
        let (word, after) = rest.split_at(length);
        words.push((kind, word));
        rest = after;
    }
    words
}

/// The length of a word that starts with a capital: `Server`, or `HTTP` also where `Server` follows at once.
fn capital_word(text: &str) -> usize {
    let capitals = run(text, is_upper);
    let first = text.chars().next().map_or(0, char::len_utf8);
    let next = text[capitals..].chars().next();
    if capitals == first {
        return first + run(&text[first..], is_small);
    }
    match (next, text[..capitals].chars().next_back()) {
        (Some(next), Some(last)) if is_alphabetic(next) => capitals - last.len_utf8(),
        _ => capitals,
    }
}

fn run(text: &str, member: impl Fn(char) -> bool) -> usize {
    text.find(|c| !member(c)).unwrap_or(text.len())
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

fn is_small(c: char) -> bool {
    is_alphabetic(c) && !is_upper(c)
}

/// Letters of alphabets: Chinese characters are letters of none.
fn is_alphabetic(c: char) -> bool {
    let chinese = matches!(c, '\u{3400}'..='\u{4D85}' | '\u{4E00}'..='\u{9FCC}' | '\u{20000}'..='\u{2B81D}');
    is_letter(c) && !chinese
}
