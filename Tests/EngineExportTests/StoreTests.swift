import CCachectlPlugin
import Dispatch
import EngineAPI
import Synchronization
import Testing

@Suite("A store through the table", .serialized) struct StoreTests {
  /// An engine whose reads are immediate, one whose reads need a task, and one whose calls go from thread to thread.
  /// As they are encoded.
  private static let attributes = #""\u{05}\0\0\0nàme\u{06}\0\0\0välue""#

  static let stores: [(manner: String, entries: Int64)] = [("atOnce", 1), ("atOnce", 7), ("waiting", 7)]

  @Test(arguments: stores) func keepsAnEntryWithAllThatIsKnownOfIt(_ manner: String, _ entries: Int64) throws {
    let store = try Store(["manner": manner], numbers: ["entries": entries])
    #expect(store.put("cities/v1/one", "bytes") == 0)
    let read = store.read("cities/v1/one")
    #expect(read.status == 0)
    #expect(read.texts == ["cities/v1/one = bytes, image/jpeg, 1 2 3000000 98 99, \(Self.attributes)"])
    #expect(store.read("cities/v1/two") == (0, []))
    #expect(store.close() == 0)
  }

  @Test(arguments: stores) func aReadReturnsTheResultOfTheCallback(_ manner: String, _ entries: Int64) throws {
    let store = try Store(["manner": manner], numbers: ["entries": entries])
    #expect(store.put("cities/v1/one", "") == 0)
    #expect(store.read("cities/v1/one", answer: 42).status == 42)
    #expect(store.close() == 0)
  }

  @Test(arguments: stores) func countsChanges(_ manner: String, _ entries: Int64) throws {
    let store = try Store(["manner": manner], numbers: ["entries": entries])
    var numbers: [UInt64] = [7, 7]
    #expect(store.table.change_count(store.handle, &numbers[0]) == 1)
    #expect(store.put("cities/v1/one", "bytes") == 0)
    #expect(store.table.change_count(store.handle, &numbers[1]) == 1)
    #expect(numbers == [0, 1] && store.close() == 0)
  }

  @Test func anUpdateKeepsThePayload() throws {
    let store = try Store()
    #expect(store.put("cities/v1/one", "bytes") == 0)
    func update(from expected: UInt64) -> Int32 {
      store.put("cities/v1/one", "", retainUntil: 4_000_000, kind: CACHECTL_UPDATE, expected: expected, checksum: 100)
    }
    #expect(update(from: 98) == CACHECTL_CONFLICT.rawValue && update(from: 99) == 0)
    #expect(
      store.read("cities/v1/one").texts == ["cities/v1/one = bytes, image/jpeg, 1 2 4000000 98 100, \(Self.attributes)"]
    )
    #expect(store.close() == 0)
  }

  @Test func aScanEndsWithTheCallback() throws {
    let store = try Store()
    for name in ["b", "a", "c"] { #expect(store.put("cities/v1/\(name)", "123") == 0) }
    let all = store.scan(prefix: "cities/", limit: 2)
    #expect(all.status == 0)
    #expect(all.texts.map { $0.prefix(21) } == ["cities/v1/a = 3 bytes", "cities/v1/b = 3 bytes", "cities/v1/b"])
    let backwards = store.scan(prefix: "cities/", limit: 2, isDescending: true)
    #expect(backwards.texts.map { $0.prefix(21) } == ["cities/v1/c = 3 bytes", "cities/v1/b = 3 bytes", "cities/v1/b"])
    let rest = store.scan(prefix: "cities/", after: "cities/v1/b", limit: 2, hasPayloads: true)
    #expect(rest.texts.map { $0.prefix(17) } == ["cities/v1/c = 123"])
    let stopped = store.scan(prefix: "", limit: .max, answer: 42)
    #expect(stopped.status == 42 && stopped.texts.count == 1)
    #expect(store.close() == 0)
  }

  @Test func operationsAreMadeInOrder() throws {
    let store = try Store()
    #expect(store.put("cities/v1/one", "bytes") == 0)
    let status = store.apply(
      "cities/v1/one",
      [
        (CACHECTL_REQUIRE_CHECKSUM.rawValue, 99), (CACHECTL_REMOVE.rawValue, 0), (CACHECTL_REQUIRE_ABSENT.rawValue, 0),
      ])
    #expect(status == 0 && store.read("cities/v1/one").texts.isEmpty)
    #expect(store.close() == 0)
  }

  @Test func aBatchIsJudged() throws {
    let (store, failure) = (try Store(), Failure())
    let key = "cities/v1/one"
    #expect(store.put(key, "bytes") == 0)
    #expect(store.apply(key, [(CACHECTL_REQUIRE_ABSENT.rawValue, 0)]) == CACHECTL_CONFLICT.rawValue)
    #expect(store.apply(key, [(CACHECTL_REQUIRE_CHECKSUM.rawValue, 98)]) == CACHECTL_CONFLICT.rawValue)
    #expect(store.apply([], maxEntries: 0) == CACHECTL_OVER_BOUNDS.rawValue)
    #expect(store.apply(key, [(5, 0)], failure) == CACHECTL_UNSUPPORTED.rawValue)
    #expect(failure.message == "operations of kind 5 are unknown to this version")
    #expect(store.close() == 0)
  }

  @Test func compactsByTheHostsClock() throws {
    let store = try Store(["manner": "waiting"])
    #expect(store.put("cities/v1/gone", "", retainUntil: 1_000_000) == 0)
    #expect(store.put("cities/v1/kept", "", retainUntil: 1_000_001) == 0)
    #expect(store.table.compact(store.handle, nil) == 0)
    #expect(store.read("cities/v1/gone").texts.isEmpty && store.read("cities/v1/kept").texts.count == 1)
    #expect(store.close() == 0)
  }

  @Test func aStoreReportsItsContent() throws {
    let (store, gathered) = (try Store(), Gathered())
    for name in ["a", "b"] { #expect(store.put("cities/v1/\(name)", "1234", retainUntil: 9 << 20) == 0) }
    var bytes: UInt64 = 0
    gathered.lend { context in
      #expect(store.table.count(store.handle, describeCount, context, &bytes, nil) == 0)
    }
    #expect(bytes == 77 && gathered.texts == ["cities 2 8 9437184"])
    let failure = Failure()
    #expect(store.table.check(store.handle, failure.pointer) == CACHECTL_DAMAGED.rawValue)
    #expect(failure.message == "crooked")
    #expect(store.close() == 0)
  }

  @Test func moreCallsWaitThanThereAreProcessors() throws {
    let store = try Store(["manner": "waiting"], numbers: ["entries": 7])
    let failures = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 200) { number in
      let key = "cities/v1/\(number)"
      if store.put(key, "x") != 0 || store.read(key).texts.count != 1 { failures.add(1, ordering: .relaxed) }
    }
    #expect(failures.load(ordering: .relaxed) == 0 && store.close() == 0)
  }
}

private let describeCount: cachectl_visit_count = { context, count in
  guard let count = count?.pointee else { return 1 }
  let numbers = "\(count.entries) \(count.payload_bytes) \(count.earliest_expiry)"
  Gathered.of(context)?.texts.append("\(count.name_space.text) \(numbers)")
  return 0
}
