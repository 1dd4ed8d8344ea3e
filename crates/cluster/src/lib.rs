//! The one door to a cluster: client, live cache, owner graph, and the only writes.
