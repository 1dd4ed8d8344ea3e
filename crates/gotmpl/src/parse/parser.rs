//! Makes trees of tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lexer::{Delims, Lexer};
use super::token::{Sort, Token};
use super::tree::{Arg, Branch, Callee, Command, Node, Number, Pipe, Source, Symbol, Term, Tree, Variable};
use crate::builtin::Builtin;
use crate::format::quote;
use crate::limits::{BLOCK_DEPTH, EXPRESSION_DEPTH};
use crate::stack::deep;
use crate::{Error, ErrorKind, Functions, Location, Str};

type Parsed<T> = Result<T, Box<Error>>;

/// Parses a text into the template of its name and those that are defined in it.
pub(crate) fn parse(
    name: &Str,
    text: &Str,
    delims: &Delims,
    functions: &Functions,
) -> Parsed<Vec<Arc<Tree>>> {
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
    parser.add(name.clone(), root)?;
    Ok(parser.trees)
}

struct Parser<'s> {
    source: &'s Arc<Source>,
    lexer: Lexer<'s>,
    functions: &'s Functions,
    trees: Vec<Arc<Tree>>,
    cursor: Cursor,
    /// The names of all variables so far, but for `$`.
    names: BTreeMap<Str, Symbol>,
    /// The arguments and commands of what is being read: how many there are is known in the end only, and then just as much
    /// memory is taken as they need.
    args: Vec<Arg>,
    commands: Vec<Command>,
}

/// What belongs to the template that is being read; each definition has its own.
struct Cursor {
    /// The tokens that were read: `tokens[0]` is the newest, those below `waiting` are still to be used.
    tokens: [Token; 3],
    waiting: usize,
    /// The variables that are known at this point.
    variables: Vec<Symbol>,
    /// The line of the action that is being read.
    action_line: usize,
    ranges: usize,
    parens: usize,
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
    fn next(&mut self) -> Token {
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

    fn back(&mut self) {
        self.cursor.waiting += 1;
    }

    #[inline]
    fn peek(&mut self) -> Token {
        let token = self.next();
        self.back();
        token
    }

    #[inline]
    fn next_word(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.sort != Sort::Space {
                return token;
            }
        }
    }

    #[inline]
    fn peek_word(&mut self) -> Token {
        let token = self.next_word();
        self.back();
        token
    }

    fn text(&self, token: &Token) -> &str {
        &self.source.text[token.at..token.end]
    }

    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let name = self.source.name.to_string();
        Err(Box::new(Error {
            template: name.clone(),
            location: Some(Location { name, line: self.cursor.tokens[0].line, column: None }),
            action: String::new(),
            kind: ErrorKind::Parse(message.into()),
            calls: Vec::new(),
        }))
    }

    fn unexpected<T>(&self, token: &Token, context: &str) -> Parsed<T> {
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
        let tree = Tree { name, source: Arc::clone(self.source), root };
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

    fn unquote(&self, token: &Token) -> Parsed<Str> {
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

/// Pipelines and what they are made of.
impl Parser<'_> {
    fn pipeline(&mut self, context: &'static str, end: Sort) -> Parsed<Pipe> {
        let at = self.peek_word().at;
        let mut pipe = Pipe { at, variables: Vec::new(), assign: false, commands: Vec::new() };
        while self.variable(&mut pipe, context)? {}
        let first = self.commands.len();
        loop {
            let token = self.next_word();
            match token.sort {
                sort if sort == end => break,
                Sort::Bool
                | Sort::CharConstant
                | Sort::Complex
                | Sort::Dot
                | Sort::Field
                | Sort::Identifier
                | Sort::Number
                | Sort::Nil
                | Sort::RawString
                | Sort::String
                | Sort::Variable
                | Sort::LeftParen => {
                    self.back();
                    let command = self.command()?;
                    self.commands.push(command);
                }
                _ => return self.unexpected(&token, context),
            }
        }
        pipe.commands = self.commands.drain(first..).collect();
        self.check(&pipe, context)?;
        Ok(pipe)
    }

    /// Reads a variable that is declared or set here; true if another may follow.
    fn variable(&mut self, pipe: &mut Pipe, context: &'static str) -> Parsed<bool> {
        let variable = self.peek_word();
        if variable.sort != Sort::Variable {
            return Ok(false);
        }
        self.next();
        let after = self.peek();
        let next = self.peek_word();
        let comma = next.sort == Sort::Char && self.text(&next) == ",";
        if comma || matches!(next.sort, Sort::Assign | Sort::Declare) {
            self.next_word();
            let variable = self.named(&variable);
            self.cursor.variables.push(variable.symbol);
            pipe.variables.push(variable);
        }
        match next.sort {
            Sort::Assign | Sort::Declare => {
                pipe.assign = next.sort == Sort::Assign;
            }
            _ if comma => {
                if context != "range" || pipe.variables.len() > 1 {
                    return self.error(format!("too many declarations in {context}"));
                }
                if !matches!(self.peek_word().sort, Sort::Variable | Sort::RightDelim | Sort::RightParen) {
                    return self.error("range can only initialize variables");
                }
                return Ok(true);
            }
            _ if after.sort == Sort::Space => {
                self.cursor.tokens[1] = after;
                self.cursor.tokens[2] = variable;
                self.cursor.waiting = 3;
            }
            _ => {
                self.cursor.tokens[1] = variable;
                self.cursor.waiting = 2;
            }
        }
        Ok(false)
    }

    /// The variable that a token names.
    fn named(&mut self, token: &Token) -> Variable {
        let name = Str::from(self.text(token));
        if name == "$" {
            return Variable { name, symbol: Symbol::DOLLAR };
        }
        let next = Symbol(self.names.len() as u32 + 1);
        let symbol = *self.names.entry(name.clone()).or_insert(next);
        Variable { name, symbol }
    }

    fn check(&self, pipe: &Pipe, context: &str) -> Parsed<()> {
        if pipe.commands.is_empty() {
            return self.error(format!("missing value for {context}"));
        }
        for (at, command) in pipe.commands.iter().enumerate().skip(1) {
            let first = command.args.first().map(|arg| &arg.term);
            if let Some(Term::Bool(_) | Term::Dot | Term::Nil | Term::Number(_) | Term::Str { .. }) = first {
                return self.error(format!("non executable command in pipeline stage {}", at + 1));
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Parsed<Command> {
        let at = self.peek_word().at;
        let first = self.args.len();
        loop {
            self.peek_word();
            let operand = self.operand()?;
            self.args.extend(operand);
            let token = self.next();
            match token.sort {
                Sort::Space => {}
                Sort::RightDelim | Sort::RightParen => {
                    self.back();
                    break;
                }
                Sort::Pipe => break,
                _ => return self.unexpected(&token, "operand"),
            }
        }
        if self.args.len() == first {
            return self.error("empty command");
        }
        Ok(Command { at, args: self.args.drain(first..).collect() })
    }

    /// Reads a term and the fields that follow it.
    fn operand(&mut self) -> Parsed<Option<Arg>> {
        let Some(arg) = self.term()? else {
            return Ok(None);
        };
        let first = self.peek();
        if first.sort != Sort::Field {
            return Ok(Some(arg));
        }
        let mut fields = match &arg.term {
            Term::Field(first) => first.to_vec(),
            _ => Vec::new(),
        };
        while self.peek().sort == Sort::Field {
            let token = self.next();
            fields.push(Str::from(&self.text(&token)[1..]));
        }
        let fields = fields.into_boxed_slice();
        let term = match arg.term {
            Term::Field(_) => Term::Field(fields),
            Term::Variable { variable, .. } => Term::Variable { variable, fields },
            Term::Bool(_) | Term::Str { .. } | Term::Number(_) | Term::Nil | Term::Dot => {
                let text = quote::double(&arg.to_string());
                return self.error(format!("unexpected . after term {text}"));
            }
            Term::Function { .. } | Term::Pipe(_) | Term::Chain { .. } => {
                Term::Chain { on: Box::new(arg), fields }
            }
        };
        Ok(Some(Arg { at: first.at, term }))
    }

    fn term(&mut self) -> Parsed<Option<Arg>> {
        let token = self.next_word();
        let term = match token.sort {
            Sort::Identifier => self.function(&token)?,
            Sort::Dot => Term::Dot,
            Sort::Nil => Term::Nil,
            Sort::Variable => {
                let variable = self.named(&token);
                if !self.cursor.variables.contains(&variable.symbol) {
                    return self.error(format!("undefined variable {}", quote::double(&variable.name)));
                }
                Term::Variable { variable, fields: Box::default() }
            }
            Sort::Field => Term::Field(Box::new([Str::from(&self.text(&token)[1..])])),
            Sort::Bool => Term::Bool(self.text(&token) == "true"),
            Sort::CharConstant | Sort::Complex | Sort::Number => {
                match Number::read(self.text(&token), token.sort) {
                    Ok(number) => Term::Number(Box::new(number)),
                    Err(message) => return self.error(message),
                }
            }
            Sort::LeftParen => self.parenthesis()?,
            Sort::String | Sort::RawString => {
                Term::Str { quoted: Str::from(self.text(&token)), text: self.unquote(&token)? }
            }
            _ => {
                self.back();
                return Ok(None);
            }
        };
        // A pipeline in parentheses is known by where its first word is.
        let at = if let Term::Pipe(pipe) = &term { pipe.at } else { token.at };
        Ok(Some(Arg { at, term }))
    }

    fn function(&self, token: &Token) -> Parsed<Term> {
        let name = self.text(token);
        let call = if let Some(function) = self.functions.shared(name) {
            Callee::Function(function)
        } else if let Some(builtin) = Builtin::of_name(name) {
            Callee::Builtin(builtin)
        } else {
            return self.error(format!("function {} not defined", quote::double(name)));
        };
        Ok(Term::Function { name: Str::from(name), call })
    }

    fn parenthesis(&mut self) -> Parsed<Term> {
        if self.cursor.parens == EXPRESSION_DEPTH {
            return self.error("max expression depth exceeded");
        }
        self.cursor.parens += 1;
        let pipe = deep(|| self.pipeline("parenthesized pipeline", Sort::RightParen))?;
        self.cursor.parens -= 1;
        Ok(Term::Pipe(Box::new(pipe)))
    }
}
