//! Templates and what they print, each as Kubernetes' client library has it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use lynceus_object::jsonpath::{MissingKeys, Template};
use lynceus_object::{Value, json, limits, value};

const OBJECT: &str = r#"{"a":{"b":[1,2],"c":{"d":"x y","e":null,"f":true},"dot.ted":{"x/y":"deep"}},
"list":[{"name":"one","p":80,"f":1.5,"on":true,"tags":["t1"]},{"name":"two","p":443,"on":false,"tags":[]},{"name":"three","p":8080,"sub":{"name":"in<&>ner"}}],
"mixed":[{"k":"v"},null,true,[1,2]],"empty":[],"nul":null,"s":"text","nested":[[1,2],[3]],"nums":[5,3,9],"strs":["b","x\"y"],
"n":{"million":1000000,"float":1500000.5,"small":0.00001,"whole":2.0,"neg":-3,"big":12345678901234567890},"é":"accent","*":"star","":"no name"}"#;

fn answer(template: &str, value: &Value, missing: MissingKeys) -> String {
    let template = match Template::parse(template) {
        Ok(template) => template,
        Err(error) => return format!("cannot read: {error}"),
    };
    match template.print(value, missing) {
        Ok(printed) => String::from_utf8(printed).unwrap(),
        Err(error) => format!("cannot find: {error}"),
    }
}

fn check(missing: MissingKeys, table: &[(&str, &str)]) {
    let value = json::parse(OBJECT.as_bytes()).unwrap();
    for (template, expected) in table {
        assert_eq!(answer(template, &value, missing), *expected, "{template}");
    }
}

#[test]
fn fields_lead_into_maps() {
    check(
        MissingKeys::Refused,
        &[
            ("{.s}", "text"),
            ("{$.s}", "text"),
            ("{@.s}", "text"),
            ("{ .s }", "text"),
            ("plain } text", "plain } text"),
            ("{.a.c.d}", "x y"),
            (r"{.a.dot\.ted.x/y}", "deep"),
            (r"{.a['dot\.ted']}", r#"{"x/y":"deep"}"#),
            ("{.a['dot.ted']}", "cannot find: dot is not found"),
            ("{['s']}", "text"),
            ("{['a'].c.f}", "true"),
            ("{['']}", "no name"),
            ("{.a.c.e}", "null"),
            (r"{.\*}", "star"),
            ("{.é}", "accent"),
            ("{.s.*}", "116 101 120 116"),
            ("{.nested.*}", "[1,2] [3]"),
            ("{.a.c}", r#"{"d":"x y","e":null,"f":true}"#),
            ("{.list[2].sub}", r#"{"name":"in\u003c\u0026\u003ener"}"#),
            ("{.a.c.d .s}", "cannot find: s is not found"),
            ("{.a.b.*}", "1 2"),
        ],
    );
}

#[test]
fn subscripts_choose_items() {
    check(
        MissingKeys::Refused,
        &[
            ("{.nums[0]}", "5"),
            ("{.nums[]}", "5"),
            ("{.nums[-1]}", "9"),
            ("{.nums[*]}", "5 3 9"),
            ("{.nums[:]}", "5 3 9"),
            ("{.nums[1:]}", "3 9"),
            ("{.nums[:2]}", "5 3"),
            ("{.nums[-2:]}", "3 9"),
            ("{.nums[:-1]}", "5 3"),
            ("{.nums[::2]}", "5 9"),
            ("{.nums[0:3:2]}", "5 9"),
            ("{.nums[1:1]}", ""),
            ("{.nums[0,2]}", "5 9"),
            ("{.nums[0, -1]}", "5 9"),
            ("{.nums[0,1:]}", "5 3 9"),
            ("{.nums}", "[5,3,9]"),
            ("{.nested[*][0:1]}", "1 3"),
            ("{.list[*].name}", "one two three"),
            ("{.list[0]['name','p']}", "one 80"),
            ("{.list[0,2].name}", "one three"),
            ("{.empty[*]}", ""),
            ("{.nul[0]}", ""),
            ("{.list[0,?(@.p)].p}", "80 80 443 8080"),
            ("{.nested[0:1,1:2]}", "[1,2] [3]"),
        ],
    );
}

#[test]
fn descent_finds_all_that_has_something_in_it() {
    check(
        MissingKeys::Refused,
        &[
            ("{..name}", "one two three in<&>ner"),
            ("{..p}", "80 443 8080"),
            (
                "{.a..}",
                r#"{"b":[1,2],"c":{"d":"x y","e":null,"f":true},"dot.ted":{"x/y":"deep"}} [1,2] {"d":"x y","e":null,"f":true} x y {"x/y":"deep"} deep"#,
            ),
            ("{.list..tags}", r#"["t1"] []"#),
            ("{.list[0]..[0]}", "cannot find: map[string]interface {} is not array or slice"),
            ("{..list[1].p}", "443"),
            ("{.a.b..}", "[1,2]"),
            ("{...s}", "text"),
        ],
    );
}

#[test]
fn filters_choose_items() {
    check(
        MissingKeys::Refused,
        &[
            ("{.list[?(@.p==80)].name}", "one"),
            ("{.list[?(@.p!=80)].name}", "two three"),
            ("{.list[?(@.p<443)].name}", "one"),
            ("{.list[?(@.p<=443)].name}", "one two"),
            ("{.list[?(@.p>443)].name}", "three"),
            ("{.list[?(@.p>=443)].name}", "two three"),
            ("{.list[?(80==@.p)].name}", "one"),
            ("{.list[?(@.p == 80)].name}", "one"),
            (r#"{.list[?(@.name=="two")].p}"#, "443"),
            ("{.list[?(@.name=='two')].p}", "443"),
            (r#"{.list[?(@.name>"one")].name}"#, "two three"),
            ("{.list[?(@.sub)].name}", "three"),
            ("{.list[?(@.sub.name)].name}", "three"),
            ("{.list[?(@.on==true)].name}", "cannot find: on is not found"),
            ("{.list[?(@.on!=true)].name}", "cannot find: on is not found"),
            ("{.list[?(@.f==1.5)].name}", "cannot find: f is not found"),
            ("{.nums[?(@>3)]}", "5 9"),
            ("{.nums[?(@==@)]}", "5 3 9"),
            (
                r#"{.list[?(@.tags[0]=="t1")].name}"#,
                "cannot find: array index out of bounds: index 0, length 0",
            ),
            ("{.list[?(@.tags[9])].name}", "one two"),
            (r#"{.list[?(@.name=="a)b")].p}"#, ""),
            (r#"{.strs[?(@=="x\"y")]}"#, r#"x"y"#),
            ("{.list[?(@.p=80)].name}", "cannot find: unrecognized filter operator ="),
            ("{.list[?(@.p==)].name}", "cannot read: unrecognized character in action: U+003D '='"),
            ("{.list[?(@.p=)].name}", ""),
            (r#"{.list[?("")].name}"#, "one two three"),
            (r#"{.list[?(@.tags[*]=="t1")].name}"#, "cannot find: tags is not found"),
            ("{.list[?(@.nope==1)].name}", "cannot find: nope is not found"),
            (r#"{.mixed[?(@.k=="v")]}"#, "cannot find: k is not found"),
            ("{.empty[?(@.x)]}", ""),
        ],
    );
}

#[test]
fn ranges_repeat_what_is_in_them() {
    check(
        MissingKeys::Refused,
        &[
            (r#"{range .list[*]}{.name}={.p}{"\n"}{end}"#, "one=80\ntwo=443\nthree=8080\n"),
            ("{range .nums[*]}[{@}]{end}!", "[5][3][9]!"),
            ("{range .nested[*]}<{range @[*]}{@},{end}>{end}", "<1,2,><3,>"),
            ("{range .empty[*]}x{end}y", "y"),
            ("{range .empty[*]}{.x}{end}y", "cannot find: x is not found"),
            ("{range .mixed[*]}{@};{end}", r#"{"k":"v"};<no value>;true;[1,2];"#),
            (
                "{range .nums[*]}{@}",
                r#"539{"":"no name","*":"star","a":{"b":[1,2],"c":{"d":"x y","e":null,"f":true},"dot.ted":{"x/y":"deep"}},"empty":[],"list":[{"f":1.5,"name":"one","on":true,"p":80,"tags":["t1"]},{"name":"two","on":false,"p":443,"tags":[]},{"name":"three","p":8080,"sub":{"name":"in\u003c\u0026\u003ener"}}],"mixed":[{"k":"v"},null,true,[1,2]],"n":{"big":12345678901234567000,"float":1500000.5,"million":1000000,"neg":-3,"small":0.00001,"whole":2},"nested":[[1,2],[3]],"nul":null,"nums":[5,3,9],"s":"text","strs":["b","x\"y"],"é":"accent"}"#,
            ),
            ("{range .nums[0:1]}{@}{end}{end}", "cannot find: not in range, nothing to end"),
            ("{end}", "cannot find: not in range, nothing to end"),
            ("{range .nums}{[0]}{end}", "5"),
            ("{range .list[*]}{range .tags[*]}{@}{end}{.name} {end}", "cannot find: tags is not found"),
            ("{range .nums[*]}{end end}{@}{end}", "cannot find: not in range, nothing to end"),
            ("{range .nums[*] end}x{end}", "cannot find: not in range, nothing to end"),
            ("{range .nul[*]}{range .y[*]}{end}{end}z", "cannot find: y is not found"),
            ("{range .empty[*]}{[0]}{end}", "cannot find: nothing is not array or slice"),
        ],
    );
}

#[test]
fn literals_print_themselves() {
    check(
        MissingKeys::Refused,
        &[
            (r#"{"text"}"#, "text"),
            ("{'text'}", "text"),
            (r#"{"a\tb\n"}"#, "a\tb\n"),
            (r#"{"\x41\101\u00e9"}"#, "AAé"),
            (r"{'it\'s'}", "it's"),
            (r#"{'"'}"#, r#"""#),
            (r#"{""}"#, ""),
            ("{3}", "3"),
            ("{-3}", "-3"),
            ("{+5}", "5"),
            ("{1.5}", "1.5"),
            ("{2.}", "2"),
            ("{1500000.5}", "1.5000005e+06"),
            ("{99999999999999999999}", "1e+20"),
            ("{true}", "true"),
            ("{false}", "false"),
            (r#"{.s "x"}"#, "x"),
            (r#"a{"b"}c"#, "abc"),
        ],
    );
}

#[test]
fn numbers_are_printed_as_go_prints_them() {
    check(
        MissingKeys::Refused,
        &[
            ("{.n.million}", "1000000"),
            ("{.n.float}", "1.5000005e+06"),
            ("{.n.small}", "1e-05"),
            ("{.n.whole}", "2"),
            ("{.n.neg}", "-3"),
            ("{.n.big}", "1.2345678901234567e+19"),
            (
                "{.n}",
                r#"{"big":12345678901234567000,"float":1500000.5,"million":1000000,"neg":-3,"small":0.00001,"whole":2}"#,
            ),
        ],
    );
}

#[test]
fn wrong_templates_are_told() {
    check(
        MissingKeys::Refused,
        &[
            ("{", "cannot read: unclosed action"),
            ("{.a", "cannot read: unclosed action"),
            ("{.a\n}", "cannot read: unclosed action"),
            (r#"{"a}"#, "cannot read: unterminated quoted string"),
            (r#"{"a\\"}"#, "cannot read: unterminated quoted string"),
            (r#"{"\q"}"#, r#"cannot read: unquote string "\q" error invalid syntax"#),
            (r#"{"\'"}"#, r#"cannot read: unquote string "\'" error invalid syntax"#),
            (r#"{"a\\"b"}"#, r#"cannot read: unquote string "a\\"b" error invalid syntax"#),
            ("{....}", "cannot read: invalid multiple recursive descent"),
            ("{.a....b}", "cannot read: invalid multiple recursive descent"),
            ("{.nums[0}", "cannot read: unterminated array"),
            ("{.nums[0\n]}", "cannot read: unterminated array"),
            ("{.nums[a]}", "cannot read: invalid array index a"),
            (r#"{.nums["a"]}"#, r#"cannot read: invalid array index "a""#),
            ("{.nums[ 0 ]}", "cannot read: invalid array index  0 "),
            ("{.nums[1:2:3:4]}", "cannot read: invalid array index 1:2:3:4"),
            ("{.nums[-]}", "cannot read: array index - is not a number"),
            ("{.nums[:-]}", "cannot read: array index - is not a number"),
            (
                "{.nums[99999999999999999999]}",
                "cannot read: array index 99999999999999999999 is not a number",
            ),
            ("{.nums[?(@.a]}", "cannot read: unterminated filter"),
            ("{.nums[?(@.a)}", "cannot read: unclosed array expect ]"),
            ("{.nums[?(@.a) ]}", "cannot read: unclosed array expect ]"),
            ("{.nums[?(@.a[?(@.b)])]}", "cannot read: unterminated filter"),
            ("{.nums[?(==1)]}", "cannot read: unrecognized character in action: U+003D '='"),
            ("{.nums[?(@==)]}", "cannot read: unrecognized character in action: U+003D '='"),
            ("{+}", "cannot read: cannot parse number +"),
            ("{1.2.3}", "cannot read: cannot parse number 1.2.3"),
            ("{|}", "cannot read: unrecognized character in action: U+007C '|'"),
            ("{\t}", "cannot read: unrecognized character in action: U+0009"),
            ("{#}", "cannot read: unrecognized character in action: U+0023 '#'"),
            (r"{\}", r"cannot read: unrecognized character in action: U+005C '\'"),
            ("{(}", "cannot read: unrecognized character in action: U+0028 '('"),
            ("{*}", "cannot read: unrecognized character in action: U+002A '*'"),
            (r"{.a\}", "cannot read: unclosed action"),
        ],
    );
}

#[test]
fn what_a_value_does_not_have_is_told() {
    check(
        MissingKeys::Refused,
        &[
            ("{.nope}", "cannot find: nope is not found"),
            ("{.s.nope}", "cannot find: nope is not found"),
            ("{.nul.x}", "cannot find: x is not found"),
            ("{.s[0]}", "cannot find: string is not array or slice"),
            ("{.a[0]}", "cannot find: map[string]interface {} is not array or slice"),
            ("{.a.c.f[0]}", "cannot find: bool is not array or slice"),
            ("{.nums[0][0]}", "cannot find: int64 is not array or slice"),
            ("{3[0]}", "cannot find: int is not array or slice"),
            (r#"{"x"[0]}"#, "cannot find: string is not array or slice"),
            ("{.s.*[0]}", "cannot find: uint8 is not array or slice"),
            ("{.nums[7]}", "cannot find: array index out of bounds: index 7, length 3"),
            ("{.nums[-9]}", "cannot find: array index out of bounds: index -6, length 3"),
            ("{.nums[0:9]}", "cannot find: array index out of bounds: index 8, length 3"),
            ("{.nums[2:1]}", "cannot find: starting index 2 is greater than ending index 1"),
            ("{.nums[::0]}", "cannot find: step must be > 0"),
            ("{.nums[::-1]}", "cannot find: step must be > 0"),
            ("{.s[?(@.x)]}", "cannot find: text is not array or slice and cannot be filtered"),
            (
                "{.a.c[?(@.x)]}",
                "cannot find: map[d:x y e:<nil> f:true] is not array or slice and cannot be filtered",
            ),
            ("{.nul[?(@.x)]}", "cannot find: <nil> is not array or slice and cannot be filtered"),
            ("{3[?(@.x)]}", "cannot find: 3 is not array or slice and cannot be filtered"),
            (r#"{.list[?(@.p=="80")].name}"#, "cannot find: incompatible types for comparison"),
            ("{.list[?(@.f==1)].name}", "cannot find: incompatible types for comparison"),
            (r#"{.list[?(@.tags=="x")].name}"#, "cannot find: invalid type for comparison"),
            ("{.list[?(@.on<true)].name}", "cannot find: invalid type for comparison"),
            ("{.mixed[?(@==1)]}", "cannot find: invalid type for comparison"),
            ("{.nums[?(@===1)]}", "cannot find: unrecognized filter operator ==="),
            ("{.list[?(@.p==@.*)]}", "cannot find: can only compare one element at a time"),
            ("{.list[?(@.*==1)]}", "cannot find: can only compare one element at a time"),
            ("{foo}", "cannot find: unrecognized identifier foo"),
            ("{.s foo}", "cannot find: unrecognized identifier foo"),
            ("{null}", "cannot find: unrecognized identifier null"),
        ],
    );
}

#[test]
fn missing_keys_may_be_allowed() {
    check(
        MissingKeys::Allowed,
        &[
            ("{.nope}", ""),
            ("{.s.nope}x", "x"),
            ("{.nul.x}", ""),
            ("{range .nope[*]}{.x}{end}y", "y"),
            ("{range .list[*]}{.sub.name}|{end}", "||in<&>ner|"),
            ("{.list[*].sub.name}", "in<&>ner"),
            ("{.nope[0]}", ""),
            (r#"{.list[?(@.sub.name=="in<&>ner")].p}"#, "8080"),
        ],
    );
}

#[test]
fn maps_are_visited_in_the_order_of_their_keys() {
    check(
        MissingKeys::Refused,
        &[
            ("{.a.c.*}", "x y null true"),
            ("{.list[0].*}", "1.5 one true 80 [\"t1\"]"),
            ("{.a.c..}", r#"{"d":"x y","e":null,"f":true} x y"#),
        ],
    );
}

#[test]
fn a_byte_is_printed_as_it_is() {
    let template = Template::parse(r#"{"\xff"}"#).unwrap();
    assert_eq!(template.print(&Value::Null, MissingKeys::Refused).unwrap(), b"\xff");
}

#[test]
fn what_has_no_bound_is_refused() {
    let ranges = "{range @}".repeat(limits::JSONPATH_DEPTH + 1);
    let value = value!({"a": 1});
    assert_eq!(answer(&ranges, &value, MissingKeys::Refused), "cannot find: ranges nest more than 64 deep");

    let deep = (0..40).fold(value!(1), |inner, _| value!({"a": inner}));
    let doubling = format!("{{{}}}", "['a','a']".repeat(40));
    assert_eq!(
        answer(&doubling, &deep, MissingKeys::Refused),
        "cannot find: the template leads through more than 8000000 values"
    );
}
