//! What Argo CD's interpreter does and Lua 5.2 does not. The answers are those of gopher-lua.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use jiff::Timestamp;
use lynceus_lua::World;
use lynceus_lua::{Libraries, Script, ScriptError};
use lynceus_object::{Object, Value, value};

fn run(text: &str) -> Result<Value, ScriptError> {
    let world = World::at(Timestamp::from_second(1_700_000_000).unwrap());
    Script::compile(text, Libraries::Open)?.run(&Object::default(), &[], &world)
}

/// Pairs of an expression and the text that it gives.
fn check(cases: &[(&str, &str)]) {
    for (expression, expected) in cases {
        let said = run(&format!("return {{{expression}}}")).unwrap();
        assert_eq!(said, value!([*expected]), "{expression}");
    }
}

#[test]
fn fields_of_a_time_may_be_texts() {
    let time = |fields: &str| run(&format!("return {{os.time({{{fields}}})}}")).unwrap();
    let texts = "year = '2024', month = '01', day = '01', hour = '10', min = '20', sec = '30'";
    assert_eq!(time(texts), value!([1_704_104_430]));
    assert_eq!(time("year = '2024', month = '08', day = '09', hour = '00'"), value!([1_723_161_600]));
    assert_eq!(time("year = 2024, month = 1, day = 1, hour = 'x'"), value!([1_704_110_400]));
    let matched = "local y, m, d = ('2024-01-02T'):match('(%d+)-(%d+)-(%d+)')
        return {os.difftime(os.time({year = y, month = m, day = d}), os.time({year = y, month = m, day = 1}))}";
    assert_eq!(run(matched).unwrap(), value!([86_400]));
}

#[test]
fn a_backslash_before_any_letter_is_that_letter() {
    check(&[
        (r#"'a.b' .. ("\."):len() .. "\-\/\[\%\d""#, "a.b1-/[%d"),
        (r#""\x41\z\u""#, "x41zu"),
        (r#""\65\066\t\"\'\\" .. '\10'"#, "AB\t\"'\\\n"),
        (r#""\321""#, "A"),
        (r#"[[\.]] .. [==[\x]]]==]"#, "\\.\\x]]"),
        ("'a\\\nb'", "a\nb"),
    ]);
    let lines = "-- don't \\q\n--[[ \" \\q\n ]] local s = '\\q' --[==[ ' ]==]\nerror(s .. \"\\'\")";
    assert_eq!(run(lines).unwrap_err().to_string(), "<string>:4: q'");
    let error = Script::compile("local a = '\\.\nreturn a", Libraries::Closed).unwrap_err();
    assert_eq!(error.line, Some(1), "{error}");
}

#[test]
fn numbers_are_written_as_go_writes_them() {
    check(&[
        ("'n=' .. 1 / 3", "n=0.3333333333333333"),
        ("1e15 .. ''", "1000000000000000"),
        ("10000000000000000 .. '|' .. 1e18 .. '|' .. 1e21", "10000000000000000|1000000000000000000|1e+21"),
        ("1 / 0 .. ' ' .. -1 / 0 .. ' ' .. -0.0", "+Inf -Inf 0"),
        ("tostring(0.1 + 0.2) .. ' ' .. tostring(1e-5)", "0.30000000000000004 1e-05"),
        ("tostring(1234567.5) .. ' ' .. 2 ^ 63", "1.2345675e+06 9.223372036854776e+18"),
        ("table.concat({1 / 3, 1e15, 'x'}, ' ')", "0.3333333333333333 1000000000000000 x"),
        ("(('x'):gsub('x', function() return 1e15 end))", "1000000000000000"),
        ("1 ..2 .. 3", "123"),
        ("tostring(math.huge)", "1.7976931348623157e+308"),
    ]);
}

#[test]
fn joining_what_is_no_text_is_an_error_of_that_line() {
    let error = run("local a\n\nreturn {'x' .. a}").unwrap_err();
    assert_eq!(error.to_string(), "<string>:3: cannot perform concat operation between string and nil");
    let error = run("return {obj .. 'x' .. 'y'}").unwrap_err();
    assert_eq!(error.message, "cannot perform concat operation between table and string");
}

#[test]
fn tables_may_say_how_they_are_joined() {
    let text = "local t = setmetatable({}, {__concat = function(a, b) return 'joined' end})
        return {t .. 'x', 'x' .. t, 'a' .. 1 .. 'b'}";
    assert_eq!(run(text).unwrap(), value!(["joined", "joined", "a1b"]));
}

#[test]
fn long_chains_and_many_locals_are_read() {
    let chain = vec!["'a'"; 150].join(" .. ");
    assert_eq!(run(&format!("return {{#({chain})}}")).unwrap(), value!([150]));
    let locals: String = (0..200).map(|n| format!("local a{n} = {n} ")).collect();
    assert_eq!(run(&format!("{locals} return {{a199 .. ''}}")).unwrap(), value!(["199"]));
}

#[test]
fn formats_are_those_of_go() {
    let format = |call: &str, expected: &str| check(&[(&format!("string.format({call})"), expected)]);
    format("'%d', 'abc'", "0");
    format("'%5d|', '12'", "   12|");
    format("'%s'", "%!s(MISSING)");
    format("'%d %d', 1", "1 %!d(MISSING)");
    format("'%d', 1, 2", "1");
    format("'%% %d', 1, 2", "% 1%!(EXTRA lua.LNumber=2)");
    format("'%v %v %v', 1.5, nil, true", "1.5 nil true");
    format("'%t %t', true, 1", "true %!t(int64=1)");
    format("'%d', true", "%!d(lua.LBool=true)");
    format("'%f', 'a'", "%!f(string=a)");
    format("'%d', 3.7", "3");
    format("'%08.3f|', -3.14159", "-003.142|");
    format("'%-8s|%5s|%.2s', 'ab', 'é', 'abc'", "ab      |    é|ab");
    format("'%x %X %#x', 255, 'hi', 255", "ff 6869 0xff");
    format("'%g %.3g %e', 1e6, 1234.5, 12345.678", "1e+06 1.23e+03 1.234568e+04");
    format("'%.1f%%', 45.25", "45.2%");
    format("'%q', 'a\"b'", "\"a\\\"b\"");
    format("'%5'", "%!(NOVERB)");
    format("'%03d %+d %5.3d|', 7, 5, 7", "007 +5   007|");
    format("'%.14g', 1 / 3", "0.33333333333333");
    format("'%T %c %u', 'a', 65, 3", "lua.LString A %!u(int64=3)");
}

#[test]
fn functions_find_their_arguments_in_a_table_too() {
    let text = "local function f(...) return arg.n .. arg[1] end
        local function g(arg, ...) return arg end
        local h = function(a, ...) local n = select('#', ...) return n .. arg[1] end
        return {f('a', nil), g(7), h(1, 'b')}";
    assert_eq!(run(text).unwrap(), value!(["2a", 7, "1b"]));
}

#[test]
fn texts_become_numbers_as_in_go() {
    let cases = [
        ("'12'", value!([12])),
        ("' 0x10 '", value!([16])),
        ("'1.5'", value!([1.5])),
        ("'ff', 16", value!([255])),
        ("'1e5'", value!([])),
        ("''", value!([])),
        ("'10.0.0'", value!([])),
        ("'+5'", value!([5])),
        ("nil", value!([])),
    ];
    for (given, expected) in cases {
        assert_eq!(run(&format!("return {{tonumber({given})}}")).unwrap(), expected, "{given}");
    }
}

#[test]
fn what_is_caught_is_a_text_with_its_line() {
    let text = "local ok, err = pcall(function()\n return string.rep('x', 1e10) end) return {'' .. err}";
    assert_eq!(run(text).unwrap(), value!(["<string>:2: resulting string too large"]));
    let text = "\nlocal ok, err = pcall(function() assert(false, 'no') end) return {err}";
    assert_eq!(run(text).unwrap(), value!(["<string>:2: no"]));
}

#[test]
fn letters_beyond_ascii_have_cases() {
    check(&[("('Äß'):lower() .. ('éß'):upper()", "äßÉß")]);
    check(&[("(('a'):gsub('a', '%-%%'))", "%-%"), ("(('abc'):gsub('b', function() return true end))", "ac")]);
    check(&[("math.mod(7, 3) .. _VERSION .. math.log10(100) .. math.log(1, 10)", "1Lua 5.120")]);
}
