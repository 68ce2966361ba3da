import TestStorage
import CacheCore
import EngineAPI
import EngineConformance
import FetchVocabulary
import SeededNumbers
import Testing

struct ListingTests {
  /// Everything that a selection lists, page by page.
  private func pages(_ store: GeneratedStore, _ selection: EntrySelection, limit: Int) async throws -> [[ScannedEntry]]
  {
    var (pages, cursor) = ([[ScannedEntry]](), String?.none)
    repeat {
      let listing = try await store.administration.list(selection, after: cursor, limit: limit)
      #expect(listing.readAt == store.test.clock.now)
      #expect(listing.cursor == nil || listing.cursor == listing.entries.last?.key.text)
      pages.append(listing.entries)
      cursor = listing.cursor
    } while cursor != nil
    return pages
  }

  @Test(arguments: Thoroughness.seeds(1, of: 2))
  func everySelectionListsTheSameAsTheModel(seed: UInt64) async throws {
    let store = try await GeneratedStore(seed: seed)
    for selection in GeneratedStore.selections + GeneratedStore.patterns {
      let listing = try await store.administration.list(selection, after: nil, limit: GeneratedStore.count)
      #expect(listing.entries == store.expected(selection), "seed \(seed), \(selection)")
      #expect(listing.cursor == nil, "seed \(seed), \(selection)")
    }
  }

  @Test(arguments: [7, 100, 999, 1_000, 1_001, 2_599, 2_600, 2_601])
  func pagesFollowEachOtherWithoutGapOrOverlap(limit: Int) async throws {
    let store = try await GeneratedStore(seed: 3)
    let selections = [
      EntrySelection(), EntrySelection(namespace: "movies"), EntrySelection(state: .stale),
      EntrySelection(prefix: "movies/v1", state: .fresh, minimumAge: .seconds(3)), EntrySelection(namespace: "none"),
    ]
    for selection in selections {
      let (found, expected) = (try await pages(store, selection, limit: limit), store.expected(selection))
      #expect(found.flatMap(\.self) == expected, "seed 3, \(selection)")
      #expect(found.count == max(1, (expected.count + limit - 1) / limit), "seed 3, \(selection)")
      #expect(found.dropLast().allSatisfy { $0.count == limit })
    }
  }

  @Test(arguments: EntryOrder.allCases, [1, 10, 2_599, 2_600, .max])
  func entriesAreListedInAnyOrder(order: EntryOrder, limit: Int) async throws {
    let store = try await GeneratedStore(seed: 8)
    for (index, entry) in store.model.enumerated() where index % 3 == 0 {
      store.test.clock.advance(by: .milliseconds(1))
      store.test.store.countLookUp(entry.key)
    }
    let uses = try store.test.store.uses.histories(of: store.model.map(\.key))
    let rank: (Int, ScannedEntry) -> Int64 = { index, entry in
      switch order {
      case .key: 0
      case .size: Int64(entry.payloadBytes)
      case .stored: entry.metadata.storedAt.milliseconds
      case .used: uses[index].lastUsedAt.milliseconds
      }
    }
    let ranked = store.model.enumerated().map { (rank: rank($0, $1), key: $1.key) }
    let expected = ranked.sorted { ($1.rank, $0.key) < ($0.rank, $1.key) }.map(\.key)
    let listing = try await store.administration.list(EntrySelection(), by: order, limit: limit)
    #expect(listing.entries.map(\.key) == Array(expected.prefix(limit)))
    #expect(listing.cursor == nil && listing.readAt == store.test.clock.now)
  }

  @Test(arguments: ["a/0", "movies/v1/", "movies/zzz", "zzz/0"]) func anyKeyIsACursor(text: String) async throws {
    let store = try await GeneratedStore(seed: 6)
    let cursor = try CacheKey(text)
    for selection in [EntrySelection(), EntrySelection(namespace: "movies", state: .expired)] {
      let listing = try await store.administration.list(selection, after: text, limit: 5_000)
      #expect(listing.entries == store.expected(selection).filter { $0.key > cursor }, "seed 6, \(selection)")
    }
  }

  @Test func aTaskThatIsCancelledStopsListing() async throws {
    let store = try await GeneratedStore(seed: 7, count: 3)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await errorCode { _ = try await store.administration.list(EntrySelection(), after: nil, limit: 1) }
    }
    #expect(await task.value == .cancelled)
  }
}

struct StreamedListingTests {
  @Test(arguments: [1, 999, 1_000, 1_001, 2_600, .max])
  func aStreamedListingEqualsTheSelectionOfTheModel(limit: Int) async throws {
    let store = try await GeneratedStore(seed: 31)
    for selection in [
      EntrySelection(), EntrySelection(namespace: "movies", state: .stale), EntrySelection(prefix: "z"),
    ] {
      var pages: [[ScannedEntry]] = []
      let cursor = try await store.administration.list(selection, after: nil, limit: limit) { page, readAt in
        #expect(readAt == store.test.clock.now)
        pages.append(page)
      }
      let expected = store.expected(selection)
      #expect(pages.flatMap(\.self) == Array(expected.prefix(limit)), "seed 31, \(selection)")
      #expect(cursor == (limit < expected.count ? pages.last?.last?.key.text : nil), "seed 31, \(selection)")
      #expect(pages.allSatisfy { !$0.isEmpty && $0.count <= 1_000 }, "memory holds one page")
    }
  }

  @Test func aReaderThatFailsEndsTheListing() async throws {
    let store = try await GeneratedStore(seed: 32)
    var pages = 0
    let code = await errorCode {
      _ = try await store.administration.list(EntrySelection(), after: nil, limit: .max) { _, _ throws(CacheError) in
        pages += 1
        throw CacheError(.invalidAnswer, "the output is closed")
      }
    }
    #expect(code == .invalidAnswer && pages == 1)
  }
}
