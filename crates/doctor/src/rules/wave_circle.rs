//! Applications whose waves wait for each other: each needs in an early wave what the next one brings in a late one.

use std::collections::BTreeMap;

use lynceus_object::ObjectKey;

use crate::case::App;
use crate::node::AppName;
use crate::rules::wave_needs::Turn;
use crate::snapshot::Wanted;

/// Something of one application that needs something of another.
#[derive(Clone, Copy)]
pub(super) struct Crossing<'c, 'a> {
    pub(super) app: &'c App<'a>,
    pub(super) user: &'a Wanted,
    pub(super) needed: Turn,
    pub(super) other: &'c App<'a>,
    pub(super) late: &'a Wanted,
    pub(super) comes: Turn,
}

impl Crossing<'_, '_> {
    /// Whether what is needed here waits for another need to be met: that one is of an earlier wave of the same application.
    fn waits_for(&self, next: &Crossing<'_, '_>) -> bool {
        next.app.name == self.other.name && next.needed < self.comes
    }
}

/// All needs across applications; of those between the same two waves one is enough.
#[derive(Default)]
pub(super) struct Crossings<'c, 'a> {
    all: BTreeMap<(AppName, Turn, AppName, Turn), Crossing<'c, 'a>>,
}

impl<'c, 'a> Crossings<'c, 'a> {
    pub(super) fn add(&mut self, one: Crossing<'c, 'a>) {
        let key = (one.app.name.clone(), one.needed, one.other.name.clone(), one.comes);
        self.all.entry(key).or_insert(one);
    }

    /// The circles in which needs wait for each other, no need being in two of them.
    pub(super) fn circles(self) -> Vec<Vec<Crossing<'c, 'a>>> {
        let mut left: Vec<Crossing<'c, 'a>> = self.all.into_values().collect();
        let mut circles = Vec::new();
        loop {
            peel(&mut left);
            let Some(circle) = walk(&left) else { return circles };
            let is_of = |one: &Crossing<'_, '_>| {
                circle.iter().any(|of| std::ptr::eq(of.user, one.user) && std::ptr::eq(of.late, one.late))
            };
            left.retain(|one| !is_of(one));
            circles.push(circle);
        }
    }
}

/// Takes away what waits for nothing that is left.
fn peel(left: &mut Vec<Crossing<'_, '_>>) {
    loop {
        let mut first: BTreeMap<AppName, Turn> = BTreeMap::new();
        for one in left.iter() {
            let turn = first.entry(one.app.name.clone()).or_insert(one.needed);
            *turn = one.needed.min(*turn);
        }
        let before = left.len();
        left.retain(|one| first.get(&one.other.name).is_some_and(|turn| *turn < one.comes));
        if left.len() == before {
            return;
        }
    }
}

/// A circle, found by going on from any need to the next that it waits for until one comes again.
fn walk<'c, 'a>(left: &[Crossing<'c, 'a>]) -> Option<Vec<Crossing<'c, 'a>>> {
    let mut way: Vec<usize> = Vec::new();
    let mut at = 0;
    loop {
        if let Some(begin) = way.iter().position(|one| *one == at) {
            return Some(way[begin..].iter().map(|one| left[*one]).collect());
        }
        way.push(at);
        let from = left.get(at)?;
        at = left.iter().position(|next| from.waits_for(next))?;
    }
}

/// The need that is best met earlier, with the wave in which it would be early enough: what holds no state and starts nothing can come
/// at any time.
pub(super) fn easiest<'o, 'c, 'a>(circle: &'o [Crossing<'c, 'a>]) -> Option<(&'o Crossing<'c, 'a>, Turn)> {
    let effort = |key: &ObjectKey| match key.kind.as_str() {
        "Namespace" | "CustomResourceDefinition" => 0,
        "ConfigMap" | "Secret" | "ServiceAccount" => 1,
        _ => 2,
    };
    let following = circle.iter().cycle().skip(1);
    let pairs = circle.iter().zip(following).map(|(one, next)| (one, next.needed));
    pairs.min_by_key(|(one, _)| {
        let key = one.late.object.key();
        (effort(&key), one.other.name.clone(), key)
    })
}
