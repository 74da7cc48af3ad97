//! Figures as PNG, where the feature `png` was asked for: drawing SVG takes longer to build than all the rest of the command.

use crate::failure::Result;

/// Whether this build can draw.
pub(crate) const AVAILABLE: bool = cfg!(feature = "png");

/// The picture, at twice the size for sharp screens; none without the feature.
#[cfg(not(feature = "png"))]
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn png(_svg: &str) -> Result<Option<Vec<u8>>> {
    Ok(None)
}

/// The picture, at twice the size for sharp screens; none without the feature.
#[cfg(feature = "png")]
pub(crate) fn png(svg: &str) -> Result<Option<Vec<u8>>> {
    use crate::failure::Failure;
    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::{Options, Tree};

    const SCALE: f32 = 2.0;
    let problem = |what: String| Failure::usage(format!("a figure cannot be drawn: {what}"), "");
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    // The charts ask for the system's own letters; whichever plain family is here stands for them.
    let plain = ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica", "Segoe UI"];
    let here = |name: &&str| fonts.faces().any(|face| face.families.iter().any(|family| family.0 == **name));
    match plain.iter().find(|name| here(name)) {
        Some(name) => fonts.set_sans_serif_family(*name),
        None if fonts.is_empty() => return Err(problem("there is no font on this machine".to_owned())),
        None => {}
    }
    let tree = Tree::from_str(svg, &options).map_err(|error| problem(error.to_string()))?;
    let size = tree.size();
    let (width, height) = ((SCALE * size.width()).ceil(), (SCALE * size.height()).ceil());
    let mut picture =
        Pixmap::new(width as u32, height as u32).ok_or_else(|| problem("no room".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    Ok(Some(picture.encode_png().map_err(|error| problem(error.to_string()))?))
}
