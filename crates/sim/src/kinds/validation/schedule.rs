//! Cron schedules: whether they can be read.

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// The bounds of a field, and the names that stand for its first numbers.
struct Field {
    least: u32,
    most: u32,
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { least: 0, most: 59, names: &[] },
    Field { least: 0, most: 23, names: &[] },
    Field { least: 1, most: 31, names: &[] },
    Field { least: 1, most: 12, names: &MONTHS },
    Field { least: 0, most: 6, names: &DAYS },
];

/// Says what is wrong with a schedule.
pub(crate) fn check(text: &str) -> Result<(), String> {
    let text = match text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ=")) {
        Some(rest) => rest.split_once(' ').map_or("", |(_, rest)| rest).trim(),
        None => text,
    };
    if text.starts_with('@') {
        return descriptor(text);
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
    }
    for (text, field) in fields.iter().zip(&FIELDS) {
        for part in text.split(',').filter(|part| !part.is_empty()) {
            range(part, field)?;
        }
    }
    Ok(())
}

fn descriptor(text: &str) -> Result<(), String> {
    match text {
        "@yearly" | "@annually" | "@monthly" | "@weekly" | "@daily" | "@midnight" | "@hourly" => Ok(()),
        _ => match text.strip_prefix("@every ") {
            Some(wait) => lynceus_api::parse_duration(wait)
                .map(|_| ())
                .map_err(|_| format!("failed to parse duration {text}: time: invalid duration {wait:?}")),
            None => Err(format!("unrecognized descriptor: {text}")),
        },
    }
}

fn range(text: &str, field: &Field) -> Result<(), String> {
    let mut steps = text.split('/');
    let span = steps.next().unwrap_or_default();
    let mut ends = span.split('-');
    let first = ends.next().unwrap_or_default();
    let (start, mut end, single) = if first == "*" || first == "?" {
        (field.least, field.most, ends.next().is_none())
    } else {
        let start = number(first, field)?;
        match (ends.next(), ends.next()) {
            (None, _) => (start, start, true),
            (Some(end), None) => (start, number(end, field)?, false),
            _ => return Err(format!("too many hyphens: {text}")),
        }
    };
    let step = match (steps.next(), steps.next()) {
        (None, _) => 1,
        (Some(step), None) => {
            if single {
                end = field.most;
            }
            integer(step)?
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if start < field.least {
        return Err(format!("beginning of range ({start}) below minimum ({}): {text}", field.least));
    }
    if end > field.most {
        return Err(format!("end of range ({end}) above maximum ({}): {text}", field.most));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

fn number(text: &str, field: &Field) -> Result<u32, String> {
    match field.names.iter().position(|name| text.eq_ignore_ascii_case(name)) {
        Some(at) => Ok(at as u32 + field.least),
        None => integer(text),
    }
}

fn integer(text: &str) -> Result<u32, String> {
    match text.parse::<i64>() {
        Ok(number) if number < 0 => Err(format!("negative number ({number}) not allowed: {text}")),
        Ok(number) => u32::try_from(number).map_err(|_| not_a_number(text, "value out of range")),
        Err(_) => Err(not_a_number(text, "invalid syntax")),
    }
}

fn not_a_number(text: &str, why: &str) -> String {
    format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: {why}")
}

/// Whether a time zone is known. Where this program has no list of them, every name counts as known.
pub(crate) fn is_time_zone(name: &str) -> bool {
    name.eq_ignore_ascii_case("local")
        || jiff::tz::TimeZone::get(name).is_ok()
        || jiff::tz::db().available().next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_that_can_be_read_are_let_through() {
        for text in ["* * * * *", "*/5 0-6,12 1 jan mon-fri", "@daily", "@every 1h30m", "0 0 ? * sun"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn schedules_that_cannot_be_read_say_why() {
        for (text, why) in [
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("a * * * *", "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax"),
            ("@never", "unrecognized descriptor: @never"),
        ] {
            assert_eq!(check(text), Err(why.to_owned()), "{text}");
        }
    }
}
