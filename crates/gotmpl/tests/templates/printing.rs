//! Go's `fmt`.

use crate::check_all;

#[test]
fn values_print_as_go_prints_them() {
    check_all(&[
        (
            "{{.Values.million}} {{.Values.replicas}} {{12345678901.0}} {{1e20}} {{0.00001}}",
            "1e+06 3 1.2345678901e+10 1e+20 1e-05",
        ),
        (
            "{{.Values.labels}} {{.Values.words}} {{list 1 \"a\" nil true}}",
            "map[a:1 b:2] [x y] [1 a <nil> true]",
        ),
        ("{{print 1 2 \"a\" \"b\" 3 4 nil nil}}|{{println 1 \"a\"}}", "1 2ab3 4 <nil> <nil>|1 a\n"),
        ("{{dict}} {{list}}", "map[] []"),
    ]);
}

#[test]
fn verbs_and_flags() {
    check_all(&[
        (
            "{{printf \"%d|%5d|%-5d|%05d|%+d|% d|%x|%X|%#x|%o|%O|%b|%c|%q|%U\" 42 42 42 42 42 42 42 42 42 42 42 42 42 42 42}}",
            "42|   42|42   |00042|+42| 42|2a|2A|0x2a|52|0o52|101010|*|'*'|U+002A",
        ),
        (
            "{{printf \"%f|%.2f|%8.3f|%-8.1f|%08.2f|%e|%g|%G|%.3g|%x\" 3.14159 3.14159 3.14159 3.14159 3.14159 3.14159 3.14159 1e-7 3.14159 1.5}}",
            "3.141590|3.14|   3.142|3.1     |00003.14|3.141590e+00|3.14159|1E-07|3.14|0x1.8p+00",
        ),
        (
            "{{printf \"%s|%10s|%-10s|%.2s|%q|%x|% x|%#q\" \"héy\" \"héy\" \"héy\" \"héy\" \"héy\" \"héy\" \"héy\" \"héy\"}}",
            "héy|       héy|héy       |hé|\"héy\"|68c3a979|68 c3 a9 79|`héy`",
        ),
        ("{{printf \"%t|%v|%5t\" true false true}}", "true|false| true"),
        (
            "{{printf \"%T|%T|%T|%T|%T|%T\" 1 1.5 \"a\" nil .Values .Values.words}}",
            "int|float64|string|<nil>|map[string]interface {}|[]string",
        ),
        (
            "{{printf \"%v|%+v|%#v\" .Values.labels .Values.words (list 1 \"a\" nil 1.0)}}",
            "map[a:1 b:2]|[x y]|[]interface {}{1, \"a\", interface {}(nil), 1}",
        ),
        (
            "{{printf \"%d %s %q %x\" (list 1 \"a\") .Values.words .Values.words .Values.words}}",
            "[1 %!d(string=a)] [x y] [\"x\" \"y\"] [78 79]",
        ),
        (
            "{{printf \"%*d|%-*d|%.*f|%[2]d %[1]d|%[5]*.[5]*[6]f\" 5 42 5 42 2 3.14159}}",
            "   42|42   |3.14|42 5|3.14",
        ),
    ]);
}

#[test]
fn wrong_verbs_are_told_in_the_text() {
    check_all(&[
        ("{{printf \"%d\" .Values.replicas}}", "%!d(float64=3)"),
        (
            "{{printf \"%d\" \"x\"}} {{printf \"%s\" 1}} {{printf \"%z\" 1}}",
            "%!d(string=x) %!s(int=1) %!z(int=1)",
        ),
        ("{{printf \"%d\"}} {{printf \"%d %d\" 1}}", "%!d(MISSING) 1 %!d(MISSING)"),
        ("{{printf \"x\" 1 nil}}", "x%!(EXTRA int=1, <nil>)"),
        ("{{printf \"%!\"}} {{printf \"%\"}}", "%!!(MISSING) %!(NOVERB)"),
        ("{{printf \"%[3]d\" 1}} {{printf \"%[x]d\" 1}}", "%!d(BADINDEX) %!d(BADINDEX)"),
        ("{{printf \"%*d\" \"a\" 1}}", "%!(BADWIDTH)1"),
        ("{{printf \"%d\" nil}} {{printf \"%s\" nil}}", "%!d(<nil>) %!s(<nil>)"),
        ("{{printf \"%5d\" \"x\"}}", "%!d(string=    x)"),
        ("{{printf \"%d%%\" 50}}", "50%"),
    ]);
}

#[test]
fn numbers_round_half_to_even() {
    check_all(&[
        ("{{printf \"%.0f %.0f %.0f %.1f %.2e\" 0.5 1.5 2.5 0.25 1.125}}", "0 2 2 0.2 1.12e+00"),
        ("{{564266923289882.25}}", "5.642669232898822e+14"),
        ("{{printf \"%.30f\" 0.1}}", "0.100000000000000005551115123126"),
    ]);
}
