//! How a program is kept from running on and from growing: its text is given places to count at.
//!
//! The evaluator has a bound on depth and none on time and memory, and asks nobody while it works, except for imports. So
//! before a program is loaded, imports of names that no file can have are put into it.
//!
//! Where every repetition has to pass, at the beginning of what a function does and of what a field holds and after each
//! list that a comprehension goes through, they count steps. What adds, formats, cuts or prints is made a call of a
//! function of ours, which sees the operands, counts what comes of them, and then does what was to be done:
//! `a + b` becomes `(import "\u0000add")(a, b)`, and so do `a { … }` and `a+: b`, which are sums too. It has to see them,
//! because nothing is evaluated before it is needed: in `local b = a + a, c = b + b; c` whatever stands before the sums is
//! done before all of them. Those functions are in `library.libsonnet`, and [`super::importer`] ends the program when
//! there was too much. Nothing else of the program changes, and places are told as in the original.

use std::borrow::Cow;
use std::ops::Range;

use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::ast::{
    Arg, Assert, BinaryOp, Bind, CompSpecPart, Expr, ExprKind, Field, FieldName, Member, ObjInside, ObjLocal,
    Param,
};
use rsjsonnet_lang::interner::StrInterner;
use rsjsonnet_lang::lexer::Lexer;
use rsjsonnet_lang::parser::Parser;
use rsjsonnet_lang::span::{SpanId, SpanManager};
use rsjsonnet_lang::token::{STokenKind, Token, TokenKind};

use super::edits::{Edited, Edits, Piece};
use super::{Problem, message};
use crate::limits;

/// The import that counts a step, or as many as follow.
pub(super) const STEP: &str = "\0step";

/// The import that gives the library of a file.
pub(super) const LIBRARY: &str = "\0std";

/// The imports that give functions of ours.
pub(super) const FUNCTIONS: [&str; 8] =
    ["\0add", "\0extend", "\0sum", "\0plus", "\0plusObject", "\0rem", "\0part", "\0told"];

const BEFORE_ALL: &str = "local std = import \"\\u0000std\"; ";
const ADD: &str = "(import \"\\u0000add\")(";
const EXTEND: &str = "(import \"\\u0000extend\")(";
const SUM: &str = "(import \"\\u0000sum\")(";
const REM: &str = "(import \"\\u0000rem\")(";
const PART: &str = "(import \"\\u0000part\")(";
const TOLD: &str = "(import \"\\u0000told\")(";

/// A field of objects that have assertions, and one that silences them. To read how large an object is must not check it.
const ASSERTS: &str = "\"\\u0000asserts\":: true, ";
const QUIET: &str = "if \"\\u0000quiet\" in self then true else (";

/// How many things that a function or a field makes in one go are a step, the first of them aside: elements, fields,
/// variables, arguments.
const STEP_THINGS: u64 = 4;

/// How much stack the parser gets for each level that a text nests. It was measured in a build without optimisation.
const LEVEL_BYTES: usize = 64 << 10;

/// A text with places to count at.
pub(super) struct Counted {
    pub(super) edited: Edited,
    /// How much stack it takes to load it.
    pub(super) stack: usize,
}

impl Counted {
    /// A text of our own, which needs no counting.
    pub(super) fn plain(text: &str) -> Self {
        Counted { edited: Edited::plain(text.as_bytes()), stack: 0 }
    }

    /// Where something of the counted text stands in the original.
    pub(super) fn original(&self, at: usize) -> usize {
        self.edited.place(at)
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
    refuse_depth(depth)?;
    let operators = tokens.iter().filter(|token| is_rewritten(token));
    let operators = operators.map(|token| spans.get_span(token.span).1).collect();
    let parsed = stacker::grow((depth + 64) * LEVEL_BYTES, || {
        Parser::new(&arena, &ast_arena, &interner, &mut spans, tokens).parse_root_expr()
    });
    let root = parsed.map_err(|error| {
        let (message, span) = message::of_parser(&error, text, &spans);
        (Problem::new(message), spans.get_span(span).1)
    })?;
    let edited = edits(&root, &spans, operators).apply(text);
    refuse_depth(depth + edited.depth)?;
    // What is put in before a bracket may have words that begin an expression, each of them a level too.
    let stack = (depth + 3 * edited.depth + 64) * LEVEL_BYTES;
    Ok(Counted { edited, stack })
}

fn refuse_depth(depth: usize) -> Result<(), (Problem, usize)> {
    if depth > limits::JSONNET_NESTING {
        let limit = limits::JSONNET_NESTING;
        return Err((Problem::new(format!("the program nests deeper than {limit} levels")), 0));
    }
    Ok(())
}

/// Whether a sign is one that gives way to a call.
fn is_rewritten(token: &Token<'_, '_>) -> bool {
    use STokenKind as Kind;
    matches!(
        token.kind,
        TokenKind::Simple(
            Kind::Plus | Kind::Percent | Kind::PlusColon | Kind::PlusColonColon | Kind::PlusColonColonColon
        )
    )
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

/// What has to be changed.
fn edits<'p, 'a>(root: &'a Expr<'p, 'a>, spans: &SpanManager, operators: Vec<usize>) -> Edits {
    let mut walk = Walk {
        waiting: vec![(root, 0)],
        edits: Edits::default(),
        regions: vec![Region { edit: None, things: 0 }],
        operators,
        spans,
    };
    walk.edits.open(0, BEFORE_ALL);
    while let Some((expression, region)) = walk.waiting.pop() {
        walk.expression(expression, region);
    }
    walk.finish()
}

/// What is evaluated in one go: the body of a function, a field, an element of a comprehension.
struct Region {
    /// The change that counts it; the whole program is evaluated once.
    edit: Option<(usize, Kind)>,
    /// How many elements, fields, variables and arguments it has.
    things: u64,
}

#[derive(Clone, Copy)]
enum Kind {
    Body,
    Element,
}

/// The expressions that are still to be looked at, and what was found so far. It does not recurse, so that no program
/// is too deep for it.
struct Walk<'p, 'a, 's> {
    waiting: Vec<(&'a Expr<'p, 'a>, usize)>,
    edits: Edits,
    regions: Vec<Region>,
    /// Where signs stand that are rewritten, in order.
    operators: Vec<usize>,
    spans: &'s SpanManager,
}

impl<'p, 'a> Walk<'p, 'a, '_> {
    fn finish(mut self) -> Edits {
        for region in &self.regions {
            let Some((edit, kind)) = region.edit else { continue };
            let more = region.things.saturating_sub(STEP_THINGS) / STEP_THINGS;
            let steps = match kind {
                Kind::Body => 1 + more,
                Kind::Element => limits::JSONNET_ELEMENT_STEPS + more,
            };
            let import = if steps == 1 { String::new() } else { steps.to_string() };
            self.edits.say(
                edit,
                match kind {
                    Kind::Body => format!("assert import \"\\u0000step{import}\"; "),
                    Kind::Element => format!(" if import \"\\u0000step{import}\""),
                },
            );
        }
        self.edits
    }

    fn range(&self, span: SpanId) -> Range<usize> {
        let (_, start, end) = self.spans.get_span(span);
        start..end
    }

    /// The sign that follows a byte.
    fn operator(&self, after: usize) -> Range<usize> {
        let index = self.operators.partition_point(|at| *at < after);
        let at = self.operators.get(index).copied().unwrap_or(after);
        at..at + 1
    }

    fn call(
        &mut self,
        range: Range<usize>,
        before: impl Into<Cow<'static, str>>,
        after: impl Into<Cow<'static, str>>,
    ) {
        self.edits.open(range.start, before);
        self.edits.close(range.end, after);
    }

    fn wrap(&mut self, range: Range<usize>, before: impl Into<Cow<'static, str>>) {
        self.call(range, before, ")");
    }

    /// A place to count at before an expression, and what is evaluated with it.
    fn body(&mut self, body: &'a Expr<'p, 'a>) -> usize {
        let edit = self.edits.open(self.range(body.span).start, "");
        self.regions.push(Region { edit: Some((edit, Kind::Body)), things: 0 });
        self.regions.len() - 1
    }

    fn things(&mut self, region: usize, count: usize) {
        if let Some(region) = self.regions.get_mut(region) {
            region.things += count as u64;
        }
    }

    fn expression(&mut self, expression: &'a Expr<'p, 'a>, region: usize) {
        let range = self.range(expression.span);
        let mut wait = |inner: &'a Expr<'p, 'a>| self.waiting.push((inner, region));
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
            | ExprKind::InSuper(inner, _) => wait(inner),
            ExprKind::Error(message) => {
                wait(message);
                self.told(message);
            }
            ExprKind::Object(inside) => self.object(inside, range, region),
            ExprKind::ObjExt(inner, inside, span) => {
                wait(inner);
                let braces = self.range(*span);
                match weight(inside) {
                    Some(weight) => self.call(range, EXTEND, format!(", {weight})")),
                    None => self.wrap(range, ADD),
                }
                self.edits.divide(braces.start..braces.start, ", ");
                self.object(inside, braces, region);
            }
            ExprKind::Array(items) => {
                items.iter().for_each(wait);
                self.things(region, items.len());
            }
            ExprKind::ArrayComp(body, parts) => {
                let element = self.comprehension(parts, region);
                self.waiting.push((body, element));
            }
            ExprKind::Binary(left, BinaryOp::Add, right) => self.sum(range, left, right, region),
            ExprKind::Binary(left, BinaryOp::Rem, right) => {
                wait(left);
                wait(right);
                self.wrap(range, REM);
                let sign = self.operator(self.range(left.span).end);
                self.edits.divide(sign, ",");
            }
            ExprKind::Index(left, right) | ExprKind::Binary(left, _, right) => {
                wait(left);
                wait(right);
            }
            ExprKind::Slice(inner, from, to, step) => {
                wait(inner);
                [from, to, step].into_iter().copied().flatten().for_each(wait);
                self.wrap(self.range(inner.span), PART);
            }
            ExprKind::Call(callee, arguments, _) => {
                wait(callee);
                arguments.iter().for_each(|argument| match argument {
                    Arg::Positional(value) | Arg::Named(_, value) => wait(value),
                });
                self.things(region, arguments.len());
            }
            ExprKind::Local(binds, body) => {
                wait(body);
                binds.iter().for_each(|bind| self.bind(bind, region));
            }
            ExprKind::If(condition, then, otherwise) => {
                wait(condition);
                wait(then);
                otherwise.iter().copied().for_each(wait);
            }
            ExprKind::Func(parameters, body) => self.function(parameters, body),
            ExprKind::Assert(assert, body) => {
                wait(body);
                self.assert(assert, region);
            }
        }
    }

    /// Makes a sum a call. However many it adds, it is one: every call in a call takes place on the stack.
    fn sum(&mut self, range: Range<usize>, left: &'a Expr<'p, 'a>, right: &'a Expr<'p, 'a>, region: usize) {
        let (mut terms, mut first) = (vec![right], left);
        while let ExprKind::Binary(left, BinaryOp::Add, right) = &first.kind {
            terms.push(right);
            first = left;
        }
        terms.push(first);
        self.waiting.extend(terms.iter().map(|term| (*term, region)));
        let literal = |term: &&Expr<'_, '_>| matches!(term.kind, ExprKind::String(_) | ExprKind::Number(_));
        if terms.iter().all(literal) {
            return;
        }
        let many = terms.len() > 2;
        match literal_weight(right) {
            _ if many => self.call(range, SUM, "])"),
            Some(weight) => self.call(range, EXTEND, format!(", {weight})")),
            None => self.wrap(range, ADD),
        }
        let mut divider = if many { ",[" } else { "," };
        for term in terms[1..].iter().rev() {
            self.edits.divide(self.operator(self.range(term.span).end), divider);
            divider = ",";
        }
        self.things(region, terms.len());
    }

    fn function(&mut self, parameters: &'a [Param<'p, 'a>], body: &'a Expr<'p, 'a>) {
        let region = self.body(body);
        self.things(region, parameters.len());
        let defaults = parameters.iter().filter_map(|parameter| parameter.default_value.as_ref());
        self.waiting.extend(defaults.map(|value| (value, region)));
        self.waiting.push((body, region));
    }

    fn assert(&mut self, assert: &'a Assert<'p, 'a>, region: usize) {
        self.waiting.push((&assert.cond, region));
        if let Some(message) = &assert.msg {
            self.waiting.push((message, region));
            self.told(message);
        }
    }

    /// What is told when a program fails is printed.
    fn told(&mut self, message: &Expr<'_, '_>) {
        if !matches!(message.kind, ExprKind::String(_) | ExprKind::TextBlock(_)) {
            self.wrap(self.range(message.span), TOLD);
        }
    }

    fn bind(&mut self, bind: &'a Bind<'p, 'a>, region: usize) {
        self.things(region, 1);
        match bind.params {
            Some((parameters, _)) => self.function(parameters, &bind.value),
            None => self.waiting.push((&bind.value, region)),
        }
    }

    /// Counts the elements, and says what is evaluated with each.
    fn comprehension(&mut self, parts: &'a [CompSpecPart<'p, 'a>], region: usize) -> usize {
        let mut within = region;
        for part in parts {
            match part {
                CompSpecPart::For(part) => {
                    self.waiting.push((&part.inner, within));
                    let edit = self.edits.close(self.range(part.inner.span).end, "");
                    self.regions.push(Region { edit: Some((edit, Kind::Element)), things: 0 });
                    within = self.regions.len() - 1;
                }
                CompSpecPart::If(part) => self.waiting.push((&part.cond, within)),
            }
        }
        within
    }

    fn object(&mut self, inside: &'a ObjInside<'p, 'a>, braces: Range<usize>, region: usize) {
        match inside {
            ObjInside::Members(members) => self.members(members, braces, region),
            ObjInside::Comp { locals1, name, plus, body, locals2, comp_spec } => {
                let element = self.comprehension(comp_spec, region);
                locals1.iter().chain(*locals2).for_each(|ObjLocal { bind }| self.bind(bind, element));
                self.waiting.push((name, element));
                let region = self.body(body);
                self.waiting.push((body, region));
                if *plus {
                    let range = self.range(name.span);
                    let variable = self.plus(None, range.clone(), body);
                    let end = braces.end - 1;
                    let for_it = Piece::Own(format!(" for {variable} in [").into());
                    self.edits.close_with(end, vec![for_it, Piece::Moved(range), Piece::Own("]".into())]);
                }
            }
        }
    }

    fn members(&mut self, members: &'a [Member<'p, 'a>], braces: Range<usize>, region: usize) {
        self.things(region, members.len());
        let mut names = Vec::new();
        for member in members {
            match member {
                Member::Local(local) => self.bind(&local.bind, region),
                Member::Assert(assert) => {
                    self.wrap(self.range(assert.cond.span), QUIET);
                    self.assert(assert, region);
                }
                Member::Field(field) => names.extend(self.field(field, region)),
            }
        }
        if members.iter().any(|member| matches!(member, Member::Assert(_))) {
            self.edits.open(braces.start + 1, ASSERTS);
        }
        if !names.is_empty() {
            let mut pieces = vec![Piece::Own("(local ".into())];
            for (index, (variable, range)) in names.into_iter().enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                pieces.push(Piece::Own(format!("{comma}{variable} = ").into()));
                pieces.push(Piece::Moved(range));
            }
            pieces.push(Piece::Own("; ".into()));
            self.edits.open_with(braces.start, pieces);
            self.edits.close(braces.end, ")");
        }
    }

    /// Looks at a field. If it adds to one whose name is computed, the name becomes a variable before the object.
    fn field(&mut self, field: &'a Field<'p, 'a>, region: usize) -> Option<(String, Range<usize>)> {
        if let FieldName::Expr(name, _) = field.name() {
            self.waiting.push((name, region));
        }
        match field {
            Field::Value(name, plus, _, value) => {
                let region = self.body(value);
                self.waiting.push((value, region));
                if !plus {
                    return None;
                }
                match name {
                    FieldName::Ident(name) => {
                        self.plus(Some(name.value.value()), self.range(name.span), value);
                        None
                    }
                    FieldName::String(name, span) => {
                        self.plus(Some(name.value()), self.range(*span), value);
                        None
                    }
                    FieldName::Expr(name, _) => {
                        let range = self.range(name.span);
                        Some((self.plus(None, range.clone(), value), range))
                    }
                }
            }
            Field::Func(_, parameters, _, _, body) => {
                self.function(parameters, body);
                None
            }
        }
    }

    /// Makes `name+: value` a field that adds to the one of the object under it. Gives the variable that stands for a
    /// computed name.
    fn plus(&mut self, name: Option<&str>, at: Range<usize>, value: &Expr<'_, '_>) -> String {
        let sign = self.operator(at.end);
        self.edits.divide(sign, " ");
        let word = match name {
            Some(name) => quoted(name),
            None => {
                let variable = format!("lynceus_name_{}", at.start);
                self.edits.leave(at, variable.clone());
                variable
            }
        };
        let range = self.range(value.span);
        let arguments = format!("({word} in super, super[{word}], ");
        match literal_weight(value) {
            Some(weight) => {
                self.call(
                    range,
                    format!("(import \"\\u0000plusObject\"){arguments}"),
                    format!(", {weight})"),
                );
            }
            None => self.wrap(range, format!("(import \"\\u0000plus\"){arguments}")),
        }
        word
    }
}

/// How large an object is that stands in the text, as `library.libsonnet` counts: a layer, and a third for each field.
fn weight(inside: &ObjInside<'_, '_>) -> Option<String> {
    match inside {
        ObjInside::Members(members) => Some(format!("{:.2}", 1.34 + members.len() as f64 / 3.0)),
        ObjInside::Comp { .. } => None,
    }
}

fn literal_weight(expression: &Expr<'_, '_>) -> Option<String> {
    match &expression.kind {
        ExprKind::Object(inside) => weight(inside),
        _ => None,
    }
}

/// A text as a program writes it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        if character.is_ascii_alphanumeric() || "_-./ ".contains(character) {
            out.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counted text with short signs for what was put in.
    fn counted(text: &str) -> String {
        let counted = count(text.as_bytes()).map_err(|(problem, at)| (problem.message, at)).unwrap();
        let text = String::from_utf8(counted.edited.text).unwrap();
        let text = text.replace(BEFORE_ALL, "").replace("assert import \"\\u0000step", "#");
        let text =
            text.replace("#\"; ", "#").replace("\"; ", " ").replace(" if import \"\\u0000step8\"", "@");
        text.replace("(import \"\\u0000", "<").replace("\")(", ">(")
    }

    #[test]
    fn every_repetition_passes_a_place_to_count_at() {
        for (text, expected) in [
            ("1 + 2", "1 + 2"),
            ("local f(x, y=1) = x * y; f(1)", "local f(x, y=1) = #x * y; f(1)"),
            ("function(x) (x)", "function(x) #(x)"),
            ("{ a: 1, b:: [2], ['c']: { d(e):: e } }", "{ a: #1, b:: #[2], ['c']: #{ d(e):: #e } }"),
            ("[x for x in [] if x > 1 for y in []]", "[x for x in []@ if x > 1 for y in []@]"),
            ("{ [k]: v for k in [] }", "{ [k]: #v for k in []@ }"),
            ("local a = import 'x'; a[1]", "local a = import 'x'; a[1]"),
            ("function() [1, 2, 3, 4, 5, 6, 7, 8]", "function() #2 [1, 2, 3, 4, 5, 6, 7, 8]"),
        ] {
            assert_eq!(counted(text), expected);
        }
    }

    #[test]
    fn what_makes_something_is_a_call_that_sees_what_it_is_made_of() {
        for (text, expected) in [
            ("a+b", "<add>(a,b)"),
            ("a + b /* + */ + -c * d + {}", "<sum>(a ,[ b /* + */ , -c * d , {}])"),
            ("a - (b + c) + d", "<add>(a - (<add>(b , c)) , d)"),
            ("f(x) { a: 1 } { b: 2 }", "<extend>(<extend>(f(x) , { a: #1 }, 1.67) , { b: #2 }, 1.67)"),
            ("'%s' % x + y", "<add>(<rem>('%s' , x) , y)"),
            ("a[1:2] + b", "<add>(<part>(a)[1:2] , b)"),
            ("error 'a'", "error 'a'"),
            ("error x", "error <told>(x)"),
            ("assert x : y; z", "assert x : <told>(y); z"),
            (
                "{ a+: 1, 'b c'+:: 2 }",
                "{ a : #<plus>(\"a\" in super, super[\"a\"], 1), 'b c' :: #<plus>(\"b c\" in super, super[\"b c\"], 2) }",
            ),
            (
                "{ [a + b]+: 1 }",
                "(local lynceus_name_3 = <add>(a , b); { [lynceus_name_3] : #<plus>(lynceus_name_3 in super, super[lynceus_name_3], 1) })",
            ),
            (
                "{ [k]+: 1 for k in [] }",
                "{ [lynceus_name_3] : #<plus>(lynceus_name_3 in super, super[lynceus_name_3], 1) for k in []@  for lynceus_name_3 in [k]}",
            ),
            (
                "{ assert self.a: 'no', a: 1 }",
                "{\"\\u0000asserts\":: true,  assert if \"\\u0000quiet\" in self then true else (self.a): 'no', a: #1 }",
            ),
        ] {
            assert_eq!(counted(text), expected);
        }
    }

    #[test]
    fn places_in_the_counted_text_lead_back_to_the_original() {
        let text = "local f(x) = x + x;\n{ a: f(1) + 2, ['n' + 1]+: 3, b: [y for y in [1]] { c: 4 } }";
        let counted = count(text.as_bytes()).map_err(|(problem, _)| problem.message).unwrap();
        let changed = String::from_utf8_lossy(&counted.edited.text);
        for word in ["local f", "x) =", "a: ", "f(1)", "'n'", "b: ", "y for", "[1]", "{ c", "4"] {
            let (before, after) = (text.find(word).unwrap(), changed.find(word));
            assert_eq!(after.map(|after| counted.original(after)), Some(before), "{word}");
        }
    }

    #[test]
    fn a_text_that_nests_without_end_is_refused() {
        let (problem, _) = count("{a:".repeat(20_000).as_bytes()).err().unwrap();
        assert_eq!(problem.message, "the program nests deeper than 3000 levels");
    }
}
