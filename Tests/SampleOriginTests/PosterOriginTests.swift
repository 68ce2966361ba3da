import CacheData
import CachedFetching
import CacheDomain
import Testing

@testable import SampleOrigin

struct PosterOriginTests {
  /// A short title, a long one, one with letters beyond ASCII and one with a character that the font lacks.
  private static let ids = ["24871", "2357448", "484048", "2035143"]

  private static let heights = [92: 138, 154: 231, 185: 278, 342: 513, 500: 750, 780: 1_170]

  @Test(arguments: ids, PosterQuery.widths)
  func aPosterIsAValidImageOfTheWidthAskedFor(id: String, width: Int) async throws {
    let request = posterRequest("/\(id).png", width: width)
    let poster = try await SamplePosterOrigin().response(to: request)
    #expect(poster.contentType == "image/png")
    let file = try PNGFile(poster.bytes)
    #expect(file.width == width)
    #expect(file.height == Self.heights[width])
    #expect(Set(file.pixels).count > 20)
    #expect(try await SamplePosterOrigin().response(to: request) == poster)
  }

  @Test func everyMovieHasAPosterOfItsOwn() async throws {
    var seen: Set<[UInt8]> = []
    let found = try await movies("hamlet").movies
    for movie in found {
      let path = try #require(movie.posterPath)
      seen.insert(try await SamplePosterOrigin().response(to: posterRequest(path, width: 92)).bytes)
    }
    #expect(seen.count == found.count)
  }

  @Test(arguments: ["/0.png", "/.png", "/24871", "/24871.jpg", "/../24871.png", "/٣.png", "/24871\t.png", "/"])
  func anUnknownPathIsNotFound(path: String) async throws {
    try await isUnknown(path)
  }

  private func isUnknown(_ path: String) async throws {
    let error = await #expect(throws: CacheError.self) {
      try await SamplePosterOrigin().response(to: posterRequest(path))
    }
    #expect(error?.code == .notFound)
    #expect(error?.message == "the sample has no poster \(path)")
    #expect(error?.hint.isEmpty == false)
  }

  /// Every title fits between the artwork and the lower edge, and no line is too wide.
  @Test func everyTitleHasRoom() throws {
    for row in try RawData.movies() {
      let layout = PosterLayout(title: PosterFont.writable(row[2]))
      let widest = layout.lines.map(\.count).max() ?? 0
      #expect(Double(widest * 6 - 1) * layout.size <= PosterLayout.width - 2 * PosterLayout.margin, "\(row[2])")
      #expect(layout.panelTop >= PosterLayout.height * 0.25, "\(row[2])")
      #expect(!layout.lines.isEmpty, "\(row[2])")
    }
  }

  @Test(arguments: [
    ("Amélie", "AMELIE"), ("Star Wars – V", "STAR WARS - V"), ("Ocean’s", "OCEAN'S"), ("Æon", "AEON"), ("8½", "8 1/2"),
    ("千", "千"),
  ])
  func titlesAreWrittenInTheLettersOfTheFont(title: String, written: String) {
    #expect(PosterFont.writable(title) == written)
  }

  @Test func glyphsAreFiveDotsWideAndDiffer() {
    var glyphs: Set<UInt64> = []
    for code in UInt8(0x20)...0x7E where !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(code) {
      let glyph = PosterFont.glyph(Character(Unicode.Scalar(code)))
      #expect(glyph & ~0x1F_1F_1F_1F_1F_1F_1F == 0, "\(code)")
      #expect(glyphs.insert(glyph).inserted, "\(code)")
    }
    #expect(!glyphs.contains(PosterFont.glyph("千")))
    #expect(PosterFont.glyph("千") == PosterFont.glyph("é"))
  }
}
