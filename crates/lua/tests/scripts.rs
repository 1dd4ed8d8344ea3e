//! What scripts can do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use jiff::Timestamp;
use lynceus_lua::{Libraries, Offer, Operation, Script, ScriptErrorKind, Verdict, World};
use lynceus_object::{Object, Value, value};

fn world() -> World {
    World::at("2024-05-06T07:08:09Z".parse::<Timestamp>().unwrap())
}

fn object(value: Value) -> Object {
    Object::new(value).unwrap()
}

fn answer(text: &str) -> Value {
    let given = object(value!({"list": [1, null, 3], "map": {"b": 1, "a": 2, "c": null}, "number": 1.5}));
    Script::compile(text, Libraries::Open).unwrap().run(&given, &[], &world()).unwrap()
}

fn health(text: &str) -> Option<Verdict> {
    Script::compile(text, Libraries::Closed).unwrap().health(&Object::default(), &world()).unwrap()
}

fn says(status: &str, message: &str) -> Option<Verdict> {
    Some(Verdict { status: status.into(), message: message.into() })
}

#[test]
fn what_is_null_is_nil() {
    assert_eq!(answer("return {type(obj.map.c), obj.number, #obj.list > 0}"), value!(["nil", 1.5, true]));
}

#[test]
fn goto_and_the_functions_of_older_lua_are_there() {
    let text = "local n = 0
        for _, v in ipairs({1, 2, 3}) do
          if v == 2 then goto continue end
          n = n + v
          ::continue::
        end
        return {n, table.getn({1, 2}), unpack({7, 8})}";
    assert_eq!(answer(text), value!([4, 2, 7, 8]));
}

#[test]
fn pairs_come_in_order() {
    let text =
        "local t = {} for k, v in pairs({z = 1, b = 2, 5, 6, a = 3}) do table.insert(t, k) end return t";
    assert_eq!(answer(text), value!([1, 2, "a", "b", "z"]));
    assert_eq!(
        answer("local t = {1, 2} for k in pairs(t) do t[k] = nil end return {next(t) == nil}"),
        value!([true])
    );
}

#[test]
fn whole_numbers_have_no_point() {
    assert_eq!(answer("return {10 / 2 .. '', 3 .. '/' .. 4, tostring(0.5)}"), value!(["5", "3/4", "0.5"]));
}

#[test]
fn patterns_are_matched_as_lua_does() {
    let cases = [
        ("string.match('2024-05-06T07:08:09Z', '(%d+)-(%d+)-(%d+)T')", value!(["2024", "05", "06"])),
        ("string.find('ERROR, no', '^ERROR')", value!([1, 5])),
        ("string.find('a.b', '.', 1, true)", value!([2, 2])),
        ("string.match('key = value', '^(%w+)%s*=%s*(%w+)$')", value!(["key", "value"])),
        ("string.match('f(a(b)c)d', '%b()')", value!(["(a(b)c)"])),
        ("string.match('hello', '.-l')", value!(["hel"])),
        ("string.match('hello', '.*l')", value!(["hell"])),
        ("string.match('hello', '()ll()')", value!([3, 5])),
        ("string.gsub('hello world', 'o', '0')", value!(["hell0 w0rld", 2])),
        ("string.gsub('hello', '(l)(l)', '%2-%1-%0')", value!(["hel-l-llo", 1])),
        ("string.gsub('abc', '', '-')", value!(["-a-b-c-", 4])),
        ("string.gsub('a b c', '%w', {a = 'x', b = false})", value!(["x b c", 3])),
        ("string.gsub('abc', '%w', function(l) return l:upper() end, 2)", value!(["ABc", 2])),
        ("string.match('THE (quick) fox', '%f[%a]%a+%f[%A]')", value!(["THE"])),
        ("string.match('aa bb', '(%a)%1')", value!(["a"])),
        ("string.match('x]y', '[]]')", value!(["]"])),
        ("string.match('a-z', '[a%-]+')", value!(["a-"])),
        ("string.match('tolower', '[^a-k]+')", value!(["tolow"])),
        ("string.match('abc', 'x?')", value!([""])),
        ("string.find('abc', 'b', -2)", value!([2, 2])),
    ];
    for (call, expected) in cases {
        assert_eq!(answer(&format!("return {{{call}}}")), expected, "{call}");
    }
    let text = "local t = {} for k, v in string.gmatch('a=1, b=2', '(%w+)=(%w+)') do t[k] = v end return t";
    assert_eq!(answer(text), value!({"a": "1", "b": "2"}));
}

#[test]
fn the_time_is_what_the_script_is_told() {
    assert_eq!(answer("return {os.time()}"), value!([1_714_979_289]));
    assert_eq!(answer("return {os.date('!%Y-%m-%dT%XZ')}"), value!(["2024-05-06T07:08:09Z"]));
    assert_eq!(
        answer("return {os.date('!%Y%m%d%H%M%S %A %B %p %j', 0)}"),
        value!(["19700101000000 Thursday January AM %j"])
    );
    assert_eq!(
        answer("local d = os.date('*t') return {d.year, d.month, d.day, d.wday}"),
        value!([2024, 5, 6, 2])
    );
    let time = "return {os.time({year = 2024, month = 5, day = 6, hour = 7, min = 8, sec = 9})}";
    assert_eq!(answer(time), value!([1_714_979_289]));
    assert_eq!(
        answer("return {os.time({year = 2023, month = 14, day = 30, hour = 0})}"),
        value!([1_709_251_200])
    );
}

#[test]
fn a_health_is_a_table_with_a_status() {
    assert_eq!(health("return {status = 'Healthy', message = 'fine'}"), says("Healthy", "fine"));
    assert_eq!(health("return {status = 'Healthy'}"), says("Healthy", ""));
    assert_eq!(health("hs = {} hs.Status = 'Degraded' return hs"), says("Degraded", ""));
}

#[test]
fn a_script_may_say_nothing() {
    for text in ["return {}", "return nil", "local x = 1", "return {status = 'Healthy', message = 3}"] {
        assert_eq!(health(text), None, "{text}");
    }
}

#[test]
fn a_health_that_is_no_table_is_an_error() {
    let script = Script::compile("return 'Healthy'", Libraries::Closed).unwrap();
    let error = script.health(&Object::default(), &world()).unwrap_err();
    assert_eq!(error.kind, ScriptErrorKind::Output);
    assert_eq!(error.to_string(), "expect table output from Lua script, not string");
}

#[test]
fn errors_have_their_line() {
    let error = Script::compile("local a = 1\nif a then", Libraries::Closed).unwrap_err();
    assert_eq!((error.kind, error.line), (ScriptErrorKind::Syntax, Some(2)), "{error}");
    let script = Script::compile("local a = 1\nreturn obj.status.phase", Libraries::Closed).unwrap();
    let error = script.health(&Object::default(), &world()).unwrap_err();
    assert_eq!((error.kind, error.line), (ScriptErrorKind::Run, Some(2)), "{error}");
    assert_eq!(error.to_string(), "<string>:2: attempt to index field 'status' (a nil value)");
}

#[test]
fn actions_are_offered_by_name() {
    let text = "return {restart = {}, scale = {params = {{name = 'replicas'}}, displayName = 'Scale'},
        pause = {disabled = true, iconClass = 'fa-pause'}}";
    let offers =
        Script::compile(text, Libraries::Closed).unwrap().discover(&Object::default(), &world()).unwrap();
    let offer = |name: &str| Offer { name: name.into(), ..Offer::default() };
    let expected = [
        Offer { disabled: true, icon: "fa-pause".into(), ..offer("pause") },
        offer("restart"),
        Offer { parameters: vec!["replicas".into()], title: "Scale".into(), ..offer("scale") },
    ];
    assert_eq!(offers, expected);
}

#[test]
fn an_action_changes_the_object_and_leaves_empty_maps_alone() {
    let deployment = object(value!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"paused": true, "selector": {}, "list": [], "replicas": 3, "items": [{"empty": {}}]},
    }));
    let script = Script::compile(
        "obj.spec.paused = nil obj.spec.replicas = tonumber(actionParams['replicas']) return obj",
        Libraries::Closed,
    )
    .unwrap();
    let made = script.act(&deployment, &[("replicas", "5".into())], &world()).unwrap();
    let expected = object(value!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {}, "list": [], "replicas": 5, "items": [{"empty": {}}]},
    }));
    assert_eq!(made, [(Operation::Patch, expected)]);
}

#[test]
fn an_action_may_make_new_objects() {
    let text = "return {{operation = 'create', resource = {apiVersion = 'batch/v1', kind = 'Job'}},
        {operation = 'patch', resource = obj}}";
    let given = object(value!({"kind": "CronJob"}));
    let made = Script::compile(text, Libraries::Closed).unwrap().act(&given, &[], &world()).unwrap();
    let job = object(value!({"apiVersion": "batch/v1", "kind": "Job"}));
    assert_eq!(made, [(Operation::Create, job), (Operation::Patch, given.clone())]);
    let odd = Script::compile("return {{operation = 'delete', resource = obj}}", Libraries::Closed).unwrap();
    assert_eq!(odd.act(&given, &[], &world()).unwrap_err().to_string(), "unsupported operation: \"delete\"");
}

#[test]
fn a_script_finds_values_by_their_names_and_gives_empty_maps_back_as_such() {
    let script = Script::compile(
        "return {volume = template.volume, list = template.list, own = {}, full = template.full, n = count + 1}",
        Libraries::Open,
    );
    let given = value!({"volume": {}, "list": [], "full": {"a": {}}});
    let said = script.unwrap().run_with(&[("template", given), ("count", value!(2))], &world()).unwrap();
    assert_eq!(said, value!({"volume": {}, "list": [], "own": [], "full": {"a": {}}, "n": 3}));
}
