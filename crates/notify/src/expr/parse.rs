//! From a text to an expression.

use std::sync::Arc;

use super::ExprError;
use super::builtin::{NAMES, PREDICATES};
use super::node::{Binary, Kind, Node, Unary};
use super::token::{Placed, Token, tokens};
use crate::limits;

/// An expression that is ready to be evaluated, any number of times.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(super) root: Node,
}

/// Reads an expression.
pub fn parse(text: &str) -> Result<Expression, ExprError> {
    if text.len() > limits::EXPRESSION_BYTES {
        let most = limits::EXPRESSION_BYTES;
        return Err(ExprError::at(0, format!("the expression has more than {most} bytes")));
    }
    let mut parser = Parser { tokens: tokens(text)?, at: 0, predicates: 0, nodes: 0, nesting: 0 };
    let root = parser.sequence()?;
    match parser.peek() {
        Token::End => Ok(Expression { root }),
        _ => Err(parser.unexpected()),
    }
}

/// How much stack is kept free, and how much is added when it is not.
const STACK: (usize, usize) = (128 << 10, 1 << 20);

type Parsed<T = Node> = Result<T, ExprError>;

struct Parser {
    tokens: Vec<Placed>,
    at: usize,
    /// How many predicates stand around here.
    predicates: usize,
    nodes: usize,
    nesting: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |placed| &placed.token)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |placed| placed.place)
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn unexpected(&self) -> ExprError {
        let message = match self.peek() {
            Token::End => "the expression ends too early".to_owned(),
            Token::Name(word) | Token::Number(word) | Token::Operator(word) => {
                format!("{word} cannot stand here")
            }
            Token::Text(_) | Token::Bytes(_) => "a text cannot stand here".to_owned(),
            Token::Bracket(c) => format!("{c} cannot stand here"),
        };
        ExprError::at(self.place(), message)
    }

    fn is_operator(&self, wanted: &str) -> bool {
        matches!(self.peek(), Token::Operator(word) if word == wanted)
    }

    fn is_bracket(&self, wanted: char) -> bool {
        *self.peek() == Token::Bracket(wanted)
    }

    fn take_operator(&mut self, wanted: &str) -> bool {
        let is = self.is_operator(wanted);
        if is {
            self.advance();
        }
        is
    }

    fn expect_operator(&mut self, wanted: &str) -> Parsed<()> {
        if self.take_operator(wanted) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_bracket(&mut self, wanted: char) -> Parsed<()> {
        if !self.is_bracket(wanted) {
            return Err(self.unexpected());
        }
        self.advance();
        Ok(())
    }

    fn expect_name(&mut self) -> Parsed<String> {
        let Token::Name(name) = self.peek() else { return Err(self.unexpected()) };
        let name = name.clone();
        self.advance();
        Ok(name)
    }

    fn node(&mut self, place: usize, kind: Kind) -> Parsed {
        self.nodes += 1;
        if self.nodes > limits::EXPRESSION_NODES {
            let most = limits::EXPRESSION_NODES;
            return Err(ExprError::at(place, format!("the expression has more than {most} parts")));
        }
        let depth = 1 + deepest(&kind);
        if depth > limits::EXPRESSION_DEPTH {
            return Err(ExprError::at(place, too_deep()));
        }
        Ok(Node { kind, place, depth })
    }

    fn sequence(&mut self) -> Parsed {
        let place = self.place();
        let mut nodes = vec![self.expression(0)?];
        while self.take_operator(";") {
            if *self.peek() == Token::End {
                break;
            }
            nodes.push(self.expression(0)?);
        }
        match nodes.pop() {
            Some(only) if nodes.is_empty() => Ok(only),
            Some(last) => {
                nodes.push(last);
                self.node(place, Kind::Sequence(nodes))
            }
            None => Err(self.unexpected()),
        }
    }

    fn expression(&mut self, precedence: u16) -> Parsed {
        self.nesting += 1;
        if self.nesting > limits::EXPRESSION_DEPTH {
            return Err(ExprError::at(self.place(), too_deep()));
        }
        let node = stacker::maybe_grow(STACK.0, STACK.1, || self.operation(precedence));
        self.nesting -= 1;
        node
    }

    fn operation(&mut self, precedence: u16) -> Parsed {
        if precedence == 0 && self.is_operator("let") {
            return self.variable();
        }
        if precedence == 0 && self.is_operator("if") {
            return self.condition();
        }
        let mut left = self.primary()?;
        let mut coalesced = false;
        while let Some((place, negated, operator, strength)) = self.operator(precedence)? {
            let Some(operator) = operator else {
                // A pipe: what stands before it becomes the first argument.
                let place = self.place();
                let name = self.expect_name()?;
                left = self.call(place, name, vec![left])?;
                coalesced = false;
                continue;
            };
            if coalesced && operator != Binary::Coalesce {
                let word = operator.word();
                return Err(ExprError::at(
                    place,
                    format!("?? and {word} cannot be mixed without parentheses"),
                ));
            }
            coalesced = operator == Binary::Coalesce;
            if operator.is_comparison() {
                left = self.comparison(left, operator, place, strength)?;
                continue;
            }
            let is_right = operator == Binary::Power;
            let right = self.expression(if is_right { strength } else { strength + 1 })?;
            left = self.node(place, Kind::Binary(operator, Arc::new(left), Arc::new(right)))?;
            if negated {
                left = self.node(place, Kind::Unary(Unary::Not, Box::new(left)))?;
            }
        }
        if precedence == 0 { self.ternary(left) } else { Ok(left) }
    }

    /// The operator that comes next and binds strongly enough: where it is, whether it is negated, and how strong it is.
    /// One without a meaning of its own is a pipe.
    #[allow(clippy::type_complexity)]
    fn operator(&mut self, precedence: u16) -> Parsed<Option<(usize, bool, Option<Binary>, u16)>> {
        let Token::Operator(word) = self.peek().clone() else { return Ok(None) };
        let start = self.at;
        let negated = word == "not";
        let word = if negated {
            self.advance();
            match self.peek() {
                Token::Operator(word) if Binary::of(word).is_some_and(|(of, _)| of.can_be_negated()) => {
                    word.clone()
                }
                _ => return Err(self.unexpected()),
            }
        } else {
            word
        };
        let place = self.place();
        if word == "|" && precedence == 0 {
            self.advance();
            return Ok(Some((place, false, None, 0)));
        }
        match Binary::of(&word) {
            Some((operator, strength)) if strength >= precedence => {
                self.advance();
                Ok(Some((place, negated, Some(operator), strength)))
            }
            _ => {
                self.at = start;
                Ok(None)
            }
        }
    }

    /// `a < b < c` is `a < b and b < c`.
    fn comparison(&mut self, left: Node, operator: Binary, place: usize, strength: u16) -> Parsed {
        let (mut left, mut operator, mut place) = (Arc::new(left), operator, place);
        let mut all: Option<Node> = None;
        loop {
            let right = Arc::new(self.expression(strength + 1)?);
            let next = self.node(place, Kind::Binary(operator, left, right.clone()))?;
            all = Some(match all {
                None => next,
                Some(before) => {
                    self.node(place, Kind::Binary(Binary::And, Arc::new(before), Arc::new(next)))?
                }
            });
            left = right;
            let Token::Operator(word) = self.peek() else { break };
            match Binary::of(word) {
                Some((next, _)) if next.is_comparison() => {
                    operator = next;
                    place = self.place();
                    self.advance();
                }
                _ => break,
            }
        }
        all.ok_or_else(|| self.unexpected())
    }

    fn variable(&mut self) -> Parsed {
        self.advance();
        let place = self.place();
        let name = self.expect_name()?;
        self.expect_operator("=")?;
        let value = Box::new(self.expression(0)?);
        self.expect_operator(";")?;
        let body = Box::new(self.sequence()?);
        self.node(place, Kind::Let { name, value, body })
    }

    fn condition(&mut self) -> Parsed {
        let place = self.place();
        self.advance();
        let condition = self.expression(0)?;
        self.expect_bracket('{')?;
        let then = self.sequence()?;
        self.expect_bracket('}')?;
        self.expect_operator("else")?;
        let other = if self.is_operator("if") {
            self.expression(0)?
        } else {
            self.expect_bracket('{')?;
            let other = self.sequence()?;
            self.expect_bracket('}')?;
            other
        };
        self.node(place, Kind::Conditional(Box::new(condition), Box::new(then), Box::new(other)))
    }

    fn ternary(&mut self, condition: Node) -> Parsed {
        let mut node = condition;
        while self.is_operator("?") {
            let place = self.place();
            self.advance();
            if self.take_operator(":") {
                let other = self.expression(0)?;
                node = self.node(place, Kind::Elvis(Box::new(node), Box::new(other)))?;
                continue;
            }
            let then = self.expression(0)?;
            self.expect_operator(":")?;
            let other = self.expression(0)?;
            node = self.node(place, Kind::Conditional(Box::new(node), Box::new(then), Box::new(other)))?;
        }
        Ok(node)
    }

    fn primary(&mut self) -> Parsed {
        let place = self.place();
        match self.peek().clone() {
            Token::Operator(word) => {
                let unary = match word.as_str() {
                    "not" | "!" => Some((Unary::Not, 50)),
                    "-" => Some((Unary::Minus, 90)),
                    "+" => Some((Unary::Plus, 90)),
                    _ => None,
                };
                if let Some((unary, strength)) = unary {
                    self.advance();
                    let of = self.expression(strength)?;
                    let node = self.node(place, Kind::Unary(unary, Box::new(of)))?;
                    return self.postfix(node);
                }
                self.special(place, &word)
            }
            Token::Bracket('(') => {
                self.advance();
                let node = self.sequence()?;
                self.expect_bracket(')')?;
                self.postfix(node)
            }
            _ => self.secondary(place),
        }
    }

    /// What begins with an operator that is none: `#`, `.name` in a predicate, `::name`.
    fn special(&mut self, place: usize, word: &str) -> Parsed {
        match word {
            "#" if self.predicates > 0 => {
                self.advance();
                let follows = self.tokens.get(self.at).is_some_and(|next| next.place == place + 1);
                let name = match self.peek() {
                    Token::Name(name) if follows => Some(name.clone()),
                    _ => None,
                };
                if name.is_some() {
                    self.advance();
                }
                let node = self.node(place, Kind::Pointer(name.unwrap_or_default()))?;
                self.postfix(node)
            }
            "." if self.predicates > 0 => {
                let node = self.node(place, Kind::Pointer(String::new()))?;
                self.postfix(node)
            }
            "::" => {
                self.advance();
                let place = self.place();
                let name = self.expect_name()?;
                let node = self.call(place, name, Vec::new())?;
                self.postfix(node)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn secondary(&mut self, place: usize) -> Parsed {
        let node = match self.peek().clone() {
            Token::Name(name) => {
                self.advance();
                match name.as_str() {
                    "true" => return self.node(place, Kind::Bool(true)),
                    "false" => return self.node(place, Kind::Bool(false)),
                    "nil" => return self.node(place, Kind::Nil),
                    _ if self.is_bracket('(') => self.call(place, name, Vec::new())?,
                    _ => self.node(place, Kind::Name(name))?,
                }
            }
            Token::Number(word) => {
                self.advance();
                let kind =
                    number(&word).ok_or_else(|| ExprError::at(place, format!("{word} is no number")))?;
                return self.node(place, kind);
            }
            Token::Text(text) => {
                self.advance();
                self.node(place, Kind::Text(text))?
            }
            Token::Bytes(bytes) => {
                self.advance();
                self.node(place, Kind::Bytes(bytes.into()))?
            }
            Token::Bracket('[') => self.list(place)?,
            Token::Bracket('{') => self.map(place)?,
            _ => return Err(self.unexpected()),
        };
        self.postfix(node)
    }

    fn call(&mut self, place: usize, name: String, first: Vec<Node>) -> Parsed {
        if let Some((name, least, kinds)) = PREDICATES.iter().find(|(known, ..)| *known == name) {
            return self.predicate_call(place, name, *least, kinds, first);
        }
        let callee = match NAMES.iter().find(|known| **known == name) {
            Some(known) => Err(*known),
            None => Ok(Box::new(self.node(place, Kind::Name(name))?)),
        };
        let arguments = self.arguments(first)?;
        match callee {
            Err(name) => self.node(place, Kind::Builtin { name, arguments }),
            Ok(callee) => self.node(place, Kind::Call { callee, arguments }),
        }
    }

    fn arguments(&mut self, first: Vec<Node>) -> Parsed<Vec<Node>> {
        let offset = first.len();
        let mut arguments = first;
        self.expect_bracket('(')?;
        while !self.is_bracket(')') {
            if arguments.len() > offset {
                self.expect_operator(",")?;
                if self.is_bracket(')') {
                    break;
                }
            }
            arguments.push(self.expression(0)?);
        }
        self.expect_bracket(')')?;
        Ok(arguments)
    }

    /// A call of which some arguments are evaluated for each element; `kinds` has `p` for those.
    fn predicate_call(
        &mut self,
        place: usize,
        name: &'static str,
        least: usize,
        kinds: &'static str,
        first: Vec<Node>,
    ) -> Parsed {
        self.expect_bracket('(')?;
        let offset = first.len();
        let mut arguments = first;
        for (at, kind) in kinds.chars().enumerate().skip(offset) {
            if self.is_bracket(')') {
                if at < least {
                    let message = format!("{name} takes at least {least} arguments");
                    return Err(ExprError::at(self.place(), message));
                }
                break;
            }
            if at > offset {
                self.expect_operator(",")?;
            }
            arguments.push(if kind == 'p' { self.predicate()? } else { self.expression(0)? });
        }
        self.take_operator(",");
        self.expect_bracket(')')?;
        self.node(place, Kind::Builtin { name, arguments })
    }

    fn predicate(&mut self) -> Parsed {
        let place = self.place();
        let braced = self.is_bracket('{');
        self.predicates += 1;
        let node = if braced {
            self.advance();
            let node = self.sequence()?;
            self.expect_bracket('}')?;
            node
        } else {
            self.expression(0)?
        };
        self.predicates -= 1;
        self.node(place, Kind::Predicate(Box::new(node)))
    }

    fn list(&mut self, place: usize) -> Parsed {
        let mut items = Vec::new();
        self.expect_bracket('[')?;
        while !self.is_bracket(']') {
            if !items.is_empty() {
                self.expect_operator(",")?;
                if self.is_bracket(']') {
                    break;
                }
            }
            items.push(self.expression(0)?);
        }
        self.expect_bracket(']')?;
        self.node(place, Kind::List(items))
    }

    fn map(&mut self, place: usize) -> Parsed {
        let mut pairs = Vec::new();
        self.expect_bracket('{')?;
        while !self.is_bracket('}') {
            if !pairs.is_empty() {
                self.expect_operator(",")?;
                if self.is_bracket('}') {
                    break;
                }
            }
            let at = self.place();
            let key = match self.peek().clone() {
                Token::Name(word) | Token::Number(word) => {
                    self.advance();
                    self.node(at, Kind::Text(word.into()))?
                }
                Token::Text(text) => {
                    self.advance();
                    self.node(at, Kind::Text(text))?
                }
                Token::Bracket('(') => self.expression(0)?,
                _ => return Err(self.unexpected()),
            };
            self.expect_operator(":")?;
            let value = self.expression(0)?;
            pairs.push((key, value));
        }
        self.expect_bracket('}')?;
        self.node(place, Kind::Map(pairs))
    }

    fn postfix(&mut self, node: Node) -> Parsed {
        let mut node = node;
        loop {
            let place = self.place();
            match self.peek() {
                Token::Operator(word) if word == "." || word == "?." => {
                    let optional = word == "?.";
                    self.advance();
                    node = if optional && self.is_bracket('[') {
                        self.index(node, place, true)?
                    } else {
                        self.property(node, optional)?
                    };
                }
                Token::Bracket('[') => node = self.index(node, place, false)?,
                _ => return Ok(node),
            }
        }
    }

    fn property(&mut self, node: Node, optional: bool) -> Parsed {
        let place = self.place();
        let name = match self.peek() {
            Token::Name(name) => name.clone(),
            // Words that are operators elsewhere are names here.
            Token::Operator(word) if word.starts_with(|c: char| c.is_ascii_alphabetic()) => word.clone(),
            _ => return Err(self.unexpected()),
        };
        self.advance();
        let property = Box::new(self.node(place, Kind::Text(name.into()))?);
        let (of, chained) = match node.kind {
            Kind::Chain(inner) => (inner, true),
            _ => (Box::new(node), false),
        };
        let mut node = self.node(place, Kind::Member { of, property, optional })?;
        if self.is_bracket('(') {
            let arguments = self.arguments(Vec::new())?;
            node = self.node(place, Kind::Call { callee: Box::new(node), arguments })?;
        }
        if chained || optional { self.node(place, Kind::Chain(Box::new(node))) } else { Ok(node) }
    }

    fn index(&mut self, node: Node, place: usize, optional: bool) -> Parsed {
        self.expect_bracket('[')?;
        let of = Box::new(node);
        let from = if self.is_operator(":") { None } else { Some(Box::new(self.expression(0)?)) };
        if self.take_operator(":") {
            let to = if self.is_bracket(']') { None } else { Some(Box::new(self.expression(0)?)) };
            self.expect_bracket(']')?;
            return self.node(place, Kind::Slice { of, from, to });
        }
        self.expect_bracket(']')?;
        let Some(property) = from else { return Err(self.unexpected()) };
        let node = self.node(place, Kind::Member { of, property, optional })?;
        if optional { self.node(place, Kind::Chain(Box::new(node))) } else { Ok(node) }
    }
}

fn too_deep() -> String {
    format!("more than {} parts stand inside each other", limits::EXPRESSION_DEPTH)
}

/// How deep the parts of a part go.
fn deepest(kind: &Kind) -> usize {
    let most = |nodes: &[Node]| nodes.iter().map(|node| node.depth).max().unwrap_or(0);
    let maybe = |node: &Option<Box<Node>>| node.as_ref().map_or(0, |node| node.depth);
    match kind {
        Kind::Nil | Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) => 0,
        Kind::Text(_) | Kind::Bytes(_) | Kind::Name(_) | Kind::Pointer(_) => 0,
        Kind::Unary(_, node) | Kind::Chain(node) | Kind::Predicate(node) => node.depth,
        Kind::Binary(_, left, right) => left.depth.max(right.depth),
        Kind::Elvis(condition, other) => condition.depth.max(other.depth),
        Kind::Member { of, property, .. } => of.depth.max(property.depth),
        Kind::Slice { of, from, to } => of.depth.max(maybe(from)).max(maybe(to)),
        Kind::Call { callee, arguments } => callee.depth.max(most(arguments)),
        Kind::Builtin { arguments, .. } => most(arguments),
        Kind::Conditional(condition, then, other) => condition.depth.max(then.depth).max(other.depth),
        Kind::Let { value, body, .. } => value.depth.max(body.depth),
        Kind::Sequence(nodes) | Kind::List(nodes) => most(nodes),
        Kind::Map(pairs) => pairs.iter().map(|(key, value)| key.depth.max(value.depth)).max().unwrap_or(0),
    }
}

fn number(word: &str) -> Option<Kind> {
    let word = word.replace('_', "").to_ascii_lowercase();
    let whole = |digits: &str, radix| i64::from_str_radix(digits, radix).ok().map(Kind::Int);
    if let Some(digits) = word.strip_prefix("0x") {
        return whole(digits, 16);
    }
    if word.contains(['.', 'e']) {
        return word.parse::<f64>().ok().filter(|number| number.is_finite()).map(Kind::Float);
    }
    if let Some(digits) = word.strip_prefix("0b") {
        return whole(digits, 2);
    }
    match word.strip_prefix("0o") {
        Some(digits) => whole(digits, 8),
        None => whole(&word, 10),
    }
}
