import CacheData
import CacheDomain
import CacheCore
import Testing

@testable import SampleOrigin

struct PosterOriginTests {
  @Test(arguments: ["/24871.png", "/2357448.png"], PosterQuery.widths)
  func aPosterIsTheSamePictureInEveryWidth(path: String, width: Int) async throws {
    let poster = try await SamplePosterOrigin().response(to: posterRequest(path, width: width))
    #expect(poster.contentType == "image/png")
    #expect(poster.bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
    #expect(poster.bytes.suffix(8).starts(with: Array("IEND".utf8)))
    #expect(try await SamplePosterOrigin().response(to: posterRequest(path, width: 92)) == poster)
  }

  @Test func moviesShareThreePictures() async throws {
    var seen: Set<[UInt8]> = []
    for movie in try await movies("hamlet").movies {
      let path = try #require(movie.posterPath)
      seen.insert(try await SamplePosterOrigin().response(to: posterRequest(path)).bytes)
    }
    #expect(seen.count == 3)
  }

  @Test(arguments: ["/0.png", "/.png", "/24871", "/24871.jpg", "/../24871.png", "/٣.png", "/24871\t.png", "/"])
  func anUnknownPathIsNotFound(path: String) async throws {
    let error = await #expect(throws: CacheError.self) {
      try await SamplePosterOrigin().response(to: posterRequest(path))
    }
    #expect(error?.code == .notFound)
    #expect(error?.message == "the sample has no poster \(path)")
    #expect(error?.hint.isEmpty == false)
  }
}
