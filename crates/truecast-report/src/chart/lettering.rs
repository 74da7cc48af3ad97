//! How much room text takes. No font is at hand, so widths are those of a wide one (DejaVu Sans): text may be
//! given too much room, never too little.

/// The size of all text, in the chart's units.
pub(crate) const FONT: f64 = 14.0;

/// What `text` takes at the given font size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

fn em(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | '\u{a0}' => 0.35,
        'f' | 't' | 'r' | '(' | ')' | '/' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' => 1.0,
        '−' | '×' | '+' | '=' | '<' | '>' => 0.84,
        'A'..='Z' => 0.74,
        '⁰'..='⁹' | '⁻' | '¹' | '²' | '³' => 0.42,
        c if c.is_ascii() => 0.64,
        // Latin and Greek letters with marks; anything from the scripts beyond them may be a full square.
        c if c < '\u{500}' => 0.68,
        _ => 1.0,
    }
}

/// `text`, with its end replaced by … where it takes more than `most`.
pub(crate) fn clipped(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let mut room = most - width("…", size);
    let mut kept = String::new();
    for character in text.chars() {
        room -= em(character) * size;
        if room < 0.0 {
            break;
        }
        kept.push(character);
    }
    format!("{}…", kept.trim_end())
}

/// `text` on at most two lines.
pub(crate) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    if width(text, size) <= most {
        return vec![text.to_owned()];
    }
    let mut first = String::new();
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.peek() {
        let longer = if first.is_empty() { (*word).to_owned() } else { format!("{first} {word}") };
        if width(&longer, size) > most {
            break;
        }
        first = longer;
        words.next();
    }
    if first.is_empty() {
        return vec![clipped(text, size, most)];
    }
    let rest = words.collect::<Vec<_>>().join(" ");
    vec![first, clipped(&rest, size, most)]
}

/// Centres of labels moved into [low, high], or `None` where neighbours would come nearer than `gap`.
pub(crate) fn placed(labels: &[(f64, f64)], low: f64, high: f64, gap: f64) -> Option<Vec<f64>> {
    let mut centres = Vec::with_capacity(labels.len());
    let mut end = f64::NEG_INFINITY;
    for &(centre, width) in labels {
        let centre = centre.min(high - 0.5 * width).max(low + 0.5 * width);
        if centre - 0.5 * width < end {
            return None;
        }
        end = centre + 0.5 * width + gap;
        centres.push(centre);
    }
    Some(centres)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_clipped_or_wrapped() {
        assert_eq!(clipped("short", 14.0, 100.0), "short");
        let long = clipped(&"x".repeat(500), 14.0, 100.0);
        assert!(long.ends_with('…') && width(&long, 14.0) <= 100.0);
        let lines = wrapped("one two three four five six seven eight nine ten", 14.0, 120.0);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width(line, 14.0) <= 120.0), "{lines:?}");
        assert_eq!(wrapped(&"x".repeat(99), 14.0, 120.0).len(), 1);
    }

    #[test]
    fn labels_stay_inside_and_apart() {
        assert_eq!(placed(&[(0.0, 20.0), (100.0, 20.0)], 0.0, 100.0, 8.0), Some(vec![10.0, 90.0]));
        assert_eq!(placed(&[(0.0, 60.0), (100.0, 60.0)], 0.0, 100.0, 8.0), None);
    }
}
