//! Which functions there are and what they take, as a table.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::authz;
use super::types::Ty;

/// One overload per word: `target.name(params)result`. Types are letters (see [`letter`]); `a` and `b`
/// stand for any type, the same everywhere in one overload.
const TABLE: &str = "
!_(B)B -_(I)I -_(D)D _||_(BB)B _&&_(BB)B _?_:_(Baa)a _==_(aa)B _!=_(aa)B
_<_(BB)B _<_(II)B _<_(UU)B _<_(DD)B _<_(SS)B _<_(YY)B _<_(TT)B _<_(NN)B
_<_(IU)B _<_(ID)B _<_(UI)B _<_(UD)B _<_(DI)B _<_(DU)B
_+_(II)I _+_(UU)U _+_(DD)D _+_(SS)S _+_(YY)Y _+_([a][a])[a] _+_(TN)T _+_(NT)T _+_(NN)N
_-_(II)I _-_(UU)U _-_(DD)D _-_(TT)N _-_(TN)T _-_(NN)N
_*_(II)I _*_(UU)U _*_(DD)D _/_(II)I _/_(UU)U _/_(DD)D _%_(II)I _%_(UU)U
@in(a[a])B @in(a{ab})B _[_]([a]I)a _[_]({ab}a)b _[_](?[a]I)?a _[_](?{ab}a)?b
_[?_]([a]I)?a _[?_]({ab}a)?b _[?_](?[a]I)?a _[?_](?{ab}a)?b
size(S)I size(Y)I size([a])I size({ab})I S.size()I Y.size()I [a].size()I {ab}.size()I
type(a)Z dyn(a)X
int(I)I int(U)I int(D)I int(S)I int(T)I int(N)I uint(U)U uint(I)U uint(D)U uint(S)U
double(D)D double(I)D double(U)D double(S)D bool(B)B bool(S)B bytes(Y)Y bytes(S)Y
string(S)S string(B)S string(I)S string(U)S string(D)S string(Y)S string(T)S string(N)S string(P)S string(C)S
timestamp(T)T timestamp(S)T timestamp(I)T duration(N)N duration(S)N duration(I)N
S.contains(S)B S.startsWith(S)B S.endsWith(S)B S.matches(S)B matches(SS)B
S.charAt(I)S S.indexOf(S)I S.indexOf(SI)I S.lastIndexOf(S)I S.lastIndexOf(SI)I S.lowerAscii()S S.upperAscii()S
S.replace(SS)S S.replace(SSI)S S.split(S)[S] S.split(SI)[S] S.substring(I)S S.substring(II)S S.trim()S
[S].join()S [S].join(S)S S.format([X])S strings.quote(S)S jsonpatch.escapeKey(S)S
S.find(S)S S.findAll(S)[S] S.findAll(SI)[S]
T.getFullYear()I T.getMonth()I T.getDayOfMonth()I T.getDate()I T.getDayOfWeek()I T.getDayOfYear()I
T.getHours()I T.getMinutes()I T.getSeconds()I T.getMilliseconds()I
T.getFullYear(S)I T.getMonth(S)I T.getDayOfMonth(S)I T.getDate(S)I T.getDayOfWeek(S)I T.getDayOfYear(S)I
T.getHours(S)I T.getMinutes(S)I T.getSeconds(S)I T.getMilliseconds(S)I
N.getHours()I N.getMinutes()I N.getSeconds()I N.getMilliseconds()I
[I].isSorted()B [U].isSorted()B [D].isSorted()B [B].isSorted()B [N].isSorted()B [T].isSorted()B [S].isSorted()B [Y].isSorted()B
[I].sum()I [U].sum()U [D].sum()D [N].sum()N
[I].min()I [U].min()U [D].min()D [B].min()B [N].min()N [T].min()T [S].min()S [Y].min()Y
[I].max()I [U].max()U [D].max()D [B].max()B [N].max()N [T].max()T [S].max()S [Y].max()Y
[a].indexOf(a)I [a].lastIndexOf(a)I [a].slice(II)[a] [X].flatten()[X] [X].flatten(I)[X] [a].distinct()[a] [a].reverse()[a]
[a].sort()[a] [a].first()?a [a].last()?a lists.range(I)[I]
sets.contains([a][a])B sets.equivalent([a][a])B sets.intersects([a][a])B
optional.of(a)?a optional.ofNonZeroValue(a)?a optional.none()?a
?a.hasValue()B ?a.value()a ?a.or(?a)?a ?a.orValue(a)a
quantity(S)Q isQuantity(S)B sign(Q)I Q.sign()I Q.isGreaterThan(Q)B Q.isLessThan(Q)B Q.compareTo(Q)I
Q.asApproximateFloat()D Q.asInteger()I Q.isInteger()B Q.add(Q)Q Q.add(I)Q Q.sub(Q)Q Q.sub(I)Q
url(S)L isURL(S)B L.getScheme()S L.getHost()S L.getHostname()S L.getPort()S L.getEscapedPath()S L.getQuery(){S[S]}
ip(S)P isIP(S)B ip.isCanonical(S)B P.family()I P.isUnspecified()B P.isLoopback()B P.isLinkLocalMulticast()B
P.isLinkLocalUnicast()B P.isGlobalUnicast()B
cidr(S)C isCIDR(S)B C.containsIP(S)B C.containsIP(P)B C.containsCIDR(S)B C.containsCIDR(C)B C.ip()P C.prefixLength()I C.masked()C
semver(S)V semver(SB)V isSemver(S)B isSemver(SB)B V.isGreaterThan(V)B V.isLessThan(V)B V.compareTo(V)I V.major()I V.minor()I V.patch()I
[?a].unwrapOpt()[a] optional.unwrap([?a])[a]
format.named(S)?F F.validate(S)?[S] format.dns1123Label()F format.dns1123Subdomain()F format.dns1035Label()F
format.qualifiedName()F format.dns1123LabelPrefix()F format.dns1123SubdomainPrefix()F format.dns1035LabelPrefix()F
format.labelValue()F format.uri()F format.uuid()F format.byte()F format.date()F format.datetime()F
A.path(S)H A.group(S)G A.serviceAccount(SS)A G.resource(S)R R.subresource(S)R R.namespace(S)R R.name(S)R
R.fieldSelector(S)R R.labelSelector(S)R H.check(S)E R.check(S)E E.allowed()B E.reason()S E.error()S E.errored()B
";

struct Overload {
    target: Option<Ty2>,
    params: Vec<Ty2>,
    result: Ty2,
}

/// A type with parameters.
#[derive(Clone, Debug)]
enum Ty2 {
    Plain(Ty),
    Param(usize),
    List(Box<Ty2>),
    Map(Box<Ty2>, Box<Ty2>),
    Optional(Box<Ty2>),
}

fn letter(c: char) -> Option<Ty2> {
    Some(Ty2::Plain(match c {
        'B' => Ty::Bool,
        'I' => Ty::Int,
        'U' => Ty::Uint,
        'D' => Ty::Double,
        'S' => Ty::String,
        'Y' => Ty::Bytes,
        'T' => Ty::Timestamp,
        'N' => Ty::Duration,
        'Z' => Ty::Type,
        'X' => Ty::Dyn,
        'Q' => Ty::Opaque("kubernetes.Quantity"),
        'L' => Ty::Opaque("kubernetes.URL"),
        'P' => Ty::Opaque("net.IP"),
        'C' => Ty::Opaque("net.CIDR"),
        'V' => Ty::Opaque("kubernetes.Semver"),
        'F' => Ty::Opaque("kubernetes.NamedFormat"),
        'A' => Ty::Opaque(authz::AUTHORIZER),
        'H' => Ty::Opaque(authz::PATH_CHECK),
        'G' => Ty::Opaque(authz::GROUP_CHECK),
        'R' => Ty::Opaque(authz::RESOURCE_CHECK),
        'E' => Ty::Opaque(authz::DECISION),
        'a' => return Some(Ty2::Param(0)),
        'b' => return Some(Ty2::Param(1)),
        _ => return None,
    }))
}

fn read(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Ty2> {
    match chars.next()? {
        '[' => {
            let item = read(chars)?;
            chars.next();
            Some(Ty2::List(Box::new(item)))
        }
        '{' => {
            let (key, value) = (read(chars)?, read(chars)?);
            chars.next();
            Some(Ty2::Map(Box::new(key), Box::new(value)))
        }
        '?' => Some(Ty2::Optional(Box::new(read(chars)?))),
        c => letter(c),
    }
}

fn read_all(text: &str) -> Vec<Ty2> {
    let mut chars = text.chars().peekable();
    std::iter::from_fn(|| read(&mut chars)).collect()
}

fn overloads() -> &'static BTreeMap<&'static str, Vec<Overload>> {
    static ALL: LazyLock<BTreeMap<&'static str, Vec<Overload>>> = LazyLock::new(|| {
        let mut all: BTreeMap<&'static str, Vec<Overload>> = BTreeMap::new();
        for word in TABLE.split_whitespace() {
            let Some((head, tail)) = word.split_once('(') else { continue };
            let Some((params, result)) = tail.split_once(')') else { continue };
            // A target is written in type letters and ends at the dot; `sets.contains` has none.
            let (target, name) = match head.split_once('.') {
                Some((types, name))
                    if !types.contains(|c: char| c.is_ascii_lowercase() && c != 'a' && c != 'b') =>
                {
                    (read_all(types).pop(), name)
                }
                _ => (None, head),
            };
            let Some(result) = read_all(result).pop() else { continue };
            all.entry(name).or_default().push(Overload { target, params: read_all(params), result });
        }
        all
    });
    &ALL
}

/// Why a call has no type.
pub(super) enum Mismatch {
    /// There is no such function.
    Unknown,
    /// There is, but not for these types.
    Types,
}

/// The type of a call.
pub(super) fn resolve(name: &str, target: Option<&Ty>, args: &[Ty]) -> Result<Ty, Mismatch> {
    // All comparisons take what `<` takes.
    let table_name = if matches!(name, "_<=_" | "_>_" | "_>=_") { "_<_" } else { name };
    let Some(candidates) = overloads().get(table_name) else { return Err(Mismatch::Unknown) };
    let mut found: Option<Ty> = None;
    for overload in candidates {
        if overload.params.len() != args.len() || overload.target.is_some() != target.is_some() {
            continue;
        }
        let mut bound = [None, None];
        let fits = overload
            .target
            .iter()
            .zip(target)
            .chain(overload.params.iter().zip(args))
            .all(|(wanted, given)| bind(wanted, given, &mut bound));
        if !fits {
            continue;
        }
        let result = build(&overload.result, &bound);
        found = Some(match found {
            None => result,
            Some(before) if before == result => before,
            Some(_) => Ty::Dyn,
        });
        // Without a dynamic argument the first match is the only one.
        if !target.into_iter().chain(args).any(|ty| matches!(ty, Ty::Dyn)) {
            break;
        }
    }
    found.ok_or(Mismatch::Types)
}

fn bind(wanted: &Ty2, given: &Ty, bound: &mut [Option<Ty>; 2]) -> bool {
    match (wanted, given) {
        (Ty2::Param(at), given) => {
            let Some(slot) = bound.get_mut(*at) else { return false };
            match slot {
                None => {
                    *slot = Some(given.clone());
                    true
                }
                Some(before) if given.fits(before) => {
                    if matches!(before, Ty::Null) || matches!(given, Ty::Dyn) {
                        *slot = Some(given.clone());
                    }
                    true
                }
                Some(before) if before.fits(given) => {
                    *slot = Some(given.clone());
                    true
                }
                Some(_) => false,
            }
        }
        (_, Ty::Dyn) => true,
        (Ty2::Plain(wanted), given) => given.fits(wanted),
        (Ty2::List(item), Ty::List(list)) => bind(item, &list.item, bound),
        (Ty2::Map(key, value), Ty::Map(map)) => bind(key, &map.0, bound) && bind(value, &map.1, bound),
        (Ty2::Optional(of), Ty::Optional(given)) => bind(of, given, bound),
        _ => false,
    }
}

fn build(ty: &Ty2, bound: &[Option<Ty>; 2]) -> Ty {
    match ty {
        Ty2::Plain(ty) => ty.clone(),
        Ty2::Param(at) => bound.get(*at).cloned().flatten().unwrap_or(Ty::Dyn),
        Ty2::List(item) => Ty::list(build(item, bound)),
        Ty2::Map(key, value) => Ty::map(build(key, bound), build(value, bound)),
        Ty2::Optional(of) => Ty::optional(build(of, bound)),
    }
}
