import CCachectlPlugin
import Dispatch
import StorageSPI
import Synchronization
import Testing

@Suite("A store through the table", .serialized) struct StoreTests {
  /// An engine whose reads are immediate, one whose reads need a task, and one whose calls go from thread to thread.
  static let stores: [(manner: String, entries: Int64)] = [("atOnce", 1), ("atOnce", 7), ("waiting", 7)]

  @Test(arguments: stores) func keepsAnEntryWithAllThatIsKnownOfIt(_ manner: String, _ entries: Int64) throws {
    let store = try Store(["manner": manner], numbers: ["entries": entries])
    #expect(store.put("cities/v1/one", "bytes") == 0)
    let read = store.read("cities/v1/one")
    #expect(read.status == 0)
    #expect(read.texts == ["cities/v1/one = bytes, image/jpeg, 1 2 3000000 99, nàme: välue"])
    #expect(store.read("cities/v1/two") == (0, []))
    #expect(store.close() == 0)
  }

  @Test(arguments: stores) func aReadReturnsWhatTheCallbackDoes(_ manner: String, _ entries: Int64) throws {
    let store = try Store(["manner": manner], numbers: ["entries": entries])
    #expect(store.put("cities/v1/one", "") == 0)
    #expect(store.read("cities/v1/one", answer: 42).status == 42)
    #expect(store.close() == 0)
  }

  @Test func aCallIsCancelledWithItsCaller() throws {
    let store = try Store(["manner": "endless"], numbers: ["entries": 7], isCancelled: { _ in 1 })
    #expect(store.read("cities/v1/one").status == CACHECTL_CANCELLED.rawValue)
    #expect(store.put("cities/v1/one", "bytes") == CACHECTL_CANCELLED.rawValue)
    #expect(store.close() == 0)
  }

  @Test func severalEntriesAreReadInOneCall() throws {
    let store = try Store(numbers: ["entries": 7])
    for name in ["a", "b", "c"] { #expect(store.put("cities/v1/\(name)", name) == 0) }
    let found = store.read(["cities/v1/c", "cities/v1/none", "cities/v1/a"])
    #expect(found == (0, ["0: cities/v1/c = c", "2: cities/v1/a = a"]))
    #expect(store.read(["cities/v1/c", "cities/v1/a"], answer: 42) == (42, ["0: cities/v1/c = c"]))
    #expect(store.read([]) == (0, []))
    #expect(store.close() == 0)
  }

  @Test func saysWhatIsKnownOfOthersChanges() throws {
    let (store, other) = (try Store(), try Store(numbers: ["entries": 7]))
    #expect(store.changeMark("cities/v1/one") == [1, 13, 5])
    for key in ["cities/v1/none", ""] { #expect(store.changeMark(key) == [0, 0, 0]) }
    for key in ["cities/v1/one", ""] { #expect(other.changeMark(key) == [-1, 0, 0]) }
    #expect(store.close() == 0 && other.close() == 0)
  }

  @Test func aScanEndsWithTheCallback() throws {
    let store = try Store()
    for name in ["b", "a", "c"] { #expect(store.put("cities/v1/\(name)", "123") == 0) }
    let all = store.scan(prefix: "cities/", limit: 2)
    #expect(all.status == 0)
    #expect(all.texts.map { $0.prefix(21) } == ["cities/v1/a = 3 bytes", "cities/v1/b = 3 bytes"])
    let backwards = store.scan(prefix: "cities/", limit: 2, isDescending: true)
    #expect(backwards.texts.map { $0.prefix(21) } == ["cities/v1/c = 3 bytes", "cities/v1/b = 3 bytes"])
    let stopped = store.scan(prefix: "", limit: .max, answer: 42)
    #expect(stopped.status == 42 && stopped.texts.count == 1)
    #expect(store.close() == 0)
  }

  @Test(arguments: [0, 8, 64]) func operationsMayBeLongerThanTheyAreHere(_ extra: Int) throws {
    let store = try Store()
    #expect(store.put("cities/v1/one", "bytes", stride: extra) == 0)
    let status = "cities/v1/one".lent { key in
      store.apply(
        [
          (CACHECTL_REQUIRE_CHECKSUM.rawValue, key, cachectl_bytes(), cachectl_metadata(checksum: 99)),
          (CACHECTL_REMOVE.rawValue, key, cachectl_bytes(), cachectl_metadata()),
          (CACHECTL_REQUIRE_ABSENT.rawValue, key, cachectl_bytes(), cachectl_metadata()),
        ], stride: extra)
    }
    #expect(status == 0 && store.read("cities/v1/one").texts.isEmpty)
    #expect(store.close() == 0)
  }

  @Test func aBatchIsJudged() throws {
    let (store, failure) = (try Store(), Failure())
    #expect(store.put("cities/v1/one", "bytes") == 0)
    try "cities/v1/one".lent { key in
      let none = (cachectl_bytes(), cachectl_metadata())
      #expect(store.apply([(CACHECTL_REQUIRE_ABSENT.rawValue, key, none.0, none.1)]) == CACHECTL_CONFLICT.rawValue)
      #expect(store.apply([], maxEntries: 0) == CACHECTL_OVER_BOUNDS.rawValue)
      #expect(store.apply([(4, key, none.0, none.1)], failure) == CACHECTL_UNSUPPORTED.rawValue)
      try #require(failure.message == "operations of kind 4 are unknown to this version")
    }
    #expect(store.close() == 0)
  }

  @Test func compactsByTheHostsClock() throws {
    let store = try Store(["manner": "waiting"])
    #expect(store.put("cities/v1/gone", "", retainUntil: 1_000_000) == 0)
    #expect(store.put("cities/v1/kept", "", retainUntil: 1_000_001) == 0)
    #expect(store.table.compact(store.handle, nil) == 0)
    store.table.release_memory(store.handle)
    #expect(store.read("cities/v1/gone").texts.isEmpty && store.read("cities/v1/kept").texts.count == 1)
    #expect(store.close() == 0)
  }

  @Test func tellsWhatThereIs() throws {
    let (store, gathered) = (try Store(), Gathered())
    for name in ["a", "b"] { #expect(store.put("cities/v1/\(name)", "1234", retainUntil: 9 << 20) == 0) }
    var bytes: UInt64 = 0
    gathered.lend { context in
      #expect(store.table.statistics(store.handle, describeSlot, context, &bytes, nil) == 0)
      #expect(store.table.check_integrity(store.handle, describeIssue, context, nil) == 0)
    }
    #expect(bytes == 77 && gathered.texts == ["cities 0 9 2 8", " structure crooked"])
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

private let describeSlot: cachectl_visit_slot = { context, slot in
  guard let slot = slot?.pointee else { return 1 }
  let numbers = "\(slot.fresh_slot) \(slot.retain_slot) \(slot.entries) \(slot.payload_bytes)"
  Gathered.of(context)?.texts.append("\(slot.name_space.text) \(numbers)")
  return 0
}

private let describeIssue: cachectl_visit_issue = { context, issue in
  guard let issue = issue?.pointee else { return 1 }
  let texts = [issue.key.text, String(cString: issue.kind), String(cString: issue.message)]
  Gathered.of(context)?.texts.append(texts.joined(separator: " "))
  return 0
}

extension cachectl_metadata {
  fileprivate init(checksum: UInt64) {
    self.init()
    self.checksum = checksum
  }
}
