//! Patterns for paths: as Go's `path.Match` reads them for directories, and as Git reads pathspecs for files.

/// The two ways to read a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// `*` and `?` stop at a slash, and only `^` turns a class round.
    Go,
    /// `*` and `?` do not, and `!` turns a class round as well.
    Git,
}

/// A pattern that is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern {0:?} is malformed: a class in it is not closed, or it ends with a backslash")]
pub(crate) struct Malformed(String);

/// Whether a directory fits a pattern, as `path.Match` says.
pub(crate) fn fits_directory(pattern: &str, path: &str) -> Result<bool, Malformed> {
    Ok(matches(&read(pattern, Way::Go)?, path, Way::Go))
}

/// Whether `git ls-files` would list a file for a pathspec: it fits the pattern, or lies in a directory of that name.
pub(crate) fn fits_file(pattern: &str, path: &str) -> Result<bool, Malformed> {
    let pattern = pattern.trim_start_matches("./");
    if pattern.is_empty() || pattern == "." || pattern == path {
        return Ok(true);
    }
    let directory = pattern.trim_end_matches('/');
    if path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')) {
        return Ok(true);
    }
    Ok(matches(&read(pattern, Way::Git)?, path, Way::Git))
}

/// The folder that everything lies in which a pattern can fit, as far as that can be told: up to the last slash before
/// anything that stands for something else.
pub(crate) fn fixed_part(pattern: &str) -> &str {
    let pattern = pattern.trim_start_matches("./");
    let plain = pattern.find(['*', '?', '[', '\\']).map_or(pattern, |at| &pattern[..at]);
    let folder = plain.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_plain = folder.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if is_plain { folder } else { "" }
}

enum Piece {
    Star,
    Any,
    One(char),
    Class { turned: bool, ranges: Vec<(char, char)> },
}

fn read(pattern: &str, way: Way) -> Result<Vec<Piece>, Malformed> {
    let broken = || Malformed(pattern.to_owned());
    let mut chars = pattern.chars().peekable();
    let mut pieces = Vec::new();
    while let Some(c) = chars.next() {
        pieces.push(match c {
            '*' => Piece::Star,
            '?' => Piece::Any,
            '\\' => Piece::One(chars.next().ok_or_else(broken)?),
            '[' => class(&mut chars, way).ok_or_else(broken)?,
            c => Piece::One(c),
        });
    }
    Ok(pieces)
}

/// A class up to its closing bracket.
fn class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, way: Way) -> Option<Piece> {
    let turned = chars.next_if(|c| *c == '^' || way == Way::Git && *c == '!').is_some();
    let mut ranges = Vec::new();
    loop {
        // In Git's classes, and in none of Go's, a bracket may come first and be meant.
        let may_close = !ranges.is_empty();
        let low = match chars.next()? {
            ']' if may_close => return Some(Piece::Class { turned, ranges }),
            ']' if way == Way::Go => return None,
            '\\' => chars.next()?,
            c => c,
        };
        let mut ahead = chars.clone();
        let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']');
        let high = if is_range { after_dash(chars)? } else { low };
        ranges.push((low, high));
    }
}

fn after_dash(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<char> {
    chars.next();
    match chars.next()? {
        '\\' => chars.next(),
        c => Some(c),
    }
}

/// Goes back to the last star only, so that no pattern takes long.
fn matches(pieces: &[Piece], path: &str, way: Way) -> bool {
    let text: Vec<char> = path.chars().collect();
    let (mut piece, mut at) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() || piece < pieces.len() {
        let fits = match (pieces.get(piece), text.get(at)) {
            (Some(Piece::Star), _) => {
                star = Some((piece, at));
                piece += 1;
                continue;
            }
            (Some(one), Some(c)) => fits(one, *c, way),
            _ => false,
        };
        if fits {
            (piece, at) = (piece + 1, at + 1);
            continue;
        }
        match star {
            Some((start, taken)) if text.get(taken).is_some_and(|c| way == Way::Git || *c != '/') => {
                star = Some((start, taken + 1));
                (piece, at) = (start + 1, taken + 1);
            }
            _ => return false,
        }
    }
    true
}

fn fits(piece: &Piece, c: char, way: Way) -> bool {
    match piece {
        Piece::Star => false,
        Piece::Any => way == Way::Git || c != '/',
        Piece::One(own) => *own == c,
        Piece::Class { turned, ranges } => {
            ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *turned
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_for_directories_stops_at_a_slash() {
        for (pattern, path, fits) in [
            ("apps/*", "apps/web", true),
            ("apps/*", "apps/web/base", false),
            ("*", "apps", true),
            ("apps/*/[a-c]?", "apps/web/b1", true),
            ("apps/*/[^a-c]?", "apps/web/b1", false),
            ("a*b/c", "axxb/c", true),
            ("**", "a/b", false),
        ] {
            assert_eq!(fits_directory(pattern, path), Ok(fits), "{pattern} {path}");
        }
        assert!(fits_directory("apps/[a", "apps/a").is_err());
    }

    #[test]
    fn a_pattern_leads_to_a_folder_as_far_as_it_is_certain() {
        for (pattern, folder) in [
            ("apps/*", "apps"),
            ("apps/we*/x", "apps"),
            ("clusters/prod/*/config.json", "clusters/prod"),
            ("apps/web/", "apps/web"),
            ("apps/web", "apps"),
            ("apps", ""),
            ("./apps/*", "apps"),
            ("/apps/*", ""),
            ("../apps/*", ""),
            ("a\\*/b/c", ""),
            ("*", ""),
        ] {
            assert_eq!(fixed_part(pattern), folder, "{pattern}");
        }
    }

    #[test]
    fn a_star_for_files_does_not_and_a_directory_has_all_its_files() {
        for (pattern, path, fits) in [
            ("apps/*.yaml", "apps/a/b/c.yaml", true),
            ("apps/**/config.json", "apps/a/config.json", true),
            ("apps", "apps/a/b", true),
            ("apps/", "apps/a/b", true),
            ("app", "apps/a", false),
            ("", "anything", true),
            ("*.json", "apps/a.yaml", false),
        ] {
            assert_eq!(fits_file(pattern, path), Ok(fits), "{pattern} {path}");
        }
    }
}
