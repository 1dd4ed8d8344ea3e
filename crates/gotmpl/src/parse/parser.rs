//! Makes trees of tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lexer::{Delims, Lexer};
use super::token::{Sort, Token};
use super::tree::{Arg, Branch, Command, Node, Source, Symbol, Tree};
use crate::format::quote;
use crate::limits::BLOCK_DEPTH;
use crate::stack::deep;
use crate::{Error, ErrorKind, Functions, Location, Str};

pub(super) type Parsed<T> = Result<T, Box<Error>>;

/// Parses a text into those templates that are defined in it and, as the last, the one of its name; and says whether one of
/// those has that name, too, and may stand in its place.
pub(crate) fn parse(
    name: &Str,
    text: &Str,
    delims: &Delims,
    functions: &Functions,
) -> Parsed<(Vec<Arc<Tree>>, bool)> {
    let source = Arc::new(Source { name: name.clone(), text: text.clone() });
    let mut lexer = Lexer::new(text, delims);
    lexer.break_is_keyword = functions.get("break").is_none();
    lexer.continue_is_keyword = functions.get("continue").is_none();
    let mut parser = Parser {
        source: &source,
        lexer,
        functions,
        trees: Vec::new(),
        cursor: Cursor::new(),
        names: BTreeMap::new(),
        args: Vec::new(),
        commands: Vec::new(),
    };
    let root = parser.file()?;
    let defines_itself = parser.trees.iter().any(|tree| tree.name == *name);
    parser.add(name.clone(), root)?;
    Ok((parser.trees, defines_itself))
}

pub(super) struct Parser<'s> {
    source: &'s Arc<Source>,
    lexer: Lexer<'s>,
    pub(super) functions: &'s Functions,
    trees: Vec<Arc<Tree>>,
    pub(super) cursor: Cursor,
    /// The names of all variables so far, but for `$`.
    pub(super) names: BTreeMap<Str, Symbol>,
    /// The arguments and commands of what is being read: how many there are is known in the end only, and then just as much
    /// memory is taken as they need.
    pub(super) args: Vec<Arg>,
    pub(super) commands: Vec<Command>,
}

/// What belongs to the template that is being read; each definition has its own.
pub(super) struct Cursor {
    /// The tokens that were read: `tokens[0]` is the newest, those below `waiting` are still to be used.
    pub(super) tokens: [Token; 3],
    pub(super) waiting: usize,
    /// The variables that are known at this point.
    pub(super) variables: Vec<Symbol>,
    /// The line of the action that is being read.
    action_line: usize,
    ranges: usize,
    pub(super) parens: usize,
    blocks: usize,
}

/// How a list of nodes ended.
enum End {
    End,
    Else,
}

impl End {
    fn text(&self) -> &'static str {
        match self {
            Self::End => "{{end}}",
            Self::Else => "{{else}}",
        }
    }
}

enum Item {
    Node(Node),
    End(End),
}

impl Cursor {
    fn new() -> Self {
        Self {
            tokens: [Token::none(), Token::none(), Token::none()],
            waiting: 0,
            variables: vec![Symbol::DOLLAR],
            action_line: 0,
            ranges: 0,
            parens: 0,
            blocks: 0,
        }
    }
}

impl Parser<'_> {
    #[inline]
    pub(super) fn next(&mut self) -> Token {
        if self.cursor.waiting > 0 {
            self.cursor.waiting -= 1;
        } else {
            self.read();
        }
        self.cursor.tokens[self.cursor.waiting]
    }

    fn read(&mut self) {
        self.cursor.tokens[0] = self.lexer.next();
    }

    pub(super) fn back(&mut self) {
        self.cursor.waiting += 1;
    }

    #[inline]
    pub(super) fn peek(&mut self) -> Token {
        let token = self.next();
        self.back();
        token
    }

    #[inline]
    pub(super) fn next_word(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.sort != Sort::Space {
                return token;
            }
        }
    }

    #[inline]
    pub(super) fn peek_word(&mut self) -> Token {
        let token = self.next_word();
        self.back();
        token
    }

    pub(super) fn text(&self, token: &Token) -> &str {
        &self.source.text[token.at..token.end]
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let name = self.source.name.to_string();
        Err(Box::new(Error {
            template: name.clone(),
            location: Some(Location { name, line: self.cursor.tokens[0].line, column: None }),
            action: String::new(),
            kind: ErrorKind::Parse(message.into()),
            calls: Vec::new(),
        }))
    }

    pub(super) fn unexpected<T>(&self, token: &Token, context: &str) -> Parsed<T> {
        let described = token.describe(&self.source.text, &self.lexer.errors);
        if token.sort != Sort::Error {
            return self.error(format!("unexpected {described} in {context}"));
        }
        let line = self.cursor.action_line;
        if line == 0 || line == token.line {
            return self.error(described);
        }
        let joint = if described.ends_with(" action") { "" } else { " in action" };
        self.error(format!("{described}{joint} started at {}:{line}", self.source.name))
    }

    fn expect(&mut self, sorts: &[Sort], context: &str) -> Parsed<Token> {
        let token = self.next_word();
        if sorts.contains(&token.sort) { Ok(token) } else { self.unexpected(&token, context) }
    }

    fn add(&mut self, name: Str, root: Vec<Node>) -> Parsed<()> {
        let tree = Tree { name, source: Arc::clone(self.source), root: Arc::new(root) };
        match self.trees.iter().position(|old| old.name == tree.name) {
            Some(old) if self.trees[old].is_empty() => self.trees[old] = Arc::new(tree),
            Some(_) if tree.is_empty() => {}
            Some(_) => {
                let name = quote::double(&tree.name);
                return self.error(format!("template: multiple definition of template {name}"));
            }
            None => self.trees.push(Arc::new(tree)),
        }
        Ok(())
    }

    /// Reads to the end of the text, definitions included.
    fn file(&mut self) -> Parsed<Vec<Node>> {
        let mut nodes = Vec::new();
        loop {
            let token = self.peek();
            if token.sort == Sort::Eof {
                return Ok(nodes);
            }
            if token.sort == Sort::LeftDelim {
                let delim = self.next();
                if self.next_word().sort == Sort::Define {
                    self.definition()?;
                    continue;
                }
                self.cursor.tokens[1] = delim;
                self.cursor.waiting = 2;
            }
            match self.item()? {
                Item::Node(node) => nodes.push(node),
                Item::End(end) => return self.error(format!("unexpected {}", end.text())),
            }
        }
    }

    /// Runs a part of the parser with the state of a template of its own.
    fn apart<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.cursor, Cursor::new());
        let result = part(self);
        self.cursor = outer;
        result
    }

    fn definition(&mut self) -> Parsed<()> {
        const CONTEXT: &str = "define clause";
        self.apart(|parser| {
            let token = parser.expect(&[Sort::String, Sort::RawString], CONTEXT)?;
            let name = parser.unquote(&token)?;
            parser.expect(&[Sort::RightDelim], CONTEXT)?;
            let (nodes, end) = parser.list()?;
            if !matches!(end, End::End) {
                return parser.error(format!("unexpected {} in {CONTEXT}", end.text()));
            }
            parser.add(name, nodes)
        })
    }

    pub(super) fn unquote(&self, token: &Token) -> Parsed<Str> {
        match quote::unquote(self.text(token)) {
            Some(text) => Ok(text),
            None => self.error("invalid syntax"),
        }
    }

    /// Reads nodes until `end` or `else`.
    fn list(&mut self) -> Parsed<(Vec<Node>, End)> {
        let mut nodes = Vec::new();
        while self.peek_word().sort != Sort::Eof {
            match self.item()? {
                Item::Node(node) => nodes.push(node),
                Item::End(end) => {
                    nodes.shrink_to_fit();
                    return Ok((nodes, end));
                }
            }
        }
        self.error("unexpected EOF")
    }

    fn item(&mut self) -> Parsed<Item> {
        let token = self.next_word();
        match token.sort {
            Sort::Text => Ok(Item::Node(Node::Text { at: token.at, end: token.end })),
            Sort::LeftDelim => {
                self.cursor.action_line = token.line;
                let item = self.action()?;
                self.cursor.action_line = 0;
                Ok(item)
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn action(&mut self) -> Parsed<Item> {
        let token = self.next_word();
        let node = match token.sort {
            Sort::Block => self.block()?,
            Sort::Break => self.jump("break", Node::Break { at: token.at })?,
            Sort::Continue => self.jump("continue", Node::Continue { at: token.at })?,
            Sort::Else => {
                let next = self.peek_word();
                if !matches!(next.sort, Sort::If | Sort::With) {
                    self.expect(&[Sort::RightDelim], "else")?;
                }
                return Ok(Item::End(End::Else));
            }
            Sort::End => {
                self.expect(&[Sort::RightDelim], "end")?;
                return Ok(Item::End(End::End));
            }
            Sort::If => Node::If(self.control("if")?),
            Sort::Range => Node::Range(self.control("range")?),
            Sort::With => Node::With(self.control("with")?),
            Sort::Template => self.template()?,
            _ => {
                self.back();
                let at = self.peek().at;
                Node::Action { at, pipe: self.pipeline("command", Sort::RightDelim)? }
            }
        };
        Ok(Item::Node(node))
    }

    fn jump(&mut self, word: &str, node: Node) -> Parsed<Node> {
        let token = self.next_word();
        if token.sort != Sort::RightDelim {
            return self.unexpected(&token, &format!("{{{{{word}}}}}"));
        }
        if self.cursor.ranges == 0 {
            return self.error(format!("{{{{{word}}}}} outside {{{{range}}}}"));
        }
        Ok(node)
    }

    fn control(&mut self, context: &'static str) -> Parsed<Box<Branch>> {
        if self.cursor.blocks == BLOCK_DEPTH {
            return self.error(format!("blocks nest deeper than {BLOCK_DEPTH}"));
        }
        self.cursor.blocks += 1;
        let known = self.cursor.variables.len();
        let branch = deep(|| self.branch(context))?;
        self.cursor.variables.truncate(known);
        self.cursor.blocks -= 1;
        Ok(Box::new(branch))
    }

    fn branch(&mut self, context: &'static str) -> Parsed<Branch> {
        let pipe = self.pipeline(context, Sort::RightDelim)?;
        let is_range = usize::from(context == "range");
        self.cursor.ranges += is_range;
        let (body, end) = self.list()?;
        self.cursor.ranges -= is_range;
        let otherwise = match end {
            End::End => None,
            End::Else => Some(self.otherwise(context)?),
        };
        Ok(Branch { pipe, body, otherwise })
    }

    /// Reads what follows `else`; `else if` and `else with` end with the block's own `end`.
    fn otherwise(&mut self, context: &'static str) -> Parsed<Vec<Node>> {
        match (context, self.peek().sort) {
            ("if", Sort::If) => {
                self.next();
                Ok(vec![Node::If(self.control("if")?)])
            }
            ("with", Sort::With) => {
                self.next();
                Ok(vec![Node::With(self.control("with")?)])
            }
            _ => {
                let (nodes, end) = self.list()?;
                if !matches!(end, End::End) {
                    return self.error(format!("expected end; found {}", end.text()));
                }
                Ok(nodes)
            }
        }
    }

    fn block(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "block clause";
        let token = self.next_word();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, Sort::RightDelim)?;
        if self.cursor.blocks == BLOCK_DEPTH {
            return self.error(format!("blocks nest deeper than {BLOCK_DEPTH}"));
        }
        let blocks = self.cursor.blocks + 1;
        let defined = name.clone();
        let end = deep(|| {
            self.apart(|parser| {
                parser.cursor.blocks = blocks;
                let (nodes, end) = parser.list()?;
                if matches!(end, End::End) {
                    parser.add(defined, nodes)?;
                }
                Ok(end)
            })
        })?;
        if !matches!(end, End::End) {
            return self.error(format!("unexpected {} in {CONTEXT}", end.text()));
        }
        Ok(Node::Template { at: token.at, name, pipe: Some(Box::new(pipe)) })
    }

    fn template(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "template clause";
        let token = self.next_word();
        let name = self.template_name(&token, CONTEXT)?;
        let mut pipe = None;
        if self.next_word().sort != Sort::RightDelim {
            self.back();
            pipe = Some(Box::new(self.pipeline(CONTEXT, Sort::RightDelim)?));
        }
        Ok(Node::Template { at: token.at, name, pipe })
    }

    fn template_name(&self, token: &Token, context: &str) -> Parsed<Str> {
        match token.sort {
            Sort::String | Sort::RawString => self.unquote(token),
            _ => self.unexpected(token, context),
        }
    }
}
