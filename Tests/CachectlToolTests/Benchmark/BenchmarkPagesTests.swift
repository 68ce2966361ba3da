import EngineBenchmark
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// The records of the workload `typed`.
struct BenchmarkPagesTests {
  @Test func moviesAreReadAsTheyWereWritten() async throws {
    let payload = try await MoviePages.payload()
    for number in [0, 1, MoviePages.count - 1, MoviePages.count, 1_000_003] {
      let bytes = try payload.encode(number)
      #expect(bytes.count > 2_000)
      #expect(try payload.isRight(number, bytes.span))
      #expect(try payload.encode(number) == bytes)
    }
    let other = try payload.encode(1)
    #expect(try !payload.isRight(0, other.span))
    let cut = Array(other.dropLast())
    #expect(throws: CacheError.self) { try payload.isRight(1, cut.span) }
  }
}
