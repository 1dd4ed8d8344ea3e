//! What a cluster does by itself: level-triggered controllers on the sim's clock.
