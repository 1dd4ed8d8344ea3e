//! Pairs desired objects with live ones and says what differs.
