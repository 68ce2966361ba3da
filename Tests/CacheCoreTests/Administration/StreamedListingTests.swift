import FetchVocabulary
import CacheCore
import EngineConformance
import EngineAPI
import Testing

struct StreamedListingTests {
  @Test(arguments: [1, 999, 1_000, 1_001, 2_600, .max])
  func pagesAreWhatIsListedAtOnce(limit: Int) async throws {
    let store = try await GeneratedStore(seed: 31)
    for selection in [
      EntrySelection(), EntrySelection(namespace: "movies", state: .stale), EntrySelection(prefix: "z"),
    ] {
      let whole = try await store.administration.list(selection, after: nil, limit: limit)
      var pages: [[ScannedEntry]] = []
      let cursor = try await store.administration.list(selection, after: nil, limit: limit) { page, readAt in
        #expect(readAt == store.test.clock.now)
        pages.append(page)
      }
      #expect(pages.flatMap(\.self) == whole.entries && cursor == whole.cursor, "seed 31, \(selection)")
      #expect(pages.allSatisfy { !$0.isEmpty && $0.count <= 1_000 }, "memory holds one page")
    }
  }

  @Test func aReaderThatFailsEndsTheListing() async throws {
    let store = try await GeneratedStore(seed: 32)
    var pages = 0
    let code = await errorCode { () async throws(CacheError) in
      _ = try await store.administration.list(EntrySelection(), after: nil, limit: .max) {
        _, _ throws(CacheError) in
        pages += 1
        throw CacheError(.invalidAnswer, "the output is closed")
      }
    }
    #expect(code == .invalidAnswer && pages == 1)
  }
}
