//! Expressions by which repositories and pull requests are chosen.

use lynceus_object::Str;
use regex::{Regex, RegexBuilder};

use super::{Found, wrong};
use crate::limits;
use crate::place::Place;

/// An expression, or none, which everything fits.
pub(super) struct Pattern(Option<Regex>);

impl Pattern {
    pub(super) fn new(text: Option<&Str>, field: &str, place: &Place) -> Found<Self> {
        let Some(text) = text else { return Ok(Pattern(None)) };
        let expression = RegexBuilder::new(text).size_limit(limits::EXPRESSION_BYTES).build();
        let expression = expression.map_err(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default();
            wrong(place, format!("{field} {text:?} is not a regular expression: {why}"))
        })?;
        Ok(Pattern(Some(expression)))
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        self.0.as_ref().is_none_or(|expression| expression.is_match(text))
    }

    pub(super) fn fits_any(&self, texts: &[Str]) -> bool {
        self.0.is_none() || texts.iter().any(|text| self.fits(text))
    }
}
