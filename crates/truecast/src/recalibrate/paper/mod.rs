//! What the paper proposes and what it compares itself with.
//!
//! | file | method |
//! |---|---|
//! | `algorithm_one.rs` | Algorithm 1 over any binary subroutine |

mod algorithm_one;

pub use algorithm_one::{AlgorithmOne, AlgorithmOneParameters};
