//! Words with a fixed list of meanings, and fields that may hold a word we do not know yet.

use std::fmt;

use lynceus_object::Str;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A closed list of words as they stand on the wire.
pub trait Word: Copy + Eq + Sized + 'static {
    /// Every word, in the order of its definition.
    const ALL: &'static [Self];
    /// Whether the API server refuses any other word.
    const CLOSED: bool;

    /// The word as it stands on the wire.
    fn as_str(self) -> &'static str;

    /// The meaning of a word, if it has one.
    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.as_str() == text)
    }
}

/// Defines an enum whose variants are words on the wire.
macro_rules! words {
    (@closed closed) => { true };
    (@closed open) => { false };
    ($(#[$meta:meta])* pub enum $name:ident: $closed:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $crate::word::Word for $name {
            const ALL: &'static [Self] = &[$($name::$variant,)+];
            const CLOSED: bool = $crate::word::words!(@closed $closed);

            fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::word::Word::as_str(*self))
            }
        }
    };
}
pub(crate) use words;

/// A field that should hold one of the words of `T`, and keeps whatever else it finds.
///
/// Go holds these as plain strings: an empty or unknown one must survive being read and written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Open<T> {
    /// A word of the list.
    Known(T),
    /// Anything else; empty when the field is not set.
    Other(Str),
}

impl<T: Word> Open<T> {
    /// The word, if it is one of the list.
    pub fn known(&self) -> Option<T> {
        match self {
            Open::Known(word) => Some(*word),
            Open::Other(_) => None,
        }
    }

    /// The text as it stands on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Open::Known(word) => word.as_str(),
            Open::Other(text) => text,
        }
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }
}

impl<T> Default for Open<T> {
    fn default() -> Self {
        Open::Other(Str::new())
    }
}

impl<T: Word> From<T> for Open<T> {
    fn from(word: T) -> Self {
        Open::Known(word)
    }
}

impl<T: Word> From<&str> for Open<T> {
    fn from(text: &str) -> Self {
        T::parse(text).map_or_else(|| Open::Other(text.into()), Open::Known)
    }
}

impl<T: Word> PartialEq<T> for Open<T> {
    fn eq(&self, other: &T) -> bool {
        self.known() == Some(*other)
    }
}

impl<T: Word> fmt::Display for Open<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: Word> Serialize for Open<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: Word> Deserialize<'de> for Open<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Open::from(Str::deserialize(deserializer)?.as_str()))
    }
}
