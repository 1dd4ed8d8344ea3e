//! What happens to the objects that a deleted one owns.

/// What happens to the objects that a deleted one owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagation {
    /// They go first; the owner stays until they are gone.
    #[default]
    Foreground,
    /// They go after their owner.
    Background,
    /// They stay, without an owner.
    Orphan,
}

impl Propagation {
    /// The word in `propagationPolicy`.
    pub fn as_str(self) -> &'static str {
        match self {
            Propagation::Foreground => "Foreground",
            Propagation::Background => "Background",
            Propagation::Orphan => "Orphan",
        }
    }

    /// What a word in `propagationPolicy` stands for.
    pub fn of(word: &str) -> Option<Self> {
        [Propagation::Foreground, Propagation::Background, Propagation::Orphan]
            .into_iter()
            .find(|propagation| propagation.as_str() == word)
    }
}
