//! Texts made up in the languages that functions read: names, numbers, versions, expressions, layouts, JSON.

use crate::chance::{Chance, quoted};

/// The question of a turn: each language gets its turn.
pub(crate) fn text(chance: &mut Chance, turn: u64) -> String {
    const LANGUAGES: [fn(&mut Chance) -> String; 14] = [
        names,
        cuts,
        numbers,
        decimals,
        versions,
        expressions,
        replacements,
        layouts,
        dates,
        durations,
        json,
        merges,
        paths,
        urls,
    ];
    LANGUAGES[usize::try_from(turn).unwrap_or_default() % LANGUAGES.len()](chance)
}

fn names(chance: &mut Chance) -> String {
    let pieces =
        ["a", "B", "c", "D", "1", "2", "_", "-", " ", ".", "Z", "é", "日", "ß", "ǅ", "٣", "+", "$", "É"];
    let name = quoted(&chance.some(&pieces, 0, 14));
    let functions =
        ["camelcase", "snakecase", "kebabcase", "swapcase", "title", "untitle", "initials", "nospace"];
    format!("{{{{ {} {name} }}}}", chance.pick(&functions))
}

fn cuts(chance: &mut Chance) -> String {
    let text = quoted(&chance.some(&["a", "b", " ", " ", "c", "é"], 0, 30));
    let (one, two) = (chance.between(-3, 12), chance.between(-3, 12));
    match chance.below(6) {
        0 => format!("{{{{ wrap {one} {text} }}}}"),
        1 => format!("{{{{ wrapWith {one} \"|\" {text} }}}}"),
        2 => format!("{{{{ abbrev {one} {text} }}}}"),
        3 => format!("{{{{ abbrevboth {one} {two} {text} }}}}"),
        4 => format!("{{{{ trunc {one} {text} }}}}"),
        _ => format!("{{{{ substr {one} {two} {text} }}}}"),
    }
}

fn numbers(chance: &mut Chance) -> String {
    let pieces =
        ["0", "1", "2", "7", "9", ".", "e", "E", "+", "-", "_", "x", "a", "b", "o", "f", "0x", "p", "inf"];
    let number = quoted(&chance.some(&pieces, 1, 7));
    format!(
        "{{{{ int {number} }}}} {{{{ float64 {number} }}}} {{{{ atoi {number} }}}} {{{{ toDecimal {number} }}}}"
    )
}

fn decimals(chance: &mut Chance) -> String {
    let mut number = || format!("{}e{}", chance.between(-99_999, 99_999), chance.between(-9, 9));
    let args = [number(), number(), number()].join(" ");
    let places = chance.between(-3, 8);
    match chance.below(7) {
        0 => format!(
            "{{{{ round ({}) {places} }}}}",
            chance.pick(&["divf 10 3", "mulf 1.1 1.1", "subf 0.3 0.1"])
        ),
        _ => format!("{{{{ {} {args} }}}}", chance.pick(&["addf", "subf", "mulf", "divf", "maxf", "minf"])),
    }
}

fn versions(chance: &mut Chance) -> String {
    let mut version = |wild: bool| {
        let digits: &[&str] =
            if wild { &["0", "1", "2", "x", "*"] } else { &["0", "1", "2", "3", "10", "01"] };
        let count = chance.between(1, 3);
        let mut text = (0..count).map(|_| chance.pick(digits)).collect::<Vec<_>>().join(".");
        if chance.often(25) {
            text.push('-');
            text.push_str(&chance.some(&["a", "b", "0", ".", "1", "-"], 1, 4));
        }
        text
    };
    let (version_, bound, other) = (version(false), version(true), version(true));
    let signs = ["", "=", "!=", ">", "<", ">=", "<=", "~", "^", "=>", "~>", "> "];
    let (sign, second) = (chance.pick(&signs), chance.pick(&signs));
    let between = chance.pick(&[", ", " ", " || ", " - "]);
    let constraint = match chance.below(3) {
        0 => format!("{sign}{bound}{between}{second}{other}"),
        _ => format!("{sign}{bound}"),
    };
    format!("{{{{ semverCompare {} {} }}}}", quoted(&constraint), quoted(&version_))
}

fn expression(chance: &mut Chance, depth: usize) -> String {
    let count = chance.between(0, 3);
    let mut text: String = (0..count).map(|_| atom(chance, depth)).collect();
    if chance.often(15) {
        text.push('|');
        text.push_str(&atom(chance, depth));
    }
    text
}

fn atom(chance: &mut Chance, depth: usize) -> String {
    const CLASSES: &[&str] = &[
        r"\d", r"\w", r"\s", r"\D", r"\W", r"\b", r"\B", r"\.", "^", "$", r"\A", r"\z", r"\pL", r"\p{Lu}",
        r"\x41",
    ];
    const MEMBERS: &[&str] = &["a-c", "x", "1-3", r"\d", r"\w", "-", "[:alpha:]", ".", "é", "]", "_"];
    const WRONG: &[&str] =
        &["*", "{", "}", "(", ")", "[", r"\", "(?", r"\q", "(?P<", "[[:x:]]", "[b-a]", "{1001}"];
    const GROUPS: &[&str] = &["(", "(?:", "(?i:", "(?P<n>", "(?<m>", "(?s:", "(?U:"];
    const REPEATS: &[&str] =
        &["", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{,3}", "{0,}", "{2,1}"];
    let atom = match chance.below(100) {
        0..45 => chance.pick(&["a", "b", "c", "x", ".", "1", "-", "_", "é", " "]).to_owned(),
        45..60 => chance.pick(CLASSES).to_owned(),
        60..75 => format!("[{}{}]", chance.pick(&["", "^"]), chance.some(MEMBERS, 1, 3)),
        75..90 if depth < 3 => format!("{}{})", chance.pick(GROUPS), expression(chance, depth + 1)),
        75..95 => chance.pick(&["(?i)", "(?m)", "(?s)", "(?U)", "(?-s)", r"\Qa.b\E"]).to_owned(),
        _ => chance.pick(WRONG).to_owned(),
    };
    atom + chance.pick(REPEATS)
}

fn haystack(chance: &mut Chance) -> String {
    quoted(&chance.some(&["a", "b", "c", "x", "1", "-", "_", " ", "é", "A", ".", "\n"], 0, 14))
}

fn expressions(chance: &mut Chance) -> String {
    let (expression, text) = (quoted(&expression(chance, 0)), haystack(chance));
    match chance.below(3) {
        0 => format!("{{{{ mustRegexFindAll {expression} {text} -1 | toJson }}}}"),
        1 => format!("{{{{ regexFind {expression} {text} }}}}"),
        _ => format!("{{{{ mustRegexSplit {expression} {text} {} | toJson }}}}", chance.between(-1, 4)),
    }
}

fn replacements(chance: &mut Chance) -> String {
    let (expression, text) = (quoted(&expression(chance, 0)), haystack(chance));
    let replacement =
        quoted(&chance.some(&["$1", "${1}", "$n", "${m}", "$", "{", "}", "x", "$$", "$0"], 0, 4));
    format!("{{{{ mustRegexReplaceAll {expression} {text} {replacement} }}}}")
}

fn layout(chance: &mut Chance) -> String {
    let pieces = [
        "2006",
        "06",
        "01",
        "1",
        "Jan",
        "January",
        "02",
        "2",
        "_2",
        "002",
        "__2",
        "15",
        "3",
        "03",
        "4",
        "04",
        "5",
        "05",
        "PM",
        "pm",
        "Mon",
        "Monday",
        "MST",
        "-0700",
        "-07:00",
        "-07",
        "Z0700",
        "Z07:00",
        "Z07",
        ".000",
        ".999",
        ",00",
        " ",
        "-",
        "T",
        ":",
        "/",
        "x",
        ".",
        "-070000",
        "Z07:00:00",
        "_2006",
        "Janx",
        "0",
        "7",
    ];
    quoted(&chance.some(&pieces, 1, 7))
}

fn zone(chance: &mut Chance) -> &'static str {
    chance.pick(&[
        "UTC",
        "Europe/Paris",
        "America/New_York",
        "Asia/Kathmandu",
        "Australia/Lord_Howe",
        "Pacific/Apia",
    ])
}

fn layouts(chance: &mut Chance) -> String {
    let seconds = chance.between(0, 2_000_000_000);
    format!("{{{{ dateInZone {} (int64 {seconds}) {:?} }}}}", layout(chance), zone(chance))
}

/// Writes a date and reads it again.
fn dates(chance: &mut Chance) -> String {
    let (layout, seconds) = (layout(chance), chance.between(0, 2_000_000_000));
    let written = format!("dateInZone {layout} (int64 {seconds}) {:?}", zone(chance));
    format!("{{{{ $t := {written} }}}}{{{{ $t }}}}={{{{ mustToDate {layout} $t }}}}")
}

fn durations(chance: &mut Chance) -> String {
    let pieces =
        ["1", "2.5", "0.001", "10", ".5", "1.", "h", "m", "s", "ms", "us", "µs", "ns", "d", "-", "+"];
    let duration = quoted(&chance.some(&pieces, 1, 6));
    format!(
        "{{{{ durationRound {duration} }}}} {{{{ mustDateModify {duration} (toDate \"2006\" \"2020\") }}}}"
    )
}

fn json_value(chance: &mut Chance, depth: usize) -> String {
    let numbers = ["1", "-0", "1.5", "1e3", "0.1e+5", "123456789012345678901", "01", "1.", "-", "1e400"];
    let letters = ["a", "é", r"\n", r"\u00e9", r"\ud83d\ude00", r#"\""#, "<", r"\/", r"\x", r"\ud800", "\t"];
    match chance.below(10) {
        0..3 => chance.pick(&numbers).to_owned(),
        3..5 => format!("\"{}\"", chance.some(&letters, 0, 4)),
        5 => chance.pick(&["true", "false", "null", "nul"]).to_owned(),
        6 | 7 if depth < 3 => {
            format!("[{},{}]", json_value(chance, depth + 1), json_value(chance, depth + 1))
        }
        _ if depth < 3 => {
            format!("{{\"k\": {}{}", json_value(chance, depth + 1), chance.pick(&["}", "}", "}", ",}"]))
        }
        _ => "{}".to_owned(),
    }
}

fn json(chance: &mut Chance) -> String {
    let text = quoted(&json_value(chance, 0));
    let end = chance.pick(&["toJson", "toRawJson", "toPrettyJson"]);
    format!("{{{{ mustFromJson {text} | {end} }}}}")
}

fn dict(chance: &mut Chance, depth: usize) -> String {
    let count = chance.between(0, 4);
    let entries: Vec<String> = (0..count)
        .map(|_| format!("{:?} {}", chance.pick(&["a", "b", "c"]), member(chance, depth)))
        .collect();
    format!("(dict {})", entries.join(" "))
}

fn member(chance: &mut Chance, depth: usize) -> String {
    if depth < 3 && chance.often(40) {
        return dict(chance, depth + 1);
    }
    chance
        .pick(&["1", "0", r#""""#, r#""x""#, "nil", "true", "false", "2.5", "list", "dict", "(list 1 2)"])
        .to_owned()
}

/// Merges dictionaries, and looks what became of each and which parts they share.
fn merges(chance: &mut Chance) -> String {
    let function = chance.pick(&["merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite"]);
    let (a, b) = (dict(chance, 1), dict(chance, 1));
    format!(
        "{{{{ $a := {a} }}}}{{{{ $b := {b} }}}}{{{{ $r := {function} $a $b }}}}{{{{ toJson $r }}}} {{{{ toJson $b }}}}\
         {{{{ range $a }}}}{{{{ if kindIs \"map\" . }}}}{{{{ $_ := set . \"Z\" 1 }}}}{{{{ end }}}}{{{{ end }}}} {{{{ toJson $b }}}}"
    )
}

fn paths(chance: &mut Chance) -> String {
    let path = quoted(&chance.some(&["a", "b", ".", "/", "..", "//", "c"], 0, 8));
    format!("{{{{ base {path} }}}}|{{{{ dir {path} }}}}|{{{{ clean {path} }}}}|{{{{ ext {path} }}}}")
}

fn urls(chance: &mut Chance) -> String {
    let pieces = [
        "a", "b", "@", ":", "/", "?", "#", "%41", "%zz", ".", "&", "=", "+", " ", "~", "!", "é", ";", "*",
        "[", "]",
    ];
    let start = chance.pick(&["", "http:", "ftp:", "1x:", "://", "mailto:", "http://", "//", "/"]);
    let url = quoted(&format!("{start}{}", chance.some(&pieces, 0, 10)));
    format!("{{{{ urlParse {url} | {} }}}}", chance.pick(&["toJson", "urlJoin"]))
}
