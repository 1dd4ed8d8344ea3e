//! The evaluator's errors in words, each with the place that it is about.

use rsjsonnet_lang::ast::{BinaryOp, UnaryOp};
use rsjsonnet_lang::lexer::LexError;
use rsjsonnet_lang::parser::ParseError;
use rsjsonnet_lang::program::{AnalyzeError, EvalErrorKind, EvalErrorValueType};
use rsjsonnet_lang::span::{SpanId, SpanManager};

type Told = (String, SpanId);

pub(super) fn of_lexer(error: &LexError) -> Told {
    let (message, span) = match error {
        LexError::InvalidChar { span, chr } => return (format!("{chr:?} begins nothing"), *span),
        LexError::InvalidEscapeInString { span, chr } => {
            return (format!("{chr:?} cannot be escaped in a string"), *span);
        }
        LexError::InvalidUtf8 { span, .. } => ("the text is not UTF-8", span),
        LexError::UnfinishedMultilineComment { span } => ("the comment is never closed", span),
        LexError::LeadingZeroInNumber { span } => ("a number does not begin with 0", span),
        LexError::MissingFracDigits { span } => ("there is no digit after the point", span),
        LexError::MissingExpDigits { span } => ("there is no digit in the exponent", span),
        LexError::MissingDigitAfterUnderscore { span } => ("there is no digit after the underscore", span),
        LexError::ExpOverflow { span } => ("the exponent is too large", span),
        LexError::IncompleteUnicodeEscape { span } | LexError::InvalidUtf16EscapeSequence { span, .. } => {
            ("the escape is not a character", span)
        }
        LexError::UnfinishedString { span } => ("the string is never closed", span),
        LexError::MissingLineBreakAfterTextBlockStart { span } => {
            ("a text block begins on the line after |||", span)
        }
        LexError::MissingWhitespaceTextBlockStart { span } => ("a text block has to be indented", span),
        LexError::InvalidTextBlockTermination { span } => ("the text block is not closed with |||", span),
    };
    (message.to_owned(), *span)
}

/// Says what was found, in the words of the text itself.
pub(super) fn of_parser(error: &ParseError, text: &[u8], spans: &SpanManager) -> Told {
    let ParseError::Expected { span, .. } = error;
    let (_, start, end) = spans.get_span(*span);
    let found = text.get(start..end).map(String::from_utf8_lossy).unwrap_or_default();
    let message = match found.as_ref() {
        "" => "the program ends in the middle of something".to_owned(),
        found => format!("{found:?} does not belong here"),
    };
    (message, *span)
}

pub(super) fn of_analyzer(error: &AnalyzeError) -> Told {
    match error {
        AnalyzeError::UnknownVariable { span, name } => (format!("there is no variable {name}"), *span),
        AnalyzeError::SelfOutsideObject { self_span } => {
            ("self stands outside of an object".into(), *self_span)
        }
        AnalyzeError::SuperOutsideObject { super_span } => {
            ("super stands outside of an object".into(), *super_span)
        }
        AnalyzeError::DollarOutsideObject { dollar_span } => {
            ("$ stands outside of an object".into(), *dollar_span)
        }
        AnalyzeError::RepeatedLocalName { repeated_span, name, .. } => {
            (format!("variable {name} is given twice"), *repeated_span)
        }
        AnalyzeError::RepeatedFieldName { repeated_span, name, .. } => {
            (format!("field {name} is given twice"), *repeated_span)
        }
        AnalyzeError::RepeatedParamName { repeated_span, name, .. } => {
            (format!("parameter {name} is given twice"), *repeated_span)
        }
        AnalyzeError::PositionalArgAfterNamed { arg_span } => {
            ("an argument without a name follows one with a name".into(), *arg_span)
        }
        AnalyzeError::TextBlockAsImportPath { span } => {
            ("an import is named by a plain string".into(), *span)
        }
        AnalyzeError::ComputedImportPath { span } => {
            ("the name of an import cannot be computed".into(), *span)
        }
    }
}

pub(super) fn of_evaluator(kind: &EvalErrorKind) -> (String, Option<SpanId>) {
    use EvalErrorKind as Kind;
    let at = |message: String, span: &SpanId| (message, Some(*span));
    let maybe = |message: String, span: &Option<SpanId>| (message, *span);
    match kind {
        Kind::StackOverflow => {
            (format!("calls wait for each other deeper than {} levels", crate::limits::JSONNET_STACK), None)
        }
        Kind::InfiniteRecursion => ("a value is needed to compute itself".into(), None),
        Kind::InvalidIndexedType { span, got_type } => {
            at(format!("{} has no elements", name(*got_type)), span)
        }
        Kind::InvalidSlicedType { span, got_type } => at(format!("{} has no parts", name(*got_type)), span),
        Kind::SliceIndexOrStepIsNotNumber { span, got_type } => {
            at(format!("a part is named by numbers, not by {}", name(*got_type)), span)
        }
        Kind::StringIndexIsNotNumber { span, got_type } | Kind::ArrayIndexIsNotNumber { span, got_type } => {
            at(format!("an element is named by a number, not by {}", name(*got_type)), span)
        }
        Kind::NumericIndexIsNotValid { span, index } => at(format!("there can be no element {index}"), span),
        Kind::NumericIndexOutOfRange { span, index, length } => {
            at(format!("there is no element {index} among {length}"), span)
        }
        Kind::ObjectIndexIsNotString { span, got_type } => {
            at(format!("a field is named by a string, not by {}", name(*got_type)), span)
        }
        Kind::RepeatedFieldName { span, name } => at(format!("field {name} is given twice"), span),
        Kind::FieldNameIsNotString { span, got_type } => {
            at(format!("the name of a field is a string, not {}", name(*got_type)), span)
        }
        Kind::UnknownObjectField { span, field_name } => at(format!("there is no field {field_name}"), span),
        Kind::FieldOfNonObject { span } => at("what is no object has no fields".into(), span),
        Kind::SuperWithoutSuperObject { span } => at("there is no object under this one".into(), span),
        Kind::ForSpecValueIsNotArray { span, got_type } => {
            at(format!("a comprehension goes through a list, not {}", name(*got_type)), span)
        }
        Kind::CondIsNotBool { span, got_type } => {
            at(format!("a condition is true or false, not {}", name(*got_type)), span)
        }
        Kind::CalleeIsNotFunction { span, got_type } => {
            maybe(format!("{} cannot be called", name(*got_type)), span)
        }
        Kind::TooManyCallArgs { span, num_params } => {
            maybe(format!("the function takes {num_params} arguments and no more"), span)
        }
        Kind::UnknownCallParam { span, param_name } => {
            maybe(format!("the function has no parameter {param_name}"), span)
        }
        Kind::RepeatedCallParam { span, param_name } => {
            maybe(format!("parameter {param_name} is given twice"), span)
        }
        Kind::CallParamNotBound { span, param_name } => {
            maybe(format!("the function needs its parameter {param_name}"), span)
        }
        Kind::NativeCallFailed => ("the call was refused".into(), None),
        Kind::InvalidUnaryOpType { span, op, rhs_type } => {
            at(format!("{} cannot have {} before it", name(*rhs_type), unary(*op)), span)
        }
        Kind::InvalidBinaryOpTypes { span, op, lhs_type, rhs_type } => {
            maybe(format!("{} {} {} has no meaning", name(*lhs_type), binary(*op), name(*rhs_type)), span)
        }
        Kind::NumberNotBitwiseSafe { span } => maybe("the number has no bits to work on".into(), span),
        Kind::NumberOverflow { span } => maybe("the number is too large".into(), span),
        Kind::NumberNan { span } => maybe("the result is not a number".into(), span),
        Kind::DivByZero { span } => maybe("division by zero".into(), span),
        Kind::ShiftByNegative { span } => maybe("bits cannot be shifted by a negative number".into(), span),
        Kind::InvalidStdFuncArgType { func_name, arg_index, expected_types, got_type } => {
            let expected: Vec<&str> = expected_types.iter().map(|one| name(*one)).collect();
            let message = format!(
                "std.{func_name} takes {} as argument {}, not {}",
                expected.join(" or "),
                arg_index + 1,
                name(*got_type)
            );
            (message, None)
        }
        Kind::AssertFailed { span, message } => match message {
            Some(message) => at(format!("assertion failed: {message}"), span),
            None => at("assertion failed".into(), span),
        },
        Kind::AssertEqualFailed { lhs, rhs } => (format!("assertion failed: {lhs} is not {rhs}"), None),
        Kind::ExplicitError { span, message } => at(message.clone(), span),
        Kind::ImportFailed { span, path } => at(format!("import {path:?} failed"), span),
        Kind::UnknownExtVar { name } => (format!("there is no external variable {name}"), None),
        Kind::ManifestFunction => ("a function cannot be written down".into(), None),
        Kind::CompareNullInequality => ("null is neither less nor more than null".into(), None),
        Kind::CompareBooleanInequality => ("a boolean is neither less nor more than another".into(), None),
        Kind::CompareObjectInequality => ("an object is neither less nor more than another".into(), None),
        Kind::CompareFunctions => ("functions cannot be compared".into(), None),
        Kind::CompareDifferentTypesInequality { lhs_type, rhs_type } => {
            (format!("{} cannot be compared with {}", name(*lhs_type), name(*rhs_type)), None)
        }
        Kind::PrimitiveEqualsNonPrimitive { got_type } => {
            (format!("std.primitiveEquals does not compare {}", name(*got_type)), None)
        }
        Kind::Other { span, message } => maybe(message.clone(), span),
    }
}

fn name(kind: EvalErrorValueType) -> &'static str {
    match kind {
        EvalErrorValueType::Null => "null",
        EvalErrorValueType::Bool => "a boolean",
        EvalErrorValueType::Number => "a number",
        EvalErrorValueType::String => "a string",
        EvalErrorValueType::Array => "a list",
        EvalErrorValueType::Object => "an object",
        EvalErrorValueType::Function => "a function",
    }
}

fn unary(operator: UnaryOp) -> &'static str {
    match operator {
        UnaryOp::Minus => "-",
        UnaryOp::Plus => "+",
        UnaryOp::BitwiseNot => "~",
        UnaryOp::LogicNot => "!",
    }
}

fn binary(operator: BinaryOp) -> &'static str {
    match operator {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::In => "in",
        BinaryOp::BitwiseAnd => "&",
        BinaryOp::BitwiseOr => "|",
        BinaryOp::BitwiseXor => "^",
        BinaryOp::LogicAnd => "&&",
        BinaryOp::LogicOr => "||",
    }
}
