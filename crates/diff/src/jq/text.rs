//! Values as text.

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

use super::Ctx;
use super::eval::{Flow, Stop, error};
use super::term::Format;
use super::value::Val;

/// Padding is cut off before, and odd bits at the end are not looked at.
const UNPADDED: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

pub(super) fn to_string(ctx: &Ctx, val: &Val) -> Result<String, Stop> {
    match val {
        Val::Str(text) => {
            ctx.charge(text.len() as u64)?;
            Ok(text.to_string())
        }
        other => to_json(ctx, other),
    }
}

pub(super) fn to_json(ctx: &Ctx, val: &Val) -> Result<String, Stop> {
    ctx.charge(val.size().saturating_mul(4))?;
    let mut text = String::new();
    write(ctx, val, &mut text)?;
    Ok(text)
}

fn write(ctx: &Ctx, val: &Val, into: &mut String) -> Flow {
    match val {
        Val::Null | Val::Gone => into.push_str("null"),
        Val::Bool(b) => into.push_str(if *b { "true" } else { "false" }),
        Val::Int(i) => into.push_str(&i.to_string()),
        Val::Float(f) => into.push_str(&number(*f)),
        Val::Str(text) => {
            ctx.charge(2 * text.len() as u64)?;
            quote(text, into);
        }
        Val::Arr(list) => {
            into.push('[');
            for (at, item) in list.items.iter().enumerate() {
                if at > 0 {
                    into.push(',');
                }
                write(ctx, item, into)?;
            }
            into.push(']');
        }
        Val::Obj(fields) => {
            into.push('{');
            for (at, (key, val)) in fields.map.iter().enumerate() {
                if at > 0 {
                    into.push(',');
                }
                ctx.charge(2 * key.len() as u64)?;
                quote(key, into);
                into.push(':');
                write(ctx, val, into)?;
            }
            into.push('}');
        }
    }
    Ok(())
}

fn quote(text: &str, into: &mut String) {
    into.push('"');
    for sign in text.chars() {
        match sign {
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\t' => into.push_str("\\t"),
            '\r' => into.push_str("\\r"),
            '\u{8}' => into.push_str("\\b"),
            '\u{c}' => into.push_str("\\f"),
            sign if (sign as u32) < 0x20 || sign as u32 == 0x7f => {
                into.push_str(&format!("\\u{:04x}", sign as u32));
            }
            sign => into.push(sign),
        }
    }
    into.push('"');
}

/// A number as Go's JSON writes it.
fn number(f: f64) -> String {
    if f.is_nan() {
        return "null".to_owned();
    }
    let f = f.clamp(f64::MIN, f64::MAX);
    let size = f.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{f:e}");
        return if size >= 1.0 { text.replace('e', "e+") } else { text };
    }
    format!("{f}")
}

pub(super) fn formatted(ctx: &Ctx, format: &Format, val: &Val) -> Result<String, Stop> {
    let text = || to_string(ctx, val);
    Ok(match format {
        Format::Text => text()?,
        Format::Json => to_json(ctx, val)?,
        Format::Html => paid(ctx, 6, text()?)?
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('\'', "&apos;")
            .replace('"', "&quot;"),
        Format::Uri => uri(&paid(ctx, 3, text()?)?),
        Format::Urid => unescaped(&text()?)?,
        Format::Csv => row(ctx, val, ",", false, |text| {
            format!("\"{}\"", text.replace('"', "\"\"").replace('\0', "\\0"))
        })?,
        Format::Tsv => row(ctx, val, "\t", false, |text| {
            let text = text.replace('\\', "\\\\").replace('\t', "\\t").replace('\r', "\\r");
            text.replace('\n', "\\n").replace('\0', "\\0")
        })?,
        Format::Sh => {
            let one = Val::arr(vec![val.clone()]);
            let words = if matches!(val, Val::Arr(_)) { val } else { &one };
            row(ctx, words, " ", true, |text| {
                format!("'{}'", text.replace('\'', "'\\''").replace('\0', "\\0"))
            })?
        }
        Format::Base64 => STANDARD.encode(paid(ctx, 2, text()?)?),
        Format::Base64d => {
            let text = text()?;
            let text = text.split('=').next().unwrap_or_default().replace(['\r', '\n'], "");
            let bytes = UNPADDED.decode(text);
            let bytes = bytes.map_err(|_| Stop::Error(Val::text("@base64d: not base64")))?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        Format::Other(name) => return error(format!("format not defined: @{name}")),
    })
}

/// A text that may become so many times longer, paid for.
fn paid(ctx: &Ctx, times: u64, text: String) -> Result<String, Stop> {
    ctx.charge(times * text.len() as u64)?;
    Ok(text)
}

fn row(ctx: &Ctx, val: &Val, between: &str, shell: bool, escape: fn(&str) -> String) -> Result<String, Stop> {
    let Val::Arr(list) = val else { return error("only an array can be a row") };
    let mut cells = Vec::with_capacity(list.items.len());
    for item in &list.items {
        ctx.charge(24 + 4 * item.weight())?;
        cells.push(match item {
            Val::Arr(_) | Val::Obj(_) => return error("a row has an array or an object"),
            Val::Str(text) => escape(text),
            Val::Null if !shell => String::new(),
            other => to_json(ctx, other)?,
        });
    }
    Ok(cells.join(between))
}

fn uri(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(byte as char);
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

fn unescaped(text: &str) -> Result<String, Stop> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let code = rest.get(..2).filter(|two| two.iter().all(u8::is_ascii_hexdigit));
        let code = code
            .and_then(|two| std::str::from_utf8(two).ok())
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        let Some(code) = code else { return error("@urid: a wrong escape") };
        bytes.push(code);
        rest = &rest[2..];
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads JSON, without going deeper than values may be.
pub(super) fn from_json(ctx: &Ctx, text: &str) -> Result<Val, Stop> {
    ctx.charge(32 * text.len() as u64)?;
    match lynceus_object::json::parse(text.as_bytes()) {
        Ok(value) => ctx.made(super::value::from_object(&value)),
        Err(_) => error("fromjson: not JSON"),
    }
}
