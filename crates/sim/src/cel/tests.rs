use lynceus_object::{Value, value};

use super::*;

fn run(text: &str, variable: Value) -> String {
    let env = Env::new([("self", Ty::Dyn), ("oldSelf", Ty::Dyn)]);
    let program = match Program::compile(text, &env) {
        Ok(program) => program,
        Err(error) => return error.to_string(),
    };
    let variables = [("self", Val::lift(&variable, &Ty::Dyn))];
    match program.run(&variables, 1_000_000).0 {
        Ok(Val::Optional(None)) => "none".into(),
        Ok(value) => value
            .to_value()
            .map_or_else(|| format!("{value:?}"), |value| serde_json::to_string(&value).unwrap()),
        Err(error) => format!("error: {error}"),
    }
}

fn check(cases: &[(&str, &str)]) {
    let variable = value!({"a": 1, "s": "text", "l": [1, 2, 3], "m": {"k": "v"}, "f": 1.5, "n": null,
        "items": [{"name": "x", "port": 80}, {"name": "y", "port": 443}]});
    for (text, expected) in cases {
        assert_eq!(run(text, variable.clone()), *expected, "{text}");
    }
}

#[test]
fn operators_follow_precedence() {
    check(&[
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 / 3", "3"),
        ("-7 % 3", "-1"),
        ("1 < 2 && 2 <= 2 || false", "true"),
        ("!(1 == 1)", "false"),
        ("true ? 'a' : 'b'", "\"a\""),
        ("1.5 + 2.0", "3.5"),
        ("'a' + 'b'", "\"ab\""),
        ("[1] + [2]", "[1,2]"),
        ("dyn(1) == 1.0", "true"),
        ("2 in [1, 2]", "true"),
        ("'k' in self.m", "true"),
        ("self.l[1]", "2"),
        ("self.m['k']", "\"v\""),
        ("-9223372036854775808", "-9223372036854775808"),
        ("0x10", "16"),
        ("r'\\d' + \"\\u00e9\"", "\"\\\\dé\""),
    ]);
}

#[test]
fn one_side_that_decides_is_enough() {
    check(&[
        ("false && self.nope", "false"),
        ("self.nope && false", "false"),
        ("self.nope || true", "true"),
        ("self.nope && true", "error: no such key: nope"),
        ("self.l.exists(x, x == 'a' || x == 2)", "true"),
        ("[1, 2].all(x, x > 1)", "false"),
        ("1 / 0 == 1 || true", "true"),
    ]);
}

#[test]
fn macros_walk_lists_and_maps() {
    check(&[
        ("self.l.all(x, x > 0)", "true"),
        ("self.l.exists_one(x, x > 2)", "true"),
        ("self.l.filter(x, x > 1)", "[2,3]"),
        ("self.l.map(x, x * 2)", "[2,4,6]"),
        ("self.l.map(x, x > 1, x * 2)", "[4,6]"),
        ("self.m.all(k, self.m[k] == 'v')", "true"),
        ("self.items.all(i, self.items.exists_one(j, i.name == j.name))", "true"),
        ("self.l.transformList(i, v, i * v)", "[0,2,6]"),
        ("self.m.transformMap(k, v, v + '!')", "{\"k\":\"v!\"}"),
        ("self.l.exists(i, v, i == 2 && v == 3)", "true"),
        ("has(self.a) && !has(self.b)", "true"),
    ]);
}

#[test]
fn optional_values_are_followed() {
    check(&[
        ("self.?b.orValue(5)", "5"),
        ("self.?a.orValue(5)", "1"),
        ("self.?m.k.hasValue()", "true"),
        ("self.?x.y.hasValue()", "false"),
        ("self.m[?'z']", "none"),
        ("self.?a.optMap(x, x + 1).orValue(0)", "2"),
        ("[?self.?b, ?self.?a]", "[1]"),
        ("optional.of(1).value()", "1"),
        ("optional.none().value()", "error: optional.none() dereference"),
    ]);
}

#[test]
fn libraries_answer() {
    check(&[
        ("'a,b'.split(',')", "[\"a\",\"b\"]"),
        ("['a', 'b'].join('-')", "\"a-b\""),
        ("'Hello'.lowerAscii().startsWith('he')", "true"),
        ("'héllo'.substring(1, 2)", "\"é\""),
        ("'abcabc'.lastIndexOf('b')", "4"),
        ("'abc'.indexOf('z')", "-1"),
        ("'a-b-c'.replace('-', '', 1)", "\"ab-c\""),
        ("'%s has %d, %.2f'.format([dyn('x'), 3, 1.5])", "\"x has 3, 1.50\""),
        ("'abc123'.find('[0-9]+')", "\"123\""),
        ("'a1b22'.findAll('[0-9]+')", "[\"1\",\"22\"]"),
        ("'web-1'.matches('^[a-z]+-[0-9]$')", "true"),
        ("[3, 1, 2].sort()", "[1,2,3]"),
        ("[1, 2].isSorted() && [1, 2].sum() == 3 && [1, 2].max() == 2", "true"),
        ("sets.contains([1, 2], [2])", "true"),
        ("quantity('1Gi').isGreaterThan(quantity('1G'))", "true"),
        ("quantity('100m').add(quantity('0.9')).isInteger()", "true"),
        ("isQuantity('abc')", "false"),
        ("url('https://example.com:80/p?a=b').getHostname()", "\"example.com\""),
        ("isURL('nope')", "false"),
        ("ip('10.0.0.1').family()", "4"),
        ("cidr('10.0.0.0/8').containsIP('10.1.2.3')", "true"),
        ("semver('1.2.3').isLessThan(semver('1.10.0'))", "true"),
        ("duration('1h') > duration('59m')", "true"),
        ("timestamp('2024-01-02T03:04:05Z').getFullYear()", "2024"),
        ("timestamp('2024-01-02T00:00:00Z') + duration('24h') == timestamp('2024-01-03T00:00:00Z')", "true"),
        ("size('héllo') == 5 && 'ab'.size() == 2", "true"),
        ("int('12') + int(1.9)", "13"),
        ("string(1) + string(true) + string(1.5)", "\"1true1.5\""),
        ("type(self.a) == int", "true"),
        ("format.named('dns1123Label').value().validate('Bad').hasValue()", "true"),
    ]);
}

#[test]
fn what_cannot_work_is_refused_with_a_mark() {
    let object = ObjectTy {
        fields: [("name".into(), ("name".into(), Ty::String)), ("n".into(), ("n".into(), Ty::Int))].into(),
    };
    let env = Env::new([("self", Ty::Object(object.into()))]);
    for (text, expected) in [
        ("self.foo", "ERROR: <input>:1:5: undefined field 'foo'\n | self.foo\n | ....^"),
        (
            "other == 1",
            "ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other == 1\n | ^",
        ),
        (
            "self.name > 5",
            "ERROR: <input>:1:11: found no matching overload for '_>_' applied to '(string, int)'\n | self.name > 5\n | ..........^",
        ),
        (
            "self.n.startsWith('a')",
            "ERROR: <input>:1:18: found no matching overload for 'startsWith' applied to 'int.(string)'\n | self.n.startsWith('a')\n | .................^",
        ),
        (
            "self.n ==",
            "ERROR: <input>:1:10: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | self.n ==\n | .........^",
        ),
    ] {
        assert_eq!(Program::compile(text, &env).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn a_rule_cannot_run_for_ever() {
    let items: Vec<i64> = (0..2000).collect();
    let text = "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))";
    let program = Program::compile(text, &Env::new([("self", Ty::Dyn)])).unwrap();
    let (outcome, _) = program.run(&[("self", Val::lift(&Value::from(items), &Ty::Dyn))], 1_000_000);
    assert_eq!(outcome.unwrap_err(), EvalError::Cost);
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    assert!(Program::compile(&deep, &Env::default()).is_err());
    let long = vec!["1"; 3000].join("+");
    assert!(Program::compile(&long, &Env::default()).is_err());
}
