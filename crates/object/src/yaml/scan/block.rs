//! Literal and folded scalars.

use std::borrow::Cow;

use super::super::chars::{self, BLANK, Mark};
use super::super::error::Error;
use super::Scanner;

/// What becomes of the line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}

impl Scanner<'_> {
    /// Reads the scalar after `|` or `>`.
    pub(super) fn block_scalar(&mut self, start: Mark, literal: bool) -> Result<Cow<'static, str>, Error> {
        self.cursor.pos += 1;
        let (chomp, increment) = self.block_header(start)?;
        let indent = match increment {
            0 => 0,
            increment => increment + self.indent.max(0) as usize,
        };
        if self.keeps_text {
            self.block_text(start, literal, chomp, indent).map(Cow::Owned)
        } else {
            self.note_left_out();
            self.pass_block(start, indent).map(|()| Cow::Borrowed(""))
        }
    }

    fn pass_block(&mut self, start: Mark, mut indent: usize) -> Result<(), Error> {
        let mut empty_lines = String::new();
        self.block_gap(start, &mut indent, &mut empty_lines)?;
        while self.cursor.column() == indent && !self.cursor.is_end() {
            self.cursor.skip_to_break();
            self.cursor.take_break();
            self.block_gap(start, &mut indent, &mut empty_lines)?;
        }
        Ok(())
    }

    fn block_text(
        &mut self,
        start: Mark,
        literal: bool,
        chomp: Chomp,
        mut indent: usize,
    ) -> Result<String, Error> {
        let mut out = String::new();
        // The break that ended the last line, and the empty lines after it.
        let mut line_break = "";
        let mut empty_lines = String::new();
        let mut last_was_indented = false;
        self.block_gap(start, &mut indent, &mut empty_lines)?;
        while self.cursor.column() == indent && !self.cursor.is_end() {
            let is_indented = chars::is(self.cursor.byte(), BLANK);
            let folds = !literal && line_break == "\n" && !last_was_indented && !is_indented;
            if !folds {
                out.push_str(line_break);
            } else if empty_lines.is_empty() {
                out.push(' ');
            }
            out.push_str(&empty_lines);
            empty_lines.clear();
            last_was_indented = is_indented;

            let from = self.cursor.pos;
            self.cursor.skip_to_break();
            out.push_str(&self.text()[from..self.cursor.pos]);
            line_break = self.cursor.take_break().unwrap_or_default();
            self.block_gap(start, &mut indent, &mut empty_lines)?;
        }
        if chomp != Chomp::Strip {
            out.push_str(line_break);
        }
        if chomp == Chomp::Keep {
            out.push_str(&empty_lines);
        }
        Ok(out)
    }

    /// Reads `-`, `+` and the indentation after the indicator, in either order, and ends the line.
    fn block_header(&mut self, start: Mark) -> Result<(Chomp, usize), Error> {
        let mut chomp = self.chomp_sign();
        let increment = self.indent_digit(start)?;
        if chomp.is_none() && increment > 0 {
            chomp = self.chomp_sign();
        }
        self.cursor.skip_blanks();
        self.cursor.skip_comment();
        if !self.cursor.is_end() && self.cursor.take_break().is_none() {
            return Err(self.error(Some(start), "did not find expected comment or line break"));
        }
        Ok((chomp.unwrap_or(Chomp::Clip), increment))
    }

    fn chomp_sign(&mut self) -> Option<Chomp> {
        let chomp = match self.cursor.byte() {
            b'+' => Chomp::Keep,
            b'-' => Chomp::Strip,
            _ => return None,
        };
        self.cursor.pos += 1;
        Some(chomp)
    }

    fn indent_digit(&mut self, start: Mark) -> Result<usize, Error> {
        match self.cursor.byte() {
            b'0' => Err(self.error(Some(start), "found an indentation indicator equal to 0")),
            digit @ b'1'..=b'9' => {
                self.cursor.pos += 1;
                Ok(usize::from(digit - b'0'))
            }
            _ => Ok(0),
        }
    }

    /// Steps over indentation and empty lines. An `indent` of 0 is found out and set.
    fn block_gap(&mut self, start: Mark, indent: &mut usize, empty_lines: &mut String) -> Result<(), Error> {
        let mut deepest = 0;
        loop {
            while (*indent == 0 || self.cursor.column() < *indent) && self.cursor.byte() == b' ' {
                self.cursor.pos += 1;
            }
            deepest = deepest.max(self.cursor.column());
            if (*indent == 0 || self.cursor.column() < *indent) && self.cursor.byte() == b'\t' {
                return Err(
                    self.error(Some(start), "found a tab character where an indentation space is expected")
                );
            }
            match self.cursor.take_break() {
                Some(found) => empty_lines.push_str(found),
                None => break,
            }
        }
        if *indent == 0 {
            *indent = deepest.max((self.indent + 1) as usize).max(1);
        }
        Ok(())
    }
}
