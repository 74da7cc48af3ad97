//! Which columns hold what.
