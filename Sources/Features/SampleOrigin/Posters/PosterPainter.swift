internal import Base
internal import FetchVocabulary

/// Draws posters: artwork above, title and year on a dark panel below. The movie's identifier determines pattern and
/// colours.
enum PosterPainter {
  /// The poster of `record`, `width` pixels wide and half as high again.
  ///
  /// - Throws: `CacheError`: `cancelled`.
  static func paint(_ record: MovieRecord, width: Int) throws(CacheError) -> IndexedImage {
    var random = SeededGenerator(seed: UInt64(record.id) ?? 0)
    let palette = PosterPalette(&random)
    let layout = PosterLayout(title: PosterFont.writable(record.title))
    var image = IndexedImage(width: width, height: (3 * width + 1) / 2, palette: palette.colors)

    let scale = Double(width) / PosterLayout.width
    let pattern = PosterPattern.random(&random, height: layout.panelTop / PosterLayout.width)
    try paintArtwork(pattern, rows: Int((layout.panelTop * scale).rounded()), on: &image)
    paintWriting(layout, footer: record.year, scale: scale, on: &image)
    return image
  }

  private static func paintArtwork(
    _ pattern: PosterPattern, rows: Int, on image: inout IndexedImage
  ) throws(CacheError) {
    let pixel = 1 / Double(image.width)
    let height = Double(rows) * pixel
    for row in 0..<rows {
      if Task.isCancelled { throw .cancelled }
      let y = (Double(row) + 0.5) * pixel
      let ground = PosterPalette.ground(y / height)
      for column in 0..<image.width {
        let x = (Double(column) + 0.5) * pixel
        let strength = pattern.strength(x, y, height: height, pixel: pixel)
        image.pixels[row * image.width + column] = ground + PosterPalette.figure(strength)
      }
    }
  }

  private static func paintWriting(_ layout: PosterLayout, footer: String, scale: Double, on image: inout IndexedImage)
  {
    let left = PosterLayout.margin * scale
    for (index, line) in layout.lines.enumerated() {
      let top = (layout.titleTop + Double(index) * layout.lineHeight) * scale
      PosterWriting(left: left, top: top, dot: layout.size * scale).write(line, on: &image, PosterPalette.ink)
    }
    let footerWriting = PosterWriting(
      left: left, top: layout.footerTop * scale, dot: PosterLayout.footerSize * scale)
    footerWriting.write(footer, on: &image, PosterPalette.accent)
  }
}
