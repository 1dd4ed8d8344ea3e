//! How a program is kept from running on: its text is given places to count at.
//!
//! The evaluator has a bound on depth and none on time, and asks nobody while it works, except for imports. So before
//! a program is loaded, an import of a name that no file can have is put where every repetition has to pass: at the
//! beginning of what a function does and of what a field holds, and after each list that a comprehension goes through.
//! [`super::importer`] counts them and ends the program when there are too many. Nothing else of the program changes,
//! lines stay lines, and columns are counted back.
//!
//! What remains unbounded is work inside a single operation of the evaluator: to print or compare a value that holds
//! the same list again and again, and text that is doubled by adding it to itself. The caller's deadline is for those.

use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::ast::{
    Arg, Assert, Bind, CompSpecPart, Expr, ExprKind, Field, FieldName, Member, ObjInside, ObjLocal, Param,
};
use rsjsonnet_lang::interner::StrInterner;
use rsjsonnet_lang::lexer::Lexer;
use rsjsonnet_lang::parser::Parser;
use rsjsonnet_lang::span::{SpanId, SpanManager};
use rsjsonnet_lang::token::{STokenKind, Token, TokenKind};

use super::{Problem, message};
use crate::limits;

/// The import that counts a step.
pub(super) const STEP: &str = "\0step";

/// The import that counts an element of a comprehension.
pub(super) const ELEMENT: &str = "\0element";

/// The import that gives the library of a file.
pub(super) const LIBRARY: &str = "\0std";

const BEFORE_ALL: &str = "local std = import \"\\u0000std\"; ";
const BEFORE: &str = "assert import \"\\u0000step\"; ";
const AFTER: &str = " if import \"\\u0000element\"";

/// How much stack the parser gets for each level that a text nests. It was measured in a build without optimisation.
const LEVEL_BYTES: usize = 64 << 10;

/// A text with places to count at.
pub(super) struct Counted {
    pub(super) text: Vec<u8>,
    /// What was put in before which byte of the original, in order.
    inserted: Vec<(usize, &'static str)>,
    /// How much stack it takes to load it.
    pub(super) stack: usize,
}

impl Counted {
    /// A text of our own, which needs no counting.
    pub(super) fn plain(text: &str) -> Self {
        Counted { text: text.as_bytes().to_vec(), inserted: Vec::new(), stack: 0 }
    }

    /// Where something of the counted text stands in the original.
    pub(super) fn original(&self, at: usize) -> usize {
        let mut shift = 0;
        for (before, text) in &self.inserted {
            if before + shift + text.len() > at {
                return at.saturating_sub(shift).min(*before);
            }
            shift += text.len();
        }
        at - shift
    }
}

/// Puts in the places to count at. An error of the text names the byte that it is at.
pub(super) fn count(text: &[u8]) -> Result<Counted, (Problem, usize)> {
    if signs(text) > limits::JSONNET_SIGNS {
        return Err((Problem::new("the program has rows of signs that are too long"), 0));
    }
    let (arena, ast_arena, interner) = (Arena::new(), Arena::new(), StrInterner::new());
    let mut spans = SpanManager::new();
    let (context, _) = spans.insert_source_context(text.len());
    let lexed = Lexer::new(&arena, &ast_arena, &interner, &mut spans, context, text).lex_to_eof(false);
    let tokens = lexed.map_err(|error| {
        let (message, span) = message::of_lexer(&error);
        (Problem::new(message), spans.get_span(span).1)
    })?;
    let depth = nesting(&tokens);
    if depth > limits::JSONNET_NESTING {
        let limit = limits::JSONNET_NESTING;
        return Err((Problem::new(format!("the program nests deeper than {limit} levels")), 0));
    }
    let stack = (depth + 64) * LEVEL_BYTES;
    let parsed = stacker::grow(stack, || {
        Parser::new(&arena, &ast_arena, &interner, &mut spans, tokens).parse_root_expr()
    });
    let root = parsed.map_err(|error| {
        let (message, span) = message::of_parser(&error, text, &spans);
        (Problem::new(message), spans.get_span(span).1)
    })?;
    let mut inserted = places(&root, &spans);
    inserted.push((0, BEFORE_ALL));
    // What comes before everything comes first where another begins at the same byte.
    inserted.sort_by_key(|(at, text)| (*at, *text != BEFORE_ALL));
    Ok(Counted { text: insert(text, &inserted), inserted, stack })
}

fn insert(text: &[u8], inserted: &[(usize, &'static str)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + inserted.len() * BEFORE.len());
    let mut done = 0;
    for (at, more) in inserted {
        out.extend_from_slice(&text[done..*at]);
        out.extend_from_slice(more.as_bytes());
        done = *at;
    }
    out.extend_from_slice(&text[done..]);
    out
}

/// How much work the rows of signs in a text are.
fn signs(text: &[u8]) -> u64 {
    let rows = text.split(|byte| !b"!$:~+-&|^=<>*/%".contains(byte));
    rows.map(|row| (row.len() as u64).pow(2)).sum()
}

/// How deep a text nests at most: every bracket and every word that begins an expression may be a level. It may count more
/// than there are, never fewer.
fn nesting(tokens: &[Token<'_, '_>]) -> usize {
    let (mut around, mut deepest) = (Vec::new(), 0);
    let mut level = Level::default();
    for token in tokens {
        let TokenKind::Simple(kind) = token.kind else { continue };
        match kind {
            STokenKind::LeftBrace | STokenKind::LeftBracket | STokenKind::LeftParen => {
                let outer = level.outer + level.inner + 1;
                around.push(std::mem::replace(&mut level, Level { outer, ..Level::default() }));
            }
            STokenKind::RightBrace | STokenKind::RightBracket | STokenKind::RightParen => {
                level = around.pop().unwrap_or_default();
            }
            STokenKind::Local => {
                level.inner += 1;
                level.binding += 1;
            }
            STokenKind::If
            | STokenKind::Else
            | STokenKind::Function
            | STokenKind::Assert
            | STokenKind::Import
            | STokenKind::Importstr
            | STokenKind::Importbin
            | STokenKind::Error => level.inner += 1,
            STokenKind::Semicolon => level.binding = level.binding.saturating_sub(1),
            // Unless it is between variables, it ends everything that began since the bracket.
            STokenKind::Comma if level.binding == 0 => level.inner = 0,
            _ => {}
        }
        deepest = deepest.max(level.outer + level.inner);
    }
    deepest
}

/// Where a text stands between two brackets.
#[derive(Default)]
struct Level {
    /// How deep the bracket is.
    outer: usize,
    /// How many expressions have begun since.
    inner: usize,
    /// How many of them may still be giving variables.
    binding: usize,
}

/// Where there has to be counted.
fn places<'p, 'a>(root: &'a Expr<'p, 'a>, spans: &SpanManager) -> Vec<(usize, &'static str)> {
    let mut walk = Walk { waiting: vec![root], places: Vec::new(), spans };
    while let Some(expression) = walk.waiting.pop() {
        walk.expression(expression);
    }
    walk.places
}

/// The expressions that are still to be looked at, and what was found so far. It does not recurse, so that no program
/// is too deep for it.
struct Walk<'p, 'a, 's> {
    waiting: Vec<&'a Expr<'p, 'a>>,
    places: Vec<(usize, &'static str)>,
    spans: &'s SpanManager,
}

impl<'p, 'a> Walk<'p, 'a, '_> {
    fn before(&mut self, span: SpanId) {
        self.places.push((self.spans.get_span(span).1, BEFORE));
    }

    fn after(&mut self, span: SpanId) {
        self.places.push((self.spans.get_span(span).2, AFTER));
    }

    fn expression(&mut self, expression: &'a Expr<'p, 'a>) {
        match &expression.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::SelfObj
            | ExprKind::Dollar
            | ExprKind::String(_)
            | ExprKind::TextBlock(_)
            | ExprKind::Number(_)
            | ExprKind::SuperField(..)
            | ExprKind::Ident(_)
            // What is imported is a plain text, and has to stay one.
            | ExprKind::Import(_)
            | ExprKind::ImportStr(_)
            | ExprKind::ImportBin(_) => {}
            ExprKind::Paren(inner)
            | ExprKind::Field(inner, _)
            | ExprKind::SuperIndex(_, inner)
            | ExprKind::Unary(_, inner)
            | ExprKind::Error(inner)
            | ExprKind::InSuper(inner, _) => self.waiting.push(inner),
            ExprKind::Object(inside) => self.object(inside),
            ExprKind::ObjExt(inner, inside, _) => {
                self.waiting.push(inner);
                self.object(inside);
            }
            ExprKind::Array(items) => self.waiting.extend(items.iter()),
            ExprKind::ArrayComp(body, parts) => {
                self.waiting.push(body);
                self.comprehension(parts);
            }
            ExprKind::Index(left, right) | ExprKind::Binary(left, _, right) => {
                self.waiting.extend([left, right]);
            }
            ExprKind::Slice(inner, from, to, step) => {
                self.waiting.push(inner);
                self.waiting.extend([from, to, step].into_iter().flatten());
            }
            ExprKind::Call(callee, arguments, _) => {
                self.waiting.push(callee);
                self.waiting.extend(arguments.iter().map(|argument| match argument {
                    Arg::Positional(value) | Arg::Named(_, value) => value,
                }));
            }
            ExprKind::Local(binds, body) => {
                binds.iter().for_each(|bind| self.bind(bind));
                self.waiting.push(body);
            }
            ExprKind::If(condition, then, otherwise) => {
                self.waiting.extend([condition, then]);
                self.waiting.extend(otherwise.iter());
            }
            ExprKind::Func(parameters, body) => self.function(parameters, body),
            ExprKind::Assert(assert, body) => {
                self.assert(assert);
                self.waiting.push(body);
            }
        }
    }

    fn function(&mut self, parameters: &'a [Param<'p, 'a>], body: &'a Expr<'p, 'a>) {
        self.waiting.extend(parameters.iter().filter_map(|parameter| parameter.default_value.as_ref()));
        self.before(body.span);
        self.waiting.push(body);
    }

    fn assert(&mut self, assert: &'a Assert<'p, 'a>) {
        self.waiting.push(&assert.cond);
        self.waiting.extend(assert.msg.iter());
    }

    fn bind(&mut self, bind: &'a Bind<'p, 'a>) {
        match bind.params {
            Some((parameters, _)) => self.function(parameters, &bind.value),
            None => self.waiting.push(&bind.value),
        }
    }

    fn comprehension(&mut self, parts: &'a [CompSpecPart<'p, 'a>]) {
        for part in parts {
            match part {
                CompSpecPart::For(part) => {
                    self.after(part.inner.span);
                    self.waiting.push(&part.inner);
                }
                CompSpecPart::If(part) => self.waiting.push(&part.cond),
            }
        }
    }

    fn object(&mut self, inside: &'a ObjInside<'p, 'a>) {
        match inside {
            ObjInside::Members(members) => members.iter().for_each(|member| self.member(member)),
            ObjInside::Comp { locals1, name, body, locals2, comp_spec, .. } => {
                locals1.iter().chain(*locals2).for_each(|ObjLocal { bind }| self.bind(bind));
                self.waiting.push(name);
                self.before(body.span);
                self.waiting.push(body);
                self.comprehension(comp_spec);
            }
        }
    }

    fn member(&mut self, member: &'a Member<'p, 'a>) {
        let field = match member {
            Member::Local(local) => return self.bind(&local.bind),
            Member::Assert(assert) => return self.assert(assert),
            Member::Field(field) => field,
        };
        if let FieldName::Expr(name, _) = field.name() {
            self.waiting.push(name);
        }
        match field {
            Field::Value(_, _, _, value) => {
                self.before(value.span);
                self.waiting.push(value);
            }
            Field::Func(_, parameters, _, _, body) => self.function(parameters, body),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counted text with short signs for what was put in.
    fn counted(text: &str) -> String {
        let counted = count(text.as_bytes()).map_err(|(problem, at)| (problem.message, at)).unwrap();
        let text = String::from_utf8(counted.text).unwrap();
        text.replace(BEFORE_ALL, "").replace(BEFORE, "#").replace(AFTER, "@")
    }

    #[test]
    fn every_repetition_passes_a_place_to_count_at() {
        for (text, expected) in [
            ("1 + 2", "1 + 2"),
            ("local f(x, y=1) = x + y; f(1)", "local f(x, y=1) = #x + y; f(1)"),
            ("function(x) (x)", "function(x) #(x)"),
            (
                "{ a: 1, b+:: [2], ['c']: self { d(e):: e }, assert true }",
                "{ a: #1, b+:: #[2], ['c']: #self { d(e):: #e }, assert true }",
            ),
            ("[x for x in a if x > 1 for y in b]", "[x for x in a@ if x > 1 for y in b@]"),
            ("{ [k]: v for k in ks }", "{ [k]: #v for k in ks@ }"),
            ("local a = import 'x'; a[1:2]", "local a = import 'x'; a[1:2]"),
        ] {
            let text = text.replace(" a if", " [] if").replace("in b]", "in []]").replace("in ks", "in []");
            let expected =
                expected.replace(" a@", " []@").replace("in b@", "in []@").replace("in ks", "in []");
            assert_eq!(counted(&text), expected);
        }
    }

    #[test]
    fn places_in_the_counted_text_lead_back_to_the_original() {
        let text = "local f(x) = x;\n{ a: f(1), b: [y for y in [1]] }";
        let counted = count(text.as_bytes()).map_err(|(problem, _)| problem.message).unwrap();
        for word in ["local f", "= ", "a: ", "f(1)", "b: ", "y for", "[1]", "]] }", "] }", " }"] {
            let (before, after) = (text.find(word), String::from_utf8_lossy(&counted.text).find(word));
            let (Some(before), Some(after)) = (before, after) else { continue };
            // The first words of what was put in are the library, which stands before everything.
            if word == "= " {
                continue;
            }
            assert_eq!(counted.original(after), before, "{word}");
        }
    }

    #[test]
    fn a_text_that_nests_without_end_is_refused() {
        let (problem, _) = count("{a:".repeat(20_000).as_bytes()).err().unwrap();
        assert_eq!(problem.message, "the program nests deeper than 3000 levels");
    }
}
