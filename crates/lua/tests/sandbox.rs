//! What a script must not be able to do, each named after the attempt.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use lynceus_lua::{Libraries, Script, ScriptError, ScriptErrorKind, World};
use lynceus_object::{Object, Value, value};

fn world() -> World {
    World::at(Timestamp::from_second(1_700_000_000).unwrap())
}

fn run(text: &str) -> Result<Value, ScriptError> {
    Script::compile(text, Libraries::Open)?.run(&Object::default(), &[], &world())
}

/// Runs a script that gives its answer as a list.
fn answer(text: &str) -> Value {
    run(text).unwrap()
}

fn limit(text: &str) -> ScriptError {
    let error = run(text).unwrap_err();
    assert_eq!(error.kind, ScriptErrorKind::Limit, "{error}");
    // The machines that are left are as good as new.
    assert_eq!(answer("return {1}"), value!([1]));
    error
}

#[test]
fn a_loop_ends_with_its_line() {
    let error = limit("local x = 1\nwhile true do\n  x = x + 1\nend");
    assert!(matches!(error.line, Some(2 | 3)), "{error:?}");
    assert!(error.to_string().contains("more than 20000000 instructions"), "{error}");
}

#[test]
fn a_loop_of_protected_calls_ends() {
    limit("while true do pcall(function() while true do end end) end");
    limit("local function deeper() pcall(deeper) while true do end end while true do pcall(deeper) end");
    limit("while true do xpcall(function() while true do end end, function() while true do end end) end");
}

#[test]
fn recursion_ends() {
    let error = run("local function f() return 1 + f() end return {f()}").unwrap_err();
    assert!(error.message.contains("stack overflow") || error.kind == ScriptErrorKind::Limit, "{error}");
}

#[test]
fn tail_calls_end() {
    limit("local function f() return f() end f()");
}

#[test]
fn memory_ends() {
    limit("local t = {} for i = 1, 1e9 do t[i] = i end");
    limit("local s = 'x' while true do s = s .. s end");
}

#[test]
fn memory_that_is_caught_ends() {
    let error = run("while true do pcall(function() local s = 'x' while true do s = s .. s end end) end");
    assert_eq!(error.unwrap_err().kind, ScriptErrorKind::Limit);
}

#[test]
fn a_repeated_text_is_no_bomb() {
    let error = run("return {string.rep('x', 1e10)}").unwrap_err();
    assert_eq!((error.message.as_str(), error.line), ("resulting string too large", Some(1)));
    assert_eq!(answer("return {#string.rep('', 1e15), string.rep('ab', 3, '-')}"), value!([0, "ab-ab-ab"]));
}

#[test]
fn a_pattern_that_explodes_ends() {
    limit("local s = string.rep('a', 40) return {string.find(s, string.rep('a*', 30) .. 'b')}");
    limit("local s = string.rep('a', 3e5) while true do string.match(s, '.-b') end");
}

#[test]
fn sorting_ends_whatever_is_compared() {
    assert_eq!(answer("local t = {3, 1, 2} table.sort(t) return t"), value!([1, 2, 3]));
    assert_eq!(
        answer("local t = {1, 2, 3} table.sort(t, function() return true end) return {#t}"),
        value!([3])
    );
    limit("local t = {} for i = 1, 2e5 do t[i] = i % 7 end while true do table.sort(t) end");
}

#[test]
fn inserting_at_the_front_is_counted() {
    limit("local t = {} for i = 1, 1e6 do table.insert(t, 1, i) end");
}

#[test]
fn finalizers_are_refused() {
    let error = run("setmetatable({}, {__gc = function() while true do end end})").unwrap_err();
    assert_eq!(error.to_string(), "<string>:1: a metatable must not have __gc");
    // One that comes later is none.
    assert_eq!(answer("local m = {} setmetatable({}, m) m.__gc = error return {1}"), value!([1]));
}

#[test]
fn metamethods_are_counted() {
    limit(
        "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) while true do pcall(function() return t[1] end) end",
    );
}

#[test]
fn files_programs_and_the_environment_are_out_of_reach() {
    let names = "io debug dofile loadfile load loadstring coroutine package module getfenv setfenv bit32 newproxy __joint";
    for name in names.split(' ') {
        assert_eq!(answer(&format!("return {{type({name})}}")), value!(["nil"]), "{name}");
    }
    for name in ["execute", "getenv", "remove", "rename", "tmpname", "exit", "setenv", "setlocale"] {
        assert_eq!(answer(&format!("return {{type(os.{name})}}")), value!(["nil"]), "{name}");
    }
    assert_eq!(answer("return {type(string.dump)}"), value!(["nil"]));
}

#[test]
fn what_joins_texts_keeps_nothing() {
    let steal = "local got
        local t = setmetatable({}, {['__con' .. 'cat'] = function(a, b) got = b return 'x' end})
        local s = t .. 'y'
        return {type(got), (pcall(function() got.left = 1 end)), type(getmetatable(got)), 'a' .. 'b'}";
    assert_eq!(answer(steal), value!(["function", false, "boolean", "ab"]));
    let error = run("return {'a' .. print}").unwrap_err();
    assert_eq!(error.message, "cannot perform concat operation between string and function");
    let names = "local n = 0 for k in pairs(_G) do if k:find('joint') then n = n + 1 end end return {n}";
    assert_eq!(answer(names), value!([0]));
}

#[test]
fn joining_texts_is_counted() {
    limit("local s = '' while true do s = s .. 1 / 3 end");
    limit("while true do pcall(function() return 'a' .. nil end) end");
    limit("local t = {} for i = 1, 1000 do t[i] = i end while true do table.concat(t, ',') end");
}

#[test]
fn a_width_is_no_bomb() {
    assert_eq!(answer("return {string.format('%99999999999d', 1)}"), value!(["%!(BADWIDTH)1"]));
    assert_eq!(answer("return {#string.format('%.999999f', 1 / 3)}"), value!([1_000_001]));
    assert_eq!(
        answer("return {#string.format('%.99999e %.99999g %99999s', 0.1, 0.1, 'a')}"),
        value!([200_063])
    );
    let error = run("return {string.format(string.rep('%999999d', 10), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}");
    assert_eq!(error.unwrap_err().message, "resulting string too large");
    limit("while true do string.format('%999999d', 1) end");
    let error = run("return {string.rep('%s', 1e6):format()}").unwrap_err();
    assert_eq!(error.message, "resulting string too large");
}

#[test]
fn chance_is_the_same_in_every_run() {
    let draw = "return {math.random(), math.random(6), math.random(10, 20)}";
    let first = answer(draw);
    assert_eq!(answer(draw), first);
    assert_eq!(
        answer(
            "math.randomseed(7) local a = math.random(1e9) math.randomseed(7) return {a == math.random(1e9)}"
        ),
        value!([true])
    );
    let within =
        "for i = 1, 1000 do local n = math.random(3) assert(n >= 1 and n <= 3 and n % 1 == 0) end return {1}";
    assert_eq!(answer(within), value!([1]));
    assert_eq!(run("return {math.random(0)}").unwrap_err().message, "interval is empty");
    assert_eq!(
        answer("return {pcall(math.random, -1e300, 1e300)}"),
        value!([true, -9.223_372_036_854_776e18])
    );
}

#[test]
fn numbers_beyond_all_bounds_are_no_harm() {
    let times = "return {type(os.time({year = 1e300, month = -1e300, day = '9e99', hour = 0 / 0})),
        type(os.time({year = '', month = '-', day = '+', hour = '0x'})), (pcall(os.date, '%Y', 1e300))}";
    assert_eq!(answer(times), value!(["number", "number", false]));
    let odd = "return {tostring(tonumber('1', 1e300)), tostring(tonumber('1', -5)), tostring(tonumber('é.')),
        table.concat({1, 2}, ',', -1e300, 1e300), ('x'):rep(0 / 0)}";
    assert_eq!(answer(odd), value!(["nil", "nil", "nil", "1,2", ""]));
}

#[test]
fn waiting_by_the_clock_ends() {
    assert_eq!(answer("local t = os.clock() while os.clock() - t < 0.01 do end return {1}"), value!([1]));
    limit("while os.clock() < 5 do end");
}

#[test]
fn only_what_is_there_can_be_required() {
    assert_eq!(answer("local os = require('os') return {os.time()}"), value!([1_700_000_000]));
    let error = run("\nlocal io = require('io')").unwrap_err();
    assert_eq!(error.to_string(), "<string>:2: module io not found");
}

#[test]
fn bytecode_is_no_script() {
    let error = run("\u{1b}Lua").unwrap_err();
    assert_eq!(error.kind, ScriptErrorKind::Syntax, "{error}");
}

#[test]
fn nothing_is_left_of_the_run_before() {
    let leave =
        "leftover = 1 string.format = nil table.insert = nil os.time = nil _G.pairs = nil obj.left = 1
        pcall(function() getmetatable('').__index.upper = nil end) return {1}";
    for _ in 0..3 {
        assert_eq!(answer(leave), value!([1]));
        let look = "return {type(leftover), string.format('%d', 1), type(table.insert), type(os.time),
            type(pairs), type(obj.left), ('a'):upper(), type(getmetatable(''))}";
        let clean = value!(["nil", "1", "function", "function", "function", "nil", "A", "boolean"]);
        assert_eq!(answer(look), clean);
    }
}

#[test]
fn texts_and_numbers_have_to_be_asked_for() {
    let closed =
        |text: &str| Script::compile(text, Libraries::Closed).unwrap().run(&Object::default(), &[], &world());
    assert_eq!(
        closed("return {type(string), type(math), type(table.concat)}").unwrap(),
        value!(["nil", "nil", "function"])
    );
    let error = closed("local s = 'a'\nreturn {s:upper()}").unwrap_err();
    assert_eq!(error.line, Some(2));
}

#[test]
fn a_caller_with_a_clock_can_stop_it() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let stop = Arc::new(move || counter.fetch_add(1, Ordering::Relaxed) > 10);
    let world = World { stop: Some(stop), ..world() };
    let script = Script::compile("while true do end", Libraries::Closed).unwrap();
    let error = script.run(&Object::default(), &[], &world).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ScriptErrorKind::Limit, "the script took too long"));
    assert!(asked.load(Ordering::Relaxed) < 20);
}

#[test]
fn tables_that_hold_themselves_are_no_answer() {
    let error = run("local t = {} t.t = t return t").unwrap_err();
    assert_eq!(error.to_string(), "cannot encode recursively nested tables to JSON");
}

#[test]
fn many_run_at_once() {
    let script =
        Script::compile("local n = 0 for i = 1, 1e4 do n = n + i end return {n}", Libraries::Open).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(script.run(&Object::default(), &[], &world()).unwrap(), value!([50_005_000]));
                }
            });
        }
    });
}
