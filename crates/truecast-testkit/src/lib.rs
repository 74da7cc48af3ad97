//! Laws every Truecast implementation must pass, seeded streams, adversaries and golden values.
