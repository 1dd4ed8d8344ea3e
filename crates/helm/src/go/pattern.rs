//! Shell patterns as in Go's `filepath.Match`, for `.helmignore` and `--show-only`.

/// A pattern that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadPattern;

/// Whether `name` matches `pattern` as a whole. `*` and `?` do not match `/`.
pub(crate) fn matches(pattern: &str, name: &str) -> Result<bool, BadPattern> {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let mut rest_pattern = &pattern[..];
    let mut rest_name = &name[..];
    while !rest_pattern.is_empty() {
        let (star, chunk, after) = next_chunk(rest_pattern);
        rest_pattern = after;
        if star && chunk.is_empty() {
            // A trailing star takes the rest, unless it has a slash.
            return Ok(!rest_name.contains(&'/'));
        }
        let matched = chunk_at_start(chunk, rest_name)?;
        if let Some(rest) = matched
            && (rest.is_empty() || !rest_pattern.is_empty())
        {
            rest_name = rest;
            continue;
        }
        if !star {
            return unmatched(rest_pattern);
        }
        match skip_with_star(chunk, rest_name, rest_pattern.is_empty())? {
            Some(rest) => rest_name = rest,
            None => return unmatched(rest_pattern),
        }
    }
    Ok(rest_name.is_empty())
}

/// Tries the chunk further and further on, over anything but a slash.
fn skip_with_star<'a>(
    chunk: &[char],
    name: &'a [char],
    is_last: bool,
) -> Result<Option<&'a [char]>, BadPattern> {
    let mut at = 0;
    while at < name.len() && name[at] != '/' {
        at += 1;
        if let Some(rest) = chunk_at_start(chunk, &name[at..])? {
            if is_last && !rest.is_empty() {
                continue;
            }
            return Ok(Some(rest));
        }
    }
    Ok(None)
}

/// The answer is no, but a pattern that is wrong further on is still wrong.
fn unmatched(mut rest: &[char]) -> Result<bool, BadPattern> {
    while !rest.is_empty() {
        let (_, chunk, after) = next_chunk(rest);
        chunk_at_start(chunk, &[])?;
        rest = after;
    }
    Ok(false)
}

/// The stars at the start, what stands up to the next star, and the rest.
fn next_chunk(pattern: &[char]) -> (bool, &[char], &[char]) {
    let stars = pattern.iter().take_while(|char| **char == '*').count();
    let pattern = &pattern[stars..];
    let mut in_range = false;
    let mut at = 0;
    while at < pattern.len() {
        match pattern[at] {
            '\\' if at + 1 < pattern.len() => at += 1,
            '[' => in_range = true,
            ']' => in_range = false,
            '*' if !in_range => break,
            _ => {}
        }
        at += 1;
    }
    (stars > 0, &pattern[..at], &pattern[at..])
}

/// What is left of `name` after the chunk, which has no stars. The whole chunk is checked in any case.
fn chunk_at_start<'a>(mut chunk: &[char], mut name: &'a [char]) -> Result<Option<&'a [char]>, BadPattern> {
    let mut failed = false;
    while let Some(&first) = chunk.first() {
        failed |= name.is_empty();
        match first {
            '[' => {
                let char = if failed { '\0' } else { name[0] };
                name = if failed { name } else { &name[1..] };
                let (hit, after) = class(&chunk[1..], char)?;
                failed |= !hit;
                chunk = after;
            }
            '?' => {
                failed |= !failed && name[0] == '/';
                name = if failed { name } else { &name[1..] };
                chunk = &chunk[1..];
            }
            _ => {
                let literal = if first == '\\' { 1 } else { 0 };
                let wanted = *chunk.get(literal).ok_or(BadPattern)?;
                failed |= !failed && name[0] != wanted;
                name = if failed { name } else { &name[1..] };
                chunk = &chunk[literal + 1..];
            }
        }
    }
    Ok((!failed).then_some(name))
}

/// Whether a character is in the class that begins here, and what follows the class.
fn class(mut chunk: &[char], char: char) -> Result<(bool, &[char]), BadPattern> {
    let negated = chunk.first() == Some(&'^');
    if negated {
        chunk = &chunk[1..];
    }
    let mut hit = false;
    let mut ranges = 0;
    loop {
        if chunk.first() == Some(&']') && ranges > 0 {
            return Ok((hit != negated, &chunk[1..]));
        }
        let (low, rest) = class_char(chunk)?;
        let (high, rest) = match rest.first() {
            Some('-') => class_char(&rest[1..])?,
            _ => (low, rest),
        };
        hit |= (low..=high).contains(&char);
        ranges += 1;
        chunk = rest;
    }
}

/// One character of a class, which may be escaped. The class must go on after it.
fn class_char(chunk: &[char]) -> Result<(char, &[char]), BadPattern> {
    let (char, rest) = match chunk {
        [] | ['-' | ']', ..] => return Err(BadPattern),
        ['\\', char, rest @ ..] => (*char, rest),
        ['\\'] => return Err(BadPattern),
        [char, rest @ ..] => (*char, rest),
    };
    if rest.is_empty() { Err(BadPattern) } else { Ok((char, rest)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, name, expected) in [
            ("abc", "abc", Ok(true)),
            ("*", "abc", Ok(true)),
            ("*c", "abc", Ok(true)),
            ("a*", "ab/c", Ok(false)),
            ("a*/b", "abc/b", Ok(true)),
            ("a*b*c*d*e*/f", "axbxcxdxe/xxx/f", Ok(false)),
            ("a*b?c*x", "abxbbxdbxebxczzx", Ok(true)),
            ("ab[c]", "abc", Ok(true)),
            ("ab[b-d]", "abc", Ok(true)),
            ("ab[^b-d]", "abc", Ok(false)),
            ("a?b", "a☺b", Ok(true)),
            ("a\\*b", "a*b", Ok(true)),
            ("[\\]a]", "]", Ok(true)),
            ("[-]", "-", Err(BadPattern)),
            ("[a", "a", Err(BadPattern)),
            ("a[", "ab", Err(BadPattern)),
            ("*x", "xxx", Ok(true)),
            ("a?b", "a/b", Ok(false)),
            ("", "", Ok(true)),
            ("templates/.?*", "templates/.x", Ok(true)),
            ("templates/.?*", "templates/a.x", Ok(false)),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
