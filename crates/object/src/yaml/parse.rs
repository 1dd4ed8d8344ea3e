//! Tokens to events: the grammar of YAML.

use std::borrow::Cow;

use super::chars::Mark;
use super::error::Error;
use super::scan::{Scanner, Token};
use super::{Options, Version};

/// A step through a document.
#[derive(Debug)]
pub(super) enum Event<'a> {
    Scalar { text: Cow<'a, str>, plain: bool },
    Alias(&'a str),
    SeqStart,
    SeqEnd,
    MapStart,
    MapEnd,
}

/// An event with what the text says about the node that begins with it.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) event: Event<'a>,
    pub(super) mark: Mark,
    pub(super) anchor: Option<&'a str>,
    /// The full tag, such as `tag:yaml.org,2002:int` or `!`.
    pub(super) tag: Option<Box<str>>,
}

/// What the parser waits for inside a collection, or after it.
#[derive(Clone, Copy, Debug)]
enum State {
    DocumentEnd,
    BlockEntry,
    IndentlessEntry,
    BlockKey,
    BlockValue,
    FlowEntry { first: bool },
    PairKey,
    PairValue,
    PairEnd,
    FlowKey { first: bool },
    FlowValue,
    FlowNoValue,
}

/// How a node may be written at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allow {
    Flow,
    Block,
    BlockOrIndentless,
}

/// What stands before the first document's content.
pub(super) enum Start {
    /// Nothing at all, or only comments.
    Empty,
    /// Content, or a `---` that may be followed by nothing.
    Content { explicit: bool },
}

/// Makes events of the first document of a text.
pub(super) struct Parser<'a> {
    scanner: Scanner<'a>,
    states: Vec<State>,
    /// Where the open collections began, for messages.
    opened: Vec<Mark>,
    handles: Vec<(Cow<'a, str>, String)>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, options: &Options) -> Self {
        Parser {
            scanner: Scanner::new(text, options.version, options.max_depth),
            states: Vec::new(),
            opened: Vec::new(),
            handles: Vec::new(),
        }
    }

    /// From now on the text of scalars may be left out; see [`Scanner::leave_text_out`].
    pub(super) fn leave_text_out(&mut self) {
        self.scanner.leave_text_out();
    }

    /// From now on scalars have their text again. Says whether all have it that are still to come.
    pub(super) fn keep_text(&mut self) -> bool {
        self.scanner.keep_text()
    }

    /// Steps over the value of a key that has just been read, if that takes no more than a look at its lines and it
    /// opens at most `max_depth` collections. Otherwise nothing has happened.
    pub(super) fn pass_value(&mut self, max_depth: usize) -> bool {
        let passed =
            matches!(self.states.last(), Some(State::BlockValue)) && self.scanner.pass_value(max_depth);
        if passed {
            self.states.pop();
            self.states.push(State::BlockKey);
        }
        passed
    }

    /// Reads up to the content. Has to be called first.
    pub(super) fn start(&mut self) -> Result<Start, Error> {
        if matches!(self.scanner.peek()?.0, Token::StreamEnd) {
            return Ok(Start::Empty);
        }
        let has_directives = self.directives()?;
        let (token, mark) = self.scanner.peek()?;
        let explicit = matches!(token, Token::DocumentStart);
        if explicit {
            self.scanner.take();
        } else if has_directives {
            let mark = *mark;
            return Err(self.scanner.parser_error(None, mark, "did not find expected <document start>"));
        }
        self.states.push(State::DocumentEnd);
        Ok(Start::Content { explicit })
    }

    fn directives(&mut self) -> Result<bool, Error> {
        let mut version_seen = false;
        let mut any = false;
        loop {
            let mark = self.scanner.peek()?.1;
            let problem = match self.scanner.peek()?.0 {
                Token::VersionDirective(..) if version_seen => Some("found duplicate %YAML directive"),
                Token::VersionDirective(major, minor) => {
                    version_seen = true;
                    ((major, minor) != (1, 1)).then_some("found incompatible YAML document")
                }
                Token::TagDirective { handle, .. } => {
                    let twice = self.handles.iter().any(|(known, _)| *known == handle);
                    twice.then_some("found duplicate %TAG directive")
                }
                _ => break,
            };
            if let Some(problem) = problem {
                return Err(self.scanner.parser_error(None, mark, problem));
            }
            if let Some((Token::TagDirective { handle, prefix }, _)) = self.scanner.take() {
                self.handles.push((handle.into(), prefix));
            }
            any = true;
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if !self.handles.iter().any(|(known, _)| known == handle) {
                self.handles.push((handle.into(), prefix.to_owned()));
            }
        }
        Ok(any)
    }

    /// The first node of the document.
    pub(super) fn root(&mut self, explicit: bool) -> Result<Node<'a>, Error> {
        let (token, mark) = self.scanner.peek()?;
        let ends = matches!(
            token,
            Token::VersionDirective(..)
                | Token::TagDirective { .. }
                | Token::DocumentStart
                | Token::DocumentEnd
                | Token::StreamEnd
        );
        if explicit && ends {
            let mark = *mark;
            return Ok(empty(mark));
        }
        self.node(Allow::Block)
    }

    /// Checks that the document ends after its root; gives the place at which unread text begins.
    ///
    /// Version 2 is content with whatever follows. Readers of version 3 go on to the next document,
    /// so that it has to be one.
    pub(super) fn finish(&mut self, version: Version) -> Result<Option<Mark>, Error> {
        let (token, mark) = self.scanner.peek()?;
        let mark = *mark;
        match token {
            Token::StreamEnd => Ok(None),
            Token::DocumentEnd => {
                self.scanner.take();
                match version {
                    Version::V2 => Ok(self.scanner.rest()),
                    Version::V3 => self.finish(version),
                }
            }
            Token::DocumentStart | Token::VersionDirective(..) | Token::TagDirective { .. } => Ok(Some(mark)),
            _ if version == Version::V2 => Ok(Some(mark)),
            _ => Err(self.scanner.parser_error(None, mark, "did not find expected <document start>")),
        }
    }

    /// The next event inside the root collection.
    pub(super) fn next(&mut self) -> Result<Node<'a>, Error> {
        match self.states.pop() {
            Some(State::BlockEntry) => self.block_entry(),
            Some(State::IndentlessEntry) => self.indentless_entry(),
            Some(State::BlockKey) => self.block_key(),
            Some(State::BlockValue) => self.block_value(),
            Some(State::FlowEntry { first }) => self.flow_entry(first),
            Some(State::PairKey) => self.pair_key(),
            Some(State::PairValue) => self.pair_value(),
            Some(State::PairEnd) => self.pair_end(),
            Some(State::FlowKey { first }) => self.flow_key(first),
            Some(State::FlowValue) => self.flow_value(),
            Some(State::FlowNoValue) => {
                self.states.push(State::FlowKey { first: false });
                Ok(empty(self.scanner.peek()?.1))
            }
            Some(State::DocumentEnd) | None => {
                let mark = self.scanner.peek()?.1;
                Err(self.scanner.parser_error(None, mark, "did not find expected <document start>"))
            }
        }
    }

    fn node(&mut self, allow: Allow) -> Result<Node<'a>, Error> {
        let (token, start) = self.scanner.peek()?;
        let start = *start;
        if let Token::Alias(name) = *token {
            self.scanner.take();
            return Ok(Node { event: Event::Alias(name), mark: start, anchor: None, tag: None });
        }
        let (anchor, tag) = match token {
            Token::Anchor(_) | Token::Tag { .. } => self.properties(start)?,
            _ => (None, None),
        };
        let event = self.content(allow, start, anchor.is_some() || tag.is_some())?;
        Ok(Node { event, mark: start, anchor, tag })
    }

    /// Reads an anchor and a tag, in either order.
    #[cold]
    fn properties(&mut self, start: Mark) -> Result<(Option<&'a str>, Option<Box<str>>), Error> {
        let (mut anchor, mut tag) = (None, None);
        loop {
            match self.scanner.peek()? {
                (Token::Anchor(name), _) if anchor.is_none() => {
                    anchor = Some(*name);
                    self.scanner.take();
                }
                (Token::Tag { .. }, mark) if tag.is_none() => {
                    let mark = *mark;
                    if let Some((Token::Tag { handle, suffix }, _)) = self.scanner.take() {
                        tag = Some(self.full_tag(start, mark, handle, suffix)?);
                    }
                }
                _ => return Ok((anchor, tag)),
            }
        }
    }

    fn full_tag(&self, start: Mark, mark: Mark, handle: &str, suffix: String) -> Result<Box<str>, Error> {
        if handle.is_empty() {
            return Ok(suffix.into());
        }
        match self.handles.iter().find(|(known, _)| known == handle) {
            Some((_, prefix)) => Ok(format!("{prefix}{suffix}").into()),
            None => Err(self.scanner.parser_error(Some(start), mark, "found undefined tag handle")),
        }
    }

    fn content(&mut self, allow: Allow, start: Mark, has_properties: bool) -> Result<Event<'a>, Error> {
        let (token, mark) = self.scanner.peek()?;
        let mark = *mark;
        let is_block = allow != Allow::Flow;
        let (event, state) = match token {
            // The entry stays: it is the first of the sequence.
            Token::BlockEntry if allow == Allow::BlockOrIndentless => {
                self.states.push(State::IndentlessEntry);
                return Ok(Event::SeqStart);
            }
            Token::Scalar { .. } => {
                return match self.scanner.take() {
                    Some((Token::Scalar { text, plain }, _)) => Ok(Event::Scalar { text, plain }),
                    _ => Err(self.scanner.parser_error(Some(start), mark, NO_CONTENT)),
                };
            }
            Token::FlowSeqStart => (Event::SeqStart, State::FlowEntry { first: true }),
            Token::FlowMapStart => (Event::MapStart, State::FlowKey { first: true }),
            Token::BlockSeqStart if is_block => (Event::SeqStart, State::BlockEntry),
            Token::BlockMapStart if is_block => (Event::MapStart, State::BlockKey),
            _ if has_properties => return Ok(Event::Scalar { text: "".into(), plain: true }),
            _ => return Err(self.scanner.parser_error(Some(start), mark, NO_CONTENT)),
        };
        self.scanner.take();
        self.opened.push(mark);
        self.states.push(state);
        Ok(event)
    }

    /// Goes on with `state` after the node that comes now.
    fn node_then(&mut self, state: State, allow: Allow) -> Result<Node<'a>, Error> {
        self.states.push(state);
        self.node(allow)
    }

    /// Goes on with `state` after a node that the text leaves out.
    fn empty_then(&mut self, state: State, mark: Mark) -> Result<Node<'a>, Error> {
        self.states.push(state);
        Ok(empty(mark))
    }

    fn close(&mut self, event: Event<'a>, mark: Mark) -> Result<Node<'a>, Error> {
        self.scanner.take();
        self.opened.pop();
        Ok(Node { event, mark, anchor: None, tag: None })
    }

    fn unexpected(&mut self, problem: &'static str) -> Error {
        let opened = self.opened.pop();
        match self.scanner.peek() {
            Ok((_, mark)) => {
                let mark = *mark;
                self.scanner.parser_error(opened, mark, problem)
            }
            Err(error) => error,
        }
    }

    fn block_entry(&mut self) -> Result<Node<'a>, Error> {
        match self.scanner.peek()? {
            (Token::BlockEntry, mark) => {
                let mark = after(*mark);
                self.scanner.take();
                match self.scanner.peek()?.0 {
                    Token::BlockEntry | Token::BlockEnd => self.empty_then(State::BlockEntry, mark),
                    _ => self.node_then(State::BlockEntry, Allow::Block),
                }
            }
            (Token::BlockEnd, mark) => {
                let mark = *mark;
                self.close(Event::SeqEnd, mark)
            }
            _ => Err(self.unexpected("did not find expected '-' indicator")),
        }
    }

    fn indentless_entry(&mut self) -> Result<Node<'a>, Error> {
        let (token, mark) = self.scanner.peek()?;
        let mark = *mark;
        if !matches!(token, Token::BlockEntry) {
            return Ok(Node { event: Event::SeqEnd, mark, anchor: None, tag: None });
        }
        self.scanner.take();
        match self.scanner.peek()?.0 {
            Token::BlockEntry | Token::Key | Token::Value | Token::BlockEnd => {
                self.empty_then(State::IndentlessEntry, after(mark))
            }
            _ => self.node_then(State::IndentlessEntry, Allow::Block),
        }
    }

    fn block_key(&mut self) -> Result<Node<'a>, Error> {
        match self.scanner.peek()? {
            (Token::Key, mark) => {
                let mark = *mark;
                self.scanner.take();
                self.block_side(State::BlockValue, mark)
            }
            (Token::BlockEnd, mark) => {
                let mark = *mark;
                self.close(Event::MapEnd, mark)
            }
            _ => Err(self.unexpected("did not find expected key")),
        }
    }

    fn block_value(&mut self) -> Result<Node<'a>, Error> {
        let (token, mark) = self.scanner.peek()?;
        let mark = *mark;
        if !matches!(token, Token::Value) {
            return self.empty_then(State::BlockKey, mark);
        }
        self.scanner.take();
        self.block_side(State::BlockKey, after(mark))
    }

    /// A key or a value of a block mapping, which may be left out.
    fn block_side(&mut self, next: State, mark: Mark) -> Result<Node<'a>, Error> {
        match self.scanner.peek()?.0 {
            Token::Key | Token::Value | Token::BlockEnd => self.empty_then(next, mark),
            _ => self.node_then(next, Allow::BlockOrIndentless),
        }
    }

    fn flow_entry(&mut self, first: bool) -> Result<Node<'a>, Error> {
        if !first && !self.comma_or(|token| matches!(token, Token::FlowSeqEnd))? {
            return Err(self.unexpected("did not find expected ',' or ']'"));
        }
        let (token, mark) = self.scanner.peek()?;
        let mark = *mark;
        match token {
            Token::FlowSeqEnd => self.close(Event::SeqEnd, mark),
            Token::Key => {
                self.scanner.take();
                self.states.push(State::PairKey);
                Ok(Node { event: Event::MapStart, mark, anchor: None, tag: None })
            }
            _ => self.node_then(State::FlowEntry { first: false }, Allow::Flow),
        }
    }

    /// Steps over a comma; says whether there was one, or the end that `is_end` knows.
    fn comma_or(&mut self, is_end: impl Fn(&Token<'a>) -> bool) -> Result<bool, Error> {
        let token = &self.scanner.peek()?.0;
        if is_end(token) {
            return Ok(true);
        }
        if !matches!(token, Token::FlowEntry) {
            return Ok(false);
        }
        self.scanner.take();
        self.scanner.peek()?;
        Ok(true)
    }

    fn pair_key(&mut self) -> Result<Node<'a>, Error> {
        let (token, mark) = self.scanner.peek()?;
        let mark = *mark;
        match token {
            Token::Value | Token::FlowEntry | Token::FlowSeqEnd => {
                self.scanner.take();
                self.empty_then(State::PairValue, mark)
            }
            _ => self.node_then(State::PairValue, Allow::Flow),
        }
    }

    fn pair_value(&mut self) -> Result<Node<'a>, Error> {
        let (token, mark) = self.scanner.peek()?;
        let mark = *mark;
        if matches!(token, Token::Value) {
            self.scanner.take();
            if !matches!(self.scanner.peek()?.0, Token::FlowEntry | Token::FlowSeqEnd) {
                return self.node_then(State::PairEnd, Allow::Flow);
            }
        }
        self.empty_then(State::PairEnd, mark)
    }

    fn pair_end(&mut self) -> Result<Node<'a>, Error> {
        let mark = self.scanner.peek()?.1;
        self.states.push(State::FlowEntry { first: false });
        Ok(Node { event: Event::MapEnd, mark, anchor: None, tag: None })
    }

    fn flow_key(&mut self, first: bool) -> Result<Node<'a>, Error> {
        if !first && !self.comma_or(|token| matches!(token, Token::FlowMapEnd))? {
            return Err(self.unexpected("did not find expected ',' or '}'"));
        }
        let (token, mark) = self.scanner.peek()?;
        let mark = *mark;
        match token {
            Token::FlowMapEnd => self.close(Event::MapEnd, mark),
            Token::Key => {
                self.scanner.take();
                let (token, mark) = self.scanner.peek()?;
                let mark = *mark;
                match token {
                    Token::Value | Token::FlowEntry | Token::FlowMapEnd => {
                        self.empty_then(State::FlowValue, mark)
                    }
                    _ => self.node_then(State::FlowValue, Allow::Flow),
                }
            }
            _ => self.node_then(State::FlowNoValue, Allow::Flow),
        }
    }

    fn flow_value(&mut self) -> Result<Node<'a>, Error> {
        let (token, mark) = self.scanner.peek()?;
        let mut mark = *mark;
        if matches!(token, Token::Value) {
            self.scanner.take();
            let (token, next) = self.scanner.peek()?;
            mark = *next;
            if !matches!(token, Token::FlowEntry | Token::FlowMapEnd) {
                return self.node_then(State::FlowKey { first: false }, Allow::Flow);
            }
        }
        self.empty_then(State::FlowKey { first: false }, mark)
    }
}

const NO_CONTENT: &str = "did not find expected node content";

/// A node that the text leaves out.
fn empty<'a>(mark: Mark) -> Node<'a> {
    Node { event: Event::Scalar { text: Cow::Borrowed(""), plain: true }, mark, anchor: None, tag: None }
}

/// The place after an indicator of one character.
fn after(mark: Mark) -> Mark {
    Mark { pos: mark.pos + 1, line: mark.line, column: mark.column + 1 }
}
