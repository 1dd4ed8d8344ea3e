//! Pipelines and what they are made of.

use super::parser::{Parsed, Parser};
use super::token::{Sort, Token};
use super::tree::{Arg, Callee, Command, Number, Pipe, Symbol, Term, Variable};
use crate::Str;
use crate::builtin::Builtin;
use crate::format::quote;
use crate::limits::EXPRESSION_DEPTH;
use crate::stack::deep;

impl Parser<'_> {
    pub(super) fn pipeline(&mut self, context: &'static str, end: Sort) -> Parsed<Pipe> {
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
