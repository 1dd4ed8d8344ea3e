//! Whatever the text and whatever the change: an error, or exactly the change.
