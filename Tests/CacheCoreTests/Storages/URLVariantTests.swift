import FetchVocabulary
import MemoryStorage
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore
@testable import HTTPCaching

/// The responses for one URL: the cost of a lookup, and the result if their signpost, or one of them, was removed.
struct URLVariantTests {
  private static let url = "http://a.example/x"

  private let test: TestStore
  private let responses: URLResponses

  init() async throws {
    test = try await TestStore()
    responses = URLResponses(store: test.store)
  }

  private func head(
    _ language: String?, vary: String = "Accept-Language", kept: Duration = .seconds(300)
  ) throws -> StoredHead {
    var head = test.head(language, kept: kept)
    head.head.fields["Vary"] = language == nil ? nil : vary
    head.selector = try #require(
      VariantSelector(response: head.head.fields, request: request(language), key: .ofProcess))
    return head
  }

  private func request(_ language: String?) -> HTTP.Request {
    HTTP.Request(url: Self.url, fields: language.map { ["Accept-Language": $0] } ?? [:])
  }

  private func selection(_ language: String?) -> URLResponses.Selection {
    let rules = HTTPCacheRules(
      freshness: FreshnessPolicy(timeToLive: .zero, staleIfError: .zero, staleWhileRevalidate: .zero))
    return { [request = request(language)] in rules.selected($0, by: request) }
  }

  @discardableResult private func store(
    _ language: String?, _ body: String? = nil, in store: EntryStore? = nil,
    confirming: StoredResponse<HTTP.Response>? = nil, kept: Duration = .seconds(300)
  ) async throws -> String {
    try await (store.map { URLResponses(store: $0) } ?? responses).store(
      Array((body ?? language ?? "").utf8), head: head(language, kept: kept), for: Self.url, confirming: confirming,
      where: selection(language))
  }

  private func body(_ language: String?, in store: EntryStore? = nil) async throws -> String? {
    let responses = store.map { URLResponses(store: $0) } ?? responses
    let found = try await responses.latest(of: Self.url, where: selection(language)).response
    return found.map { String(decoding: $0.response.body, as: UTF8.self) }
  }

  private func entries(_ isWanted: (ScannedEntry) -> Bool = { _ in true }) async throws -> [ScannedEntry] {
    try await test.engine.base.scan(ScanRequest()).entries.filter(isWanted)
  }

  private func remove(_ key: String) async throws {
    try await test.engine.base.remove(try CacheKey(key))
  }

  /// Neither a hit nor a miss scans: an engine that is not ordered would go through all that it has.
  @Test func aLookupTakesOneReadAndOfSeveralResponsesTwo() async throws {
    func reads(_ language: String?, _ expected: String?) async throws -> Int {
      let before = test.engine.reads
      #expect(try await body(language) == expected)
      return test.engine.reads - before
    }
    #expect(try await reads(nil, nil) == 1)
    try await store("de")
    #expect(try await reads("de", "de") == 1)
    #expect(try await reads("fr", nil) == 1)
    for language in ["fr", "en"] { try await store(language) }
    for language in ["de", "fr", "en"] { #expect(try await reads(language, language) == 2) }
    #expect(try await reads("it", nil) == 1)
    for language in ["de", "fr"] { try await store(language, "new") }
    try await responses.invalidate([Self.url])
    #expect(test.engine.requests.allSatisfy { $0.prefix == "leases/" })
    #expect(try await entries().isEmpty)
  }

  @Test func theOnlyResponseIsUnderTheKeyOfTheURL() async throws {
    let key = try await store("de")
    #expect(key == "url/v1/url=http%3A%2F%2Fa.example%2Fx,variant=any")
    #expect(try await store("de", "new") == key)
    #expect(try await entries().map(\.key.text) == [key])
    // With a second one, both have separate keys.
    let french = try await store("fr")
    let keys = try await entries().map(\.key)
    #expect(keys.count == 3 && keys.map(\.text).contains(french) && french != key)
    #expect(Set(keys.map { String(Substring($0.group)) }).count == 1)
    #expect(try await entries(\.metadata.isSignpost).map(\.key.text) == [key])
    let languages = ["de", "fr"]
    for language in languages { #expect(try await body(language) == (language == "de" ? "new" : language)) }
  }

  /// A response without credentials next to one with them.
  @Test func aResponseThatDoesNotVaryHasAPlaceAmongOthers() async throws {
    try await store(nil, "plain")
    var head = test.head()
    head.selector = VariantSelector(names: [], digest: "0a1b")
    let party = head.selector
    let key = try await responses.store([1], head: head, for: Self.url) { $0.filter { $0 == party } }
    #expect(try await body(nil) == "plain" && key.hasSuffix(",variant=0a1b"))
    #expect(try await store(nil, "new").hasSuffix(",variant=plain"))
    #expect(try await body(nil) == "new")
    #expect(try await responses.latest(of: Self.url) { $0.filter { $0 == party } }.response?.response.body == [1])
  }

  /// The signpost was evicted, or a response.
  @Test(arguments: [0, 1, 2]) func missingVariantsAreStoredAgain(missing: Int) async throws {
    for language in ["de", "fr"] { try await store(language) }
    let keys = try await entries().sorted {
      ($0.metadata.isSignpost ? 0 : 1, $0.key) < ($1.metadata.isSignpost ? 0 : 1, $1.key)
    }
    try await remove(keys[missing].key.text)
    for language in ["de", "fr", "de"] {
      if try await body(language) == nil { try await store(language, "new") }
      #expect(try await body(language) != nil)
    }
    #expect(try await entries().count == 3)
    try await responses.invalidate([Self.url])
    for language in ["de", "fr"] { #expect(try await body(language) == nil) }
    #expect(try await entries().isEmpty)
  }

  /// An invalidation does not know the responses of a removed signpost: they must not be found again.
  @Test func aResponseThatNoSignpostListsIsNotFoundAgain() async throws {
    for language in ["de", "fr"] { try await store(language) }
    try await remove(try URLResponses.key(of: Self.url).text)
    try await responses.invalidate([Self.url])
    for language in ["it", "en"] { try await store(language) }
    for language in ["de", "fr"] { #expect(try await body(language) == nil) }
    try await store("de", "new")
    #expect(try await body("de") == "new")
  }

  @Test func atMostSoManyResponsesAreKept() async throws {
    let count = URLResponses.maximumVariants + 3
    for number in 0..<count { try await store("l\(number)") }
    #expect(try await entries().count == URLResponses.maximumVariants + 1)
    for number in 0..<count { #expect(try await body("l\(number)") == (number < 3 ? nil : "l\(number)")) }
  }

  /// Several processes add responses at the same time: none is lost.
  @Test func writersThatAddAtTheSameTimeLoseNothing() async throws {
    let languages = (0..<40).map { "l\($0)" }
    try await withThrowingTaskGroup { group in
      for language in languages {
        let store = EntryStore(engine: test.engine, clock: test.clock)
        group.addTask { try await self.store(language, in: store) }
      }
      try await group.waitForAll()
    }
    for language in languages { #expect(try await body(language) == language) }
  }

  @Test(arguments: ["moves", "adds"]) func anotherWriterIsFaster(what: String) async throws {
    try await store("de")
    if what == "adds" { try await store("fr") }
    let other = EntryStore(engine: test.engine.base, clock: test.clock)
    let first = test.engine.batches.count + 1
    test.engine.beforeBatches { [engine = test.engine] _ throws(CacheError) in
      guard engine.batches.count == first else { return }
      do { try await store("it", in: other) } catch { throw error as? CacheError ?? CacheError(.failed, "\(error)") }
    }
    try await store("en")
    for language in ["de", "it", "en"] { #expect(try await body(language) == language) }
  }

  /// A confirmation renews one response; the signpost is written again only if it would not be kept for as long.
  @Test func aConfirmedResponseOutlivesTheSignpostOfBefore() async throws {
    for language in ["de", "fr"] { try await store(language) }
    var puts: [Int] = []
    for _ in 0..<10 {
      test.clock.advance(by: .seconds(200))
      let found = try #require(try await responses.latest(of: Self.url, where: selection("de")).response)
      let before = test.engine.batches.count
      try await store("de", confirming: found)
      puts.append(
        test.engine.batches[before...].flatMap(\.operations).count { if case .put = $0 { true } else { false } })
    }
    #expect(try await body("de") == "de")
    #expect(try await body("fr") == nil)
    #expect(puts.allSatisfy { $0 <= 1 } && puts.count { $0 == 0 } >= 5, "\(puts)")
  }

  @Test func aConfirmationOfAResponseThatHasMovedIsAConflict() async throws {
    try await store("de")
    let found = try await responses.latest(of: Self.url, where: selection("de")).response
    try await store("fr")
    await #expect { try await store("de", "x", confirming: found) } throws: { ($0 as? CacheError)?.code == .conflict }
    #expect(try await body("de") == "de")
  }

  /// In a store with room for one entry or two, the last response is kept.
  @Test(arguments: 1...4) func theLimitsHold(maxEntries: Int) async throws {
    let store = EntryStore(
      engine: test.engine, clock: test.clock, limits: StoreLimits(maxEntries: maxEntries, maxBytes: 100))
    for language in ["de", "fr", "en", "de", "it"] {
      test.clock.advance(by: .seconds(1))
      try await self.store(language, in: store)
      #expect(try await entries().count <= maxEntries)
      #expect(try await body(language, in: store) == language)
    }
  }

  /// An eviction by use removes the signpost of a used response last.
  @Test func aHitIsAUseOfTheSignpostToo() async throws {
    for language in ["de", "fr"] { try await store(language) }
    let key = try await store("de")
    responses.countLookUp(key, of: Self.url)
    let uses = try test.store.uses.histories(of: [try CacheKey(key), try URLResponses.key(of: Self.url)])
    #expect(uses.map(\.count) == [1, 1] && test.store.uses.counts.hits == 1)
    responses.countLookUp(nil, of: Self.url)
    #expect(test.store.uses.counts.misses == 1)
  }

  @Test func responsesAreExportedAndVerifiedWithTheirSignpost() async throws {
    for language in ["de", "fr"] { try await store(language) }
    let destination = try await TestStore()
    let report = try await test.store.migrate(to: destination.store, TransferOptions()) { _, _, _ in }
    #expect(report.written == 3 && report.verified == 3)
    for language in ["de", "fr"] { #expect(try await body(language, in: destination.store) == language) }
    #expect(try await StoreAdministration(destination.store).verify().issues.isEmpty)
    let prefix = URLResponses.keyPrefix(of: Self.url)
    let selection = EntrySelection(prefix: prefix)
    _ = try await StoreAdministration(destination.store).change(.makeStale, selection, dryRun: false)
    let found = try await URLResponses(store: destination.store).latest(of: Self.url, where: self.selection("de"))
      .response
    #expect(found?.head.freshUntil == destination.clock.now.sinceEpoch)
    _ = try await StoreAdministration(destination.store).change(.remove, selection, dryRun: false)
    #expect(try await destination.engine.count().total().entries == 0)
  }

  /// A signpost that cannot be read hides the others, and is replaced.
  @Test func aDamagedSignpostIsReplaced() async throws {
    for language in ["de", "fr"] { try await store(language) }
    let key = try URLResponses.key(of: Self.url)
    let signpost = try #require(try await entries { $0.key == key }.first)
    var (metadata, batch) = (signpost.metadata, WriteBatch())
    metadata.attributes[":variants"] = "0"
    batch.put(key, payload: [], metadata: metadata)
    try await test.engine.base.apply(batch)
    let error = await #expect(throws: CacheError.self) { try await body("de") }
    #expect(error?.code == .damaged && error?.message.contains("entry \(Self.url) is damaged") == true)
    try await store("de", "new")
    #expect(try await body("de") == "new")
    #expect(try await body("fr") == nil)
  }
}
