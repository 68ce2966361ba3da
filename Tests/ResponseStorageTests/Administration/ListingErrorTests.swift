import StorageSPI
import Testing

@testable import ResponseStorage

@Suite struct ListingErrorTests {
  @Test(arguments: [
    ("entry movies/1 cannot be read", true), ("entry movies/1: 3 bytes are missing", true), ("(movies/1)", true),
    ("'movies/1', stored in page 7, is damaged", true), ("what is wrong is movies/1", true),
    ("entry movies/10 cannot be read", false), ("entry xmovies/1 cannot be read", false),
    ("entry movies/1/page=2 cannot be read", false), ("movies/ 1", false), ("", false),
  ])
  func anErrorIsAboutTheKeyThatItNames(message: String, isAbout: Bool) throws {
    #expect(CacheError(.damaged, message).isAbout(try CacheKey("movies/1")) == isAbout)
  }

  /// A key may end with a character that also ends sentences.
  @Test(arguments: ["movies/a.", "movies/'a'", "movies/a:"])
  func punctuationIsPartOfAKey(key: String) throws {
    #expect(CacheError(.damaged, "entry \(key) cannot be read").isAbout(try CacheKey(key)))
    #expect(CacheError(.damaged, "entry \(key): too short").isAbout(try CacheKey(key)))
  }
}
