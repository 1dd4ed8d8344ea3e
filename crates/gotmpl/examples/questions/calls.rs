//! Calls of functions with arguments from pools.

use lynceus_gotmpl::Value;

use crate::chance::Chance;

/// What a parameter wants.
#[derive(Clone, Copy)]
enum P {
    Text,
    Int,
    Number,
    Bool,
    List,
    Dict,
    Any,
    Pattern,
    Replacement,
    Version,
    Constraint,
    Layout,
    Date,
    Time,
    Moment,
    Zone,
    Duration,
    Url,
    /// None to three of the next.
    Many,
}

use P::{Any, Bool, Constraint, Date, Dict, Duration, Int, Layout, List, Many, Moment};
use P::{Number, Pattern, Replacement, Text, Time, Url, Version, Zone};

/// Every function with what it takes. Aliases and twins stand together.
const CALLS: &[(&str, &[P])] = &[
    ("trim upper lower title untitle nospace initials swapcase snakecase camelcase kebabcase", &[Text]),
    ("sha1sum sha256sum sha512sum adler32sum b64enc b64dec b32enc b32dec regexQuoteMeta atoi fail", &[Text]),
    ("base dir clean ext isAbs osBase osDir osClean osExt osIsAbs fromJson mustFromJson", &[Text]),
    ("abbrev trunc repeat wrap indent nindent", &[Int, Text]),
    ("abbrevboth substr", &[Int, Int, Text]),
    ("trimall trimAll trimSuffix trimPrefix contains hasPrefix hasSuffix split splitList", &[Text, Text]),
    ("wrapWith", &[Int, Text, Text]),
    ("replace", &[Text, Text, Text]),
    ("plural", &[Text, Text, Int]),
    ("splitn", &[Text, Int, Text]),
    ("quote squote cat list tuple coalesce all any dict", &[Many, Any]),
    ("toString int64 int float64 toDecimal toStrings sortAlpha empty typeOf kindOf", &[Any]),
    ("toJson toPrettyJson toRawJson mustToJson mustToPrettyJson mustToRawJson", &[Any]),
    ("first mustFirst rest mustRest last mustLast initial mustInitial reverse mustReverse", &[List]),
    ("uniq mustUniq compact mustCompact", &[List]),
    ("first rest last initial reverse uniq compact", &[Any]),
    ("typeIs typeIsLike kindIs join", &[Text, Any]),
    ("deepEqual", &[Any, Any]),
    ("default", &[Any, Many, Any]),
    ("ternary", &[Any, Any, Bool]),
    ("seq", &[Many, Int]),
    ("until", &[Int]),
    ("untilStep", &[Int, Int, Int]),
    ("add1 add1f ceil floor", &[Number]),
    ("add addf", &[Many, Number]),
    ("sub div mod", &[Number, Number]),
    ("mul subf divf mulf biggest max min maxf minf", &[Number, Many, Number]),
    ("round", &[Number, Int]),
    ("append push mustAppend mustPush prepend mustPrepend", &[List, Any]),
    ("without mustWithout", &[List, Many, Any]),
    ("has mustHas", &[Any, List]),
    ("slice mustSlice", &[List, Many, Number]),
    ("concat", &[Many, List]),
    ("chunk mustChunk", &[Int, List]),
    ("get hasKey unset", &[Dict, Text]),
    ("set", &[Dict, Text, Text]),
    ("pluck", &[Text, Many, Dict]),
    ("pick omit", &[Dict, Many, Text]),
    ("merge mergeOverwrite mustMerge mustMergeOverwrite", &[Dict, Many, Dict]),
    ("deepCopy mustDeepCopy urlJoin", &[Dict]),
    ("dig", &[Text, Many, Text, Dict]),
    ("semver", &[Version]),
    ("semverCompare", &[Constraint, Version]),
    ("regexMatch mustRegexMatch regexFind mustRegexFind", &[Pattern, Text]),
    ("regexFindAll mustRegexFindAll regexSplit mustRegexSplit", &[Pattern, Text, Int]),
    ("regexReplaceAll mustRegexReplaceAll", &[Pattern, Text, Replacement]),
    ("regexReplaceAllLiteral mustRegexReplaceAllLiteral", &[Pattern, Text, Replacement]),
    ("urlParse", &[Url]),
    ("date", &[Layout, Moment]),
    ("dateInZone date_in_zone", &[Layout, Moment, Zone]),
    ("htmlDate", &[Moment]),
    ("htmlDateInZone", &[Moment, Zone]),
    ("dateModify date_modify mustDateModify must_date_modify", &[Duration, Time]),
    ("duration durationRound", &[Duration]),
    ("toDate mustToDate", &[Layout, Date]),
    ("unixEpoch", &[Time]),
];

const TEXTS: &[&str] = &[
    r#""""#,
    r#""abc""#,
    r#""Hello World""#,
    r#""hello_world-foo bar""#,
    r#""  padded  ""#,
    r#""HTTPServer20xOK""#,
    r#""foo.bar.baz""#,
    r#""a,b,c""#,
    r#""08""#,
    r#""0x1F""#,
    r#""1.50""#,
    r#""-7""#,
    r#""é""#,
    r#""日本語 text""#,
    r#""a\nb\nc""#,
    r#""foo/bar/../baz.tar.gz""#,
    r#""/abs/path/""#,
    r#""<a&b>""#,
    r#""q\"uo'te""#,
    r#""ßtraße ǆ""#,
    r#""abcabc""#,
    r#""99999999999999999999""#,
    r#""Ünï_Çödé 12ab""#,
    r#""x1y2Z3""#,
    r#""a\u00a0b""#,
    r#""%d %v""#,
    r#""[1,2,{\"a\":null}]""#,
    r#""aGVsbG8=""#,
    r#""string""#,
    r#""map""#,
    r#""a""#,
    r#""b""#,
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "-3",
    "10",
    "1.5",
    "-2.5",
    "0.1",
    "1e6",
    "1e20",
    "-0.0",
    r#""5""#,
    r#""1.5""#,
    r#""0x10""#,
    r#""abc""#,
    "true",
    "nil",
    ".i64",
    ".u8",
    ".float",
    "(int64 9)",
    ".big",
];
const LISTS: &[&str] = &[
    "list",
    "(list 1 2 3)",
    r#"(list "b" "a" "c")"#,
    r#"(list 1 "a" nil 2.5 true)"#,
    r#"(list "" nil 0 "x" false)"#,
    r#"(splitList "," "c,b,a")"#,
    "(until 4)",
    r#"(list 1 1 2 1.0 "1")"#,
    r#"(list (list 1) (list 1) (dict "a" 1))"#,
    ".strings",
    ".ints",
    ".bytes",
    ".nillist",
    ".list",
];
const DICTS: &[&str] = &[
    "dict",
    r#"(dict "a" 1)"#,
    r#"(dict "a" 1 "b" "x" "c" nil)"#,
    r#"(dict "a" (dict "b" (dict "c" 5)))"#,
    r#"(dict "b" (list 1) "z" "")"#,
    ".map",
    ".other",
    ".nilmap",
    r#"(dict "odd")"#,
    r#"(dict "host" "h" "path" "p q")"#,
];
const OTHERS: &[&str] = &[
    "nil",
    "true",
    "false",
    ".missing",
    ".i64",
    ".u8",
    ".float",
    "(int64 5)",
    ".inf",
    ".nan",
    ".error",
    ".stringmap",
    ".big",
    r#"(split "/" "a/b")"#,
];
const PATTERNS: &[&str] = &[
    r#""[a-z]+""#,
    r#""(a)(b)?""#,
    r#""\\d+""#,
    r#""^\\s*""#,
    r#""(?P<n>o+)""#,
    r#""(?i)HELLO""#,
    r#""a|b|""#,
    r#""[^a-c]""#,
    r#""x*""#,
    r#""""#,
    r#""(""#,
    r#""[a""#,
    r#""a**""#,
    r#""\\""#,
    r#""(?<n>l+)""#,
    r#""\\bf""#,
    r#""o{2,3}""#,
    r#""a{,2}""#,
    r#""\\pL+""#,
    r#""\\Qa.b\\E""#,
    r#"".$""#,
    r#""(?s).+""#,
    r#""a{1001}""#,
    r#""(?=a)""#,
    r#""*a""#,
    r#""\\z""#,
    r#""[z-a]""#,
    r#""\\8""#,
    r#"")""#,
    r#""(?m)^b$""#,
    r#""[[:foo:]]""#,
    r#""\\pX""#,
];
const REPLACEMENTS: &[&str] = &[
    r#""X""#,
    r#""$1""#,
    r#""${1}x""#,
    r#""$1x""#,
    r#""$n""#,
    r#""${n}""#,
    r#""$$""#,
    r#""${""#,
    r#""-$0-""#,
    r#""$9""#,
];
const VERSIONS: &[&str] = &[
    r#""1.2.3""#,
    r#""1""#,
    r#""v1.2""#,
    r#""1.2.3-alpha.1""#,
    r#""1.20.0-gke.100""#,
    r#""01.2""#,
    r#""""#,
    r#""x""#,
    r#""1.2.3.4""#,
    r#""0.0.3""#,
    r#""1.2.3-01""#,
    r#""99999999999999999999.1""#,
];
const CONSTRAINTS: &[&str] = &[
    r#"">=1.2""#,
    r#""^1.2.3""#,
    r#""~1.2""#,
    r#""1.x""#,
    r#""*""#,
    r#"">1, <3""#,
    r#"">=1.0.0-0""#,
    r#""1.2 - 2""#,
    r#""<2 || >=3""#,
    r#""!=1.2.3""#,
    r#""~> 1.2.3""#,
    r#""^0.0.3""#,
    r#""<=1.2""#,
    r#""""#,
    r#""foo""#,
    r#"">>1""#,
];
const LAYOUTS: &[&str] = &[
    r#""2006-01-02""#,
    r#""2006-01-02T15:04:05Z07:00""#,
    r#""Mon Jan _2 15:04:05 2006""#,
    r#""3:04PM""#,
    r#""Monday, 02-Jan-06 15:04:05 MST""#,
    r#""20060102150405.000""#,
    r#""002 __2""#,
    r#""-07 Z07:00:00""#,
    r#""x""#,
];
const DATES: &[&str] = &[
    r#""2020-01-02""#,
    r#""2020-02-30""#,
    r#""2021-03-04T05:06:07.5+02:00""#,
    r#""Tue Mar  4 05:06:07 2025""#,
    r#""3:04PM""#,
    r#""20060102150405.123""#,
    r#""x""#,
    r#""2020-13-01""#,
    r#""Monday, 02-Jan-06 15:04:05 CET""#,
];
const TIMES: &[&str] = &[
    r#"(toDate "2006-01-02" "2021-07-04")"#,
    r#"(toDate "2006-01-02T15:04:05Z07:00" "2021-12-31T23:59:59.5-03:00")"#,
    r#"(toDate "x" "y")"#,
];
const SECONDS: &[&str] = &["(int64 1600000000)", "0", "1700000000", "-1", "(int 5)"];
const ZONES: &[&str] = &[
    r#""UTC""#,
    r#""Europe/Paris""#,
    r#""America/New_York""#,
    r#""Asia/Kolkata""#,
    r#""nope""#,
    r#""Local""#,
    r#""""#,
];
const DURATIONS: &[&str] = &[
    r#""1h""#,
    r#""90s""#,
    r#""-2.5h""#,
    r#""300ms""#,
    r#""5""#,
    r#""x""#,
    r#""""#,
    r#""1.5.5s""#,
    r#""0""#,
    r#""1d""#,
    r#""3µs""#,
    r#""2540400h10m10.5s""#,
    r#"".5s""#,
    "(int64 3661)",
    "95",
];
const URLS: &[&str] = &[
    r#""http://user:pa%20ss@host.com:8080/p/a?x=1&y=2#frag""#,
    r#""mailto:a@b.c""#,
    r#""/rel/path?q""#,
    r#""://bad""#,
    r#""http://[::1]:80/""#,
    r#""http://a b/""#,
    r#""%zz""#,
    r#""host:80""#,
    r#""//h/p""#,
    r#""http://h:port/""#,
];

/// The question of a turn: each function gets its turn.
pub(crate) fn call(chance: &mut Chance, turn: u64) -> String {
    let all: Vec<(&str, &[P])> =
        CALLS.iter().flat_map(|(names, params)| names.split(' ').map(move |name| (name, *params))).collect();
    let (name, params) = all[usize::try_from(turn).unwrap_or_default() % all.len()];
    let mut args = arguments(chance, params);
    // Some calls have an argument too few, too many, or of another kind. Not those that take the time now for what is
    // no date, nor those that could put a dictionary into itself, which Go does not survive.
    let sensitive = name == "set" || params.iter().any(|param| matches!(param, Moment | Duration));
    match chance.below(100) {
        _ if sensitive => {}
        0..4 => drop(args.pop()),
        4..7 => args.push(argument(chance, Any)),
        7..14 if !args.is_empty() => {
            let at = chance.below(args.len());
            args[at] = argument(chance, Any);
        }
        _ => {}
    }
    let call = [&[name.to_owned()], args.as_slice()].concat().join(" ");
    match chance.below(4) {
        0 => format!("{{{{ ({call}) | typeOf }}}}:{{{{ ({call}) | toJson }}}}"),
        _ => format!("{{{{ {call} }}}}"),
    }
}

fn arguments(chance: &mut Chance, params: &[P]) -> Vec<String> {
    let mut args = Vec::new();
    let mut times = 1;
    for &param in params {
        if let Many = param {
            times = chance.below(4);
            continue;
        }
        for _ in 0..std::mem::replace(&mut times, 1) {
            args.push(argument(chance, param));
        }
    }
    args
}

fn argument(chance: &mut Chance, param: P) -> String {
    let pool = match param {
        Text => TEXTS,
        Int => return chance.between(-5, 12).to_string(),
        Number => NUMBERS,
        Bool => &["true", "false"],
        List => LISTS,
        Dict => DICTS,
        Any | Many => *chance.pick(&[&TEXTS, &NUMBERS, &LISTS, &DICTS, &OTHERS]),
        Pattern => PATTERNS,
        Replacement => REPLACEMENTS,
        Version => VERSIONS,
        Constraint => CONSTRAINTS,
        Layout => LAYOUTS,
        Date => DATES,
        Time => TIMES,
        Moment => *chance.pick(&[&TIMES, &SECONDS]),
        Zone => ZONES,
        Duration => DURATIONS,
        Url => URLS,
    };
    chance.pick(pool).to_owned()
}

/// What the arguments name, in the notation of the oracle.
pub(crate) fn values() -> Value {
    let of = |name: &str, value: Value| Value::map([(format!("${name}"), value)]);
    let number = |value: f64| Value::Float(value);
    Value::map([
        ("strings", of("strings", Value::list(["y", "x", "é", ""].map(Value::from)))),
        ("ints", of("ints", Value::list([3.0, 1.0, 2.0].map(number)))),
        ("bytes", of("bytes", "aGVsbG8=".into())),
        ("nillist", of("nillist", number(0.0))),
        ("nilmap", of("nilmap", number(0.0))),
        ("list", Value::list([number(1.0), number(2.5), "s".into(), Value::Nil, true.into()])),
        (
            "map",
            Value::map([("a", number(1.0)), ("b", Value::map([("c", Value::list([])), ("d", "".into())]))]),
        ),
        (
            "other",
            Value::map([("a", number(2.0)), ("b", Value::map([("c", Value::Nil), ("x", number(9.0))]))]),
        ),
        ("i64", of("int64", number(42.0))),
        ("u8", of("uint8", number(200.0))),
        ("float", number(3.75)),
        ("inf", of("float64", "+Inf".into())),
        ("nan", of("float64", "NaN".into())),
        ("error", of("error", "boom".into())),
        ("stringmap", of("stringmap", Value::map([("k", Value::str("v"))]))),
        ("big", of("uint64", "18446744073709551615".into())),
    ])
}
