//! Git: a reference to a revision to a tree, cached by content.
