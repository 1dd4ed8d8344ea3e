//! Text to tokens.
//!
//! YAML's one difficulty is that a key is known to be a key only when its `:` comes. A token that may
//! turn out to be a key is therefore held back in a queue until that is decided, and the tokens that
//! open a mapping are put in front of it then.

mod block;
mod fold;
pub(super) mod head;
mod pass;
mod plain;
mod quoted;
mod tag;

use std::borrow::Cow;
use std::collections::VecDeque;

use super::Version;
use super::chars::{self, Cursor, Mark};
use super::error::Error;
use crate::limits::MAX_KEY_CHARS;

const NO_TOKEN: &str = "found character that cannot start any token";

/// The smallest part of a document that has a meaning.
#[derive(Debug)]
pub(super) enum Token<'a> {
    StreamEnd,
    VersionDirective(u8, u8),
    TagDirective { handle: &'a str, prefix: String },
    DocumentStart,
    DocumentEnd,
    BlockSeqStart,
    BlockMapStart,
    BlockEnd,
    FlowSeqStart,
    FlowSeqEnd,
    FlowMapStart,
    FlowMapEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'a str),
    Anchor(&'a str),
    Tag { handle: &'a str, suffix: String },
    Scalar { text: Cow<'a, str>, plain: bool },
}

/// A place where a key may have begun.
#[derive(Clone, Copy, Default)]
struct KeyCandidate {
    possible: bool,
    /// In the column of the mapping that it would belong to, so that it cannot be anything else.
    required: bool,
    /// The number of its first token in the whole stream.
    token: usize,
    mark: Mark,
}

/// Makes tokens of a text.
pub(super) struct Scanner<'a> {
    cursor: Cursor<'a>,
    version: Version,
    max_depth: usize,
    queue: VecDeque<(Token<'a>, Mark)>,
    /// How many tokens have left the queue.
    taken: usize,
    /// The column of the innermost block collection; -1 outside of all.
    indent: i64,
    outer_indents: Vec<i64>,
    /// One candidate for the block context and one for each open bracket.
    candidates: Vec<KeyCandidate>,
    key_allowed: bool,
    /// Whether the text of scalars is of use to anyone.
    keeps_text: bool,
    /// The number of the token after the last one of which text was left out.
    left_out_until: usize,
    /// Whether there are line breaks other than line feeds, once someone has asked.
    odd_breaks: Option<bool>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, version: Version, max_depth: usize) -> Self {
        Scanner {
            cursor: Cursor::new(text),
            version,
            max_depth,
            queue: VecDeque::with_capacity(8),
            taken: 0,
            indent: -1,
            outer_indents: Vec::new(),
            candidates: vec![KeyCandidate::default()],
            key_allowed: true,
            keeps_text: true,
            left_out_until: 0,
            odd_breaks: None,
        }
    }

    /// From now on block scalars come without their text, and plain ones with that of their first line. A scalar
    /// of several lines is a string whatever is in it, so that this tells as much about it.
    pub(super) fn leave_text_out(&mut self) {
        self.keeps_text = false;
    }

    /// From now on scalars have their text again. Says whether all have it that wait in the queue.
    pub(super) fn keep_text(&mut self) -> bool {
        self.keeps_text = true;
        self.left_out_until <= self.taken
    }

    /// Notes that the token which comes next into the queue lacks text. It has several lines, which no key may
    /// have, so that nothing is put into the queue before it later.
    fn note_left_out(&mut self) {
        self.left_out_until = self.taken + self.queue.len() + 1;
    }

    pub(super) fn text(&self) -> &'a str {
        self.cursor.text
    }

    /// The next token, which stays.
    pub(super) fn peek(&mut self) -> Result<&(Token<'a>, Mark), Error> {
        self.fill()?;
        // `fill` leaves at least one token in the queue.
        self.queue.front().ok_or_else(|| self.error(None, "unknown problem parsing YAML content"))
    }

    /// Takes the token that [`Scanner::peek`] showed.
    pub(super) fn take(&mut self) -> Option<(Token<'a>, Mark)> {
        let token = self.queue.pop_front();
        self.taken += usize::from(token.is_some());
        token
    }

    /// Where the text goes on after what has been scanned, if it does.
    pub(super) fn rest(&mut self) -> Option<Mark> {
        if !self.queue.is_empty() {
            return self.queue.front().map(|(_, mark)| *mark);
        }
        self.skip_to_token();
        (!self.cursor.is_end()).then(|| self.cursor.mark())
    }

    /// An error at a place, told as go-yaml tells problems of its parser.
    pub(super) fn parser_error(&self, context: Option<Mark>, mark: Mark, problem: &'static str) -> Error {
        let lines = (context.map_or(0, |mark| mark.line), mark.line);
        let told = match (self.version, lines) {
            (Version::V2, (context, 0)) => context,
            (Version::V2, (_, line)) => line,
            (Version::V3, (0, line)) => line,
            (Version::V3, (context, _)) => context,
        };
        Error::syntax(chars::place(self.text(), mark), told, problem)
    }

    /// An error where the scanner stands, told as go-yaml tells problems of its scanner.
    fn error(&self, context: Option<Mark>, problem: impl Into<Cow<'static, str>>) -> Error {
        let mark = self.cursor.mark();
        let lines = (context.unwrap_or(mark).line, mark.line);
        let told = match (self.version, lines) {
            (_, (0, 0)) => 0,
            (Version::V2, (context, 0)) => context,
            (Version::V2, (_, line)) | (Version::V3, (0, line)) => line + 1,
            (Version::V3, (context, _)) => context + 1,
        };
        Error::syntax(chars::place(self.text(), mark), told, problem)
    }

    /// Scans until the first token of the queue is known to be what it looks like.
    #[inline]
    fn fill(&mut self) -> Result<(), Error> {
        while self.queue.is_empty() || self.first_may_become_key()? {
            self.scan_token()?;
        }
        Ok(())
    }

    #[inline]
    fn first_may_become_key(&mut self) -> Result<bool, Error> {
        // Candidates stand in the order of their tokens, so the first possible one decides.
        let first = self.candidates.iter().position(|candidate| candidate.possible);
        match first {
            Some(level) if self.candidates[level].token == self.taken => self.is_still_possible(level),
            _ => Ok(false),
        }
    }

    /// A key has to end on its line, and within a number of characters.
    fn is_still_possible(&mut self, level: usize) -> Result<bool, Error> {
        let candidate = self.candidates[level];
        if !candidate.possible {
            return Ok(false);
        }
        if candidate.mark.line == self.cursor.line && !self.is_too_long(candidate.mark) {
            return Ok(true);
        }
        self.drop_candidate(level)?;
        Ok(false)
    }

    fn is_too_long(&self, start: Mark) -> bool {
        self.cursor.pos - start.pos > MAX_KEY_CHARS
            && self.text()[start.pos..self.cursor.pos].chars().count() > MAX_KEY_CHARS
    }

    fn drop_candidate(&mut self, level: usize) -> Result<(), Error> {
        let candidate = self.candidates[level];
        if candidate.possible && candidate.required {
            return Err(self.error(Some(candidate.mark), "could not find expected ':'"));
        }
        self.candidates[level].possible = false;
        Ok(())
    }

    fn drop_current_candidate(&mut self) -> Result<(), Error> {
        self.drop_candidate(self.candidates.len() - 1)
    }

    /// Notes that a key may begin here.
    fn note_candidate(&mut self) -> Result<(), Error> {
        if !self.key_allowed {
            return Ok(());
        }
        self.drop_current_candidate()?;
        let candidate = KeyCandidate {
            possible: true,
            required: self.in_block() && self.indent == self.cursor.column() as i64,
            token: self.taken + self.queue.len(),
            mark: self.cursor.mark(),
        };
        if let Some(last) = self.candidates.last_mut() {
            *last = candidate;
        }
        Ok(())
    }

    fn in_block(&self) -> bool {
        self.candidates.len() == 1
    }

    fn push(&mut self, token: Token<'a>, mark: Mark) {
        self.queue.push_back((token, mark));
    }

    /// Opens a block collection if the column is further in than the current one.
    fn open_block(&mut self, mark: Mark, at: Option<usize>, token: Token<'a>) -> Result<(), Error> {
        if !self.in_block() || self.indent >= i64::from(mark.column) {
            return Ok(());
        }
        self.outer_indents.push(self.indent);
        self.indent = i64::from(mark.column);
        self.check_depth()?;
        match at {
            Some(at) => self.queue.insert(at, (token, mark)),
            None => self.push(token, mark),
        }
        Ok(())
    }

    /// Closes the block collections that are further in than `column`.
    fn close_blocks(&mut self, column: i64) {
        if !self.in_block() {
            return;
        }
        while self.indent > column {
            let mark = self.cursor.mark();
            self.push(Token::BlockEnd, mark);
            self.indent = self.outer_indents.pop().unwrap_or(-1);
        }
    }

    fn check_depth(&self) -> Result<(), Error> {
        let depth = self.outer_indents.len() + self.candidates.len() - 1;
        if depth > self.max_depth {
            return Err(self.error(None, format!("exceeded max depth of {}", self.max_depth)));
        }
        Ok(())
    }

    /// Steps over blanks, comments and line breaks.
    #[inline]
    fn skip_to_token(&mut self) {
        loop {
            // A tab may not indent, so it is skipped only where no key can begin.
            let tabs = !self.in_block() || !self.key_allowed;
            while self.cursor.byte() == b' ' || tabs && self.cursor.byte() == b'\t' {
                self.cursor.pos += 1;
            }
            self.cursor.skip_comment();
            if self.cursor.take_break().is_none() {
                return;
            }
            if self.in_block() {
                self.key_allowed = true;
            }
        }
    }

    fn scan_token(&mut self) -> Result<(), Error> {
        self.skip_to_token();
        self.close_blocks(self.cursor.column() as i64);
        if self.cursor.is_end() {
            return self.scan_end();
        }
        let byte = self.cursor.byte();
        if self.cursor.column() == 0 {
            match byte {
                b'%' => return self.scan_directive_line(),
                b'-' if self.cursor.is_marker(b'-') => return self.scan_marker(Token::DocumentStart),
                b'.' if self.cursor.is_marker(b'.') => return self.scan_marker(Token::DocumentEnd),
                _ => {}
            }
        }
        let before_space = |scanner: &Self| scanner.cursor.is_space_at(scanner.cursor.pos + 1);
        match byte {
            b'[' => self.scan_open(Token::FlowSeqStart),
            b'{' => self.scan_open(Token::FlowMapStart),
            b']' => self.scan_close(Token::FlowSeqEnd),
            b'}' => self.scan_close(Token::FlowMapEnd),
            b',' => self.scan_comma(),
            b'-' if before_space(self) => self.scan_dash(),
            b'?' if !self.in_block() || before_space(self) => self.scan_question_mark(),
            b':' if !self.in_block() || before_space(self) => self.scan_colon(),
            b'*' => self.scan_name(Token::Alias),
            b'&' => self.scan_name(Token::Anchor),
            b'!' => self.scan_tag_token(),
            b'|' if self.in_block() => self.scan_block_scalar(true),
            b'>' if self.in_block() => self.scan_block_scalar(false),
            b'\'' | b'"' => self.scan_quoted(byte),
            b'\t' => Err(self.error(None, NO_TOKEN).hint("indent with spaces, not tabs")),
            b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => {
                Err(self.error(None, NO_TOKEN).hint("quote a value that begins with this character"))
            }
            _ => self.scan_plain(),
        }
    }

    fn scan_end(&mut self) -> Result<(), Error> {
        self.cursor.end_line();
        self.close_blocks(-1);
        self.drop_current_candidate()?;
        self.key_allowed = false;
        self.push(Token::StreamEnd, self.cursor.mark());
        Ok(())
    }

    fn scan_marker(&mut self, token: Token<'a>) -> Result<(), Error> {
        self.close_blocks(-1);
        self.drop_current_candidate()?;
        self.key_allowed = false;
        let mark = self.cursor.mark();
        self.cursor.pos += 3;
        self.push(token, mark);
        Ok(())
    }

    fn scan_directive_line(&mut self) -> Result<(), Error> {
        self.close_blocks(-1);
        self.drop_current_candidate()?;
        self.key_allowed = false;
        let mark = self.cursor.mark();
        let token = self.scan_directive()?;
        self.push(token, mark);
        Ok(())
    }

    /// Takes a token of one character.
    fn push_sign(&mut self, token: Token<'a>) {
        let mark = self.cursor.mark();
        self.cursor.pos += 1;
        self.push(token, mark);
    }

    fn scan_open(&mut self, token: Token<'a>) -> Result<(), Error> {
        self.note_candidate()?;
        self.candidates.push(KeyCandidate::default());
        self.check_depth()?;
        self.key_allowed = true;
        self.push_sign(token);
        Ok(())
    }

    fn scan_close(&mut self, token: Token<'a>) -> Result<(), Error> {
        self.drop_current_candidate()?;
        if !self.in_block() {
            self.candidates.pop();
        }
        self.key_allowed = false;
        self.push_sign(token);
        Ok(())
    }

    fn scan_comma(&mut self) -> Result<(), Error> {
        self.drop_current_candidate()?;
        self.key_allowed = true;
        self.push_sign(Token::FlowEntry);
        Ok(())
    }

    fn scan_dash(&mut self) -> Result<(), Error> {
        if self.in_block() {
            if !self.key_allowed {
                return Err(self.error(None, "block sequence entries are not allowed in this context"));
            }
            self.open_block(self.cursor.mark(), None, Token::BlockSeqStart)?;
        }
        self.drop_current_candidate()?;
        self.key_allowed = true;
        self.push_sign(Token::BlockEntry);
        Ok(())
    }

    fn scan_question_mark(&mut self) -> Result<(), Error> {
        if self.in_block() {
            if !self.key_allowed {
                return Err(self.error(None, "mapping keys are not allowed in this context"));
            }
            self.open_block(self.cursor.mark(), None, Token::BlockMapStart)?;
        }
        self.drop_current_candidate()?;
        self.key_allowed = self.in_block();
        self.push_sign(Token::Key);
        Ok(())
    }

    fn scan_colon(&mut self) -> Result<(), Error> {
        let level = self.candidates.len() - 1;
        if self.is_still_possible(level)? {
            self.make_key(level)?;
        } else {
            if self.in_block() {
                if !self.key_allowed {
                    return Err(self.error(None, "mapping values are not allowed in this context"));
                }
                self.open_block(self.cursor.mark(), None, Token::BlockMapStart)?;
            }
            self.key_allowed = self.in_block();
        }
        self.push_sign(Token::Value);
        Ok(())
    }

    /// The candidate is a key: says so before its first token.
    fn make_key(&mut self, level: usize) -> Result<(), Error> {
        let KeyCandidate { token, mark, .. } = self.candidates[level];
        // A candidate holds its token back, so that it is still in the queue.
        let at = token.saturating_sub(self.taken).min(self.queue.len());
        self.queue.insert(at, (Token::Key, mark));
        self.open_block(mark, Some(at), Token::BlockMapStart)?;
        self.candidates[level].possible = false;
        self.key_allowed = false;
        Ok(())
    }

    fn scan_name(&mut self, token: fn(&'a str) -> Token<'a>) -> Result<(), Error> {
        self.note_candidate()?;
        self.key_allowed = false;
        let mark = self.cursor.mark();
        let name = self.scan_anchor_name(mark)?;
        self.push(token(name), mark);
        Ok(())
    }

    fn scan_tag_token(&mut self) -> Result<(), Error> {
        self.note_candidate()?;
        self.key_allowed = false;
        let mark = self.cursor.mark();
        let token = self.scan_tag(mark)?;
        self.push(token, mark);
        Ok(())
    }

    fn scan_quoted(&mut self, quote: u8) -> Result<(), Error> {
        self.note_candidate()?;
        self.key_allowed = false;
        let mark = self.cursor.mark();
        let text = self.quoted(mark, quote)?;
        self.push(Token::Scalar { text, plain: false }, mark);
        Ok(())
    }

    fn scan_plain(&mut self) -> Result<(), Error> {
        self.note_candidate()?;
        self.key_allowed = false;
        let mark = self.cursor.mark();
        let text = self.plain(mark)?;
        self.push(Token::Scalar { text, plain: true }, mark);
        Ok(())
    }

    fn scan_block_scalar(&mut self, literal: bool) -> Result<(), Error> {
        self.drop_current_candidate()?;
        self.key_allowed = true;
        let mark = self.cursor.mark();
        let text = self.block_scalar(mark, literal)?;
        self.push(Token::Scalar { text, plain: false }, mark);
        Ok(())
    }
}
