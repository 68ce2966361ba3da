import LibraryStorage
import StorageSPI
import Testing

/// A rule that a function of the library breaks, and what the error says of it.
struct Defect: Sendable {
  enum Function: Sendable {
    case read, readAll, apply, scan, statistics, checkIntegrity, close
  }

  let function: Function
  let name: String
  let text: String
  let code: CacheError.Code

  init(_ function: Function, _ name: String, _ text: String, _ code: CacheError.Code = .failed) {
    (self.function, self.name, self.text, self.code) = (function, name, text, code)
  }

  static let all: [Defect] = [
    Defect(.read, "code-negative", "backend tiny returned -1, which is no code of the interface"),
    Defect(.read, "code-99", "backend tiny returned 99, which is no code of the interface"),
    Defect(
      .apply, "code-99",
      "backend tiny returned 99, which is no code of the interface; whether the changes were made is not known"),
    Defect(.read, "no-message", "backend tiny failed without a reason", .ioFailed),
    Defect(.apply, "no-message", "backend tiny failed without a reason", .ioFailed),
    Defect(.read, "unterminated", String(repeating: "x", count: 1_024), .busy),
    Defect(.read, "not-utf8", "disk \u{FFFD}\u{FFFD} full", .noSpace),
    Defect(.apply, "lines", "one two [31m", .damaged),
    Defect(.read, "read-null", "gave NULL as an entry"),
    Defect(.read, "read-small-entry", "gave an entry of 96 bytes"),
    Defect(.read, "read-other-key", "gave another entry than the one it was asked for"),
    Defect(.read, "read-null-key", "gave another entry than the one it was asked for"),
    Defect(.read, "read-null-data", "gave a payload without its bytes"),
    Defect(.read, "read-huge", "gave a payload of"),
    Defect(.read, "read-time-negative", "gave the time -1"),
    Defect(.read, "read-time-large", "gave the time 253402300800000"),
    Defect(.read, "read-type-not-utf8", "has a content type that is not UTF-8"),
    Defect(.read, "read-type-null", "gave a content type without its bytes"),
    Defect(.read, "read-attributes-null", "gave an entry without its 1 attributes"),
    Defect(.read, "read-attributes-absurd", "gave an entry with"),
    Defect(.read, "read-attribute-twice", "two attributes of one name"),
    Defect(.read, "read-attribute-not-utf8", "has a value of an attribute that is not UTF-8"),
    Defect(.read, "read-twice", "gave more than one entry for one key"),
    Defect(.read, "read-thread", "called a callback on another thread"),
    Defect(.read, "read-null-context", "called a callback on another thread"),
    Defect(.readAll, "code-99", "backend tiny returned 99, which is no code of the interface"),
    Defect(.readAll, "several-beyond", "gave entry 1 of the 1 that it was asked for"),
    Defect(.readAll, "several-twice", "gave more than one entry for one key"),
    Defect(.readAll, "several-other-key", "gave another entry than the one it was asked for"),
    Defect(.readAll, "several-huge", "gave a payload of"),
    Defect(.scan, "scan-null", "gave NULL as an entry"),
    Defect(.scan, "scan-not-a-key", "gave a key that is none: no key"),
    Defect(.scan, "scan-key-not-utf8", "has a key that is not UTF-8"),
    Defect(.scan, "scan-long-key", "gave a key of 1073741824 bytes"),
    Defect(.scan, "scan-outside", "gave entry movies/a, which it was not asked for"),
    Defect(.scan, "scan-order", "gave entry cities/a after cities/b"),
    Defect(.scan, "scan-same-twice", "gave entry cities/b after cities/b"),
    Defect(.scan, "scan-huge", "gave a payload of 2199023255552 bytes"),
    Defect(.scan, "scan-beyond-limit", "gave more than the 10 entries it was asked for"),
    Defect(.statistics, "slot-null", "counted a slot that is none"),
    Defect(.statistics, "slot-small", "counted a slot that is none"),
    Defect(.statistics, "slot-namespace", "counted entries of namespace \"Not/one\""),
    Defect(.statistics, "slot-namespace-null", "gave a namespace without its bytes"),
    Defect(.statistics, "slot-time", "counted entries at times that are out of range"),
    Defect(.statistics, "slot-empty", "counted payloads without entries"),
    Defect(.statistics, "slot-sum", "counted more entries or bytes than there can be"),
    Defect(.statistics, "slot-overflow", "counted more entries or bytes than there can be"),
    Defect(.statistics, "slot-endless", "counted more than"),
    Defect(.statistics, "storage-bytes", "says that its store takes up 18446744073709551615 bytes"),
    Defect(.checkIntegrity, "issue-null", "reported an issue that is none"),
    Defect(.checkIntegrity, "issue-small", "reported an issue that is none"),
    Defect(.checkIntegrity, "issue-no-kind", "has no kind of an issue"),
    Defect(.checkIntegrity, "issue-kind", "reported a kind of issue not in camel case"),
    Defect(.checkIntegrity, "issue-key", "gave a key that is none: nothing"),
    Defect(.checkIntegrity, "issue-no-message", "reported an issue without a message"),
    Defect(.checkIntegrity, "issue-long-message", "has a message of an issue of more than 4096 bytes"),
    Defect(.checkIntegrity, "issue-endless", "reported more than"),
    Defect(.close, "close-fails", "the last bytes were lost", .ioFailed),
  ]
}

@Suite("What a library returns is checked before it is believed")
struct DefectTests {
  private func call(_ function: Defect.Function, _ store: any StorageEngine) async throws {
    switch function {
    case .read: _ = try await store.read(try CacheKey("cities/key")) { bytes, _ in bytes.count }
    case .readAll: _ = try await #require(store.batchReader).read([try CacheKey("cities/key")])
    case .apply: try await store.apply(try .put("cities/key"))
    case .scan: _ = try await store.scan(KeyRange(prefix: "cities/"), limit: 10)
    case .statistics: _ = try await store.statistics()
    case .checkIntegrity: _ = try await store.checkIntegrity()
    case .close: try await store.close()
    }
  }

  @Test(arguments: [Defect.Function.read, .apply, .scan, .statistics, .checkIntegrity, .close])
  func isRefusedWithItsName(_ function: Defect.Function) async throws {
    try await expectRefusals(function, Library("defects.c"))
  }

  @Test(arguments: [Defect.Function.read, .readAll])
  func isRefusedWhereReadsWait(_ function: Defect.Function) async throws {
    try await expectRefusals(function, Library("defects.c", ["TINY_FLAGS=CACHECTL_READS_WAIT"]))
  }

  @Test func whatCannotBeReadWithOthersIsReadAlone() async throws {
    let library = try Library("defects.c", ["TINY_FLAGS=CACHECTL_READS_WAIT"])
    let store = try await library.open(["defect": .text("several-unreadable")])
    let found = try await #require(store.batchReader).read([try CacheKey("cities/key")])
    #expect(try found.map { try $0.get()?.payload } == [Array("payload".utf8)])
    let other = try await library.open(["defect": .text("several-none")])
    let nothing = try await #require(other.batchReader).read([try CacheKey("cities/key")])
    #expect(try nothing.map { try $0.get() } == [nil])
  }

  private func expectRefusals(_ function: Defect.Function, _ library: Library) async throws {
    let defects = Defect.all.filter { $0.function == function }
    #expect(!defects.isEmpty)
    for defect in defects {
      let store = try await library.open(["defect": .text(defect.name)])
      let error = try #require(await cacheError { try await call(function, store) }, "\(defect.name)")
      #expect(error.code == defect.code, "\(defect.name)")
      #expect(error.message.contains(defect.text), "\(defect.name): \(error.message)")
      #expect(!error.message.contains(where: \.isNewline) && !error.hint.contains(where: \.isNewline))
    }
  }

  @Test(arguments: [
    ("open-without-store", CacheError.Code.failed, "backend tiny reported that it opened a store, and gave none"),
    ("open-fails", .cannotCreate, "no room at the inn"),
    ("open-code-99", .failed, "backend tiny returned 99"),
  ])
  func openingIsChecked(_ defect: String, _ code: CacheError.Code, _ text: String) async throws {
    let library = try Library("defects.c")
    let error = try #require(await cacheError { _ = try await library.open(["defect": .text(defect)]) })
    #expect(error.code == code)
    #expect(error.message.hasPrefix(text), "\(error.message)")
  }

  @Test func aHintComesAsOneLine() async throws {
    let store = try await Library("defects.c").open(["defect": .text("lines")])
    #expect(await cacheError { try await call(.apply, store) }?.hint == "a b")
  }

  @Test func aCallbackOfACallThatIsOverIsRefused() async throws {
    let store = try await Library("defects.c").open(["defect": .text("read-late")])
    try await call(.scan, store)
    let error = try #require(await cacheError { try await call(.read, store) })
    #expect(error.message.contains("after its function had returned"))
  }

  /// Where the library breaks a rule as well, and where it keeps them all.
  @Test(arguments: ["read-twice", ""])
  func whatTheBodyThrowsWins(_ defect: String) async throws {
    let store = try await Library("defects.c").open(["defect": .text(defect)])
    try await store.apply(try .put("cities/key"))
    let error = await cacheError {
      _ = try await store.read(try CacheKey("cities/key")) { _, _ throws(CacheError) -> Int in
        throw CacheError(.cancelled, "the body's own")
      }
    }
    #expect(error?.message == "the body's own")
  }

  @Test(arguments: [
    ("silent", "said nothing of its store"), ("null", "said nothing that can be understood"),
    ("small", "said nothing that can be understood"), ("path", "path that is not one line"),
    ("path-lines", "path that is not one line"), ("files-null", "gave a list of 1 files"),
    ("files-absurd", "gave a list of"), ("file-relative", "not absolute"), ("format", "gave -2 and 1 as versions"),
    ("current-format", "as versions"), ("presence", "as the presence"),
    ("caution-lines", "caution that is not one line"),
    ("twice", "said twice"),
  ])
  func anInspectionIsChecked(_ defect: String, _ text: String) async throws {
    let plugin = try Library("defects.c").plugin()
    let error = await cacheError { _ = try await plugin.inspect(try plugin.configuration(defect)) }
    #expect(error?.code == .failed)
    #expect(error?.message.contains(text) == true, "\(error.debugDescription)")
  }

  @Test func aDescendingScanIsInItsOrder() async throws {
    let store = try await Library("defects.c").open(["defect": .text("scan-order")])
    let range = KeyRange(prefix: "cities/", isDescending: true)
    let error = await cacheError { _ = try await store.scan(range, limit: 10) }
    #expect(error?.code == .failed && error?.message.contains("gave entry cities/b after cities/a") == true)
  }

  @Test(
    arguments: [
      ("moved-null", ".x", "without its bytes"), ("moved-relative", ".x", "a file that is not absolute"),
      ("moved-endless", nil, "moved files that it was to delete"),
    ] as [(String, String?, String)])
  func aRemovalIsChecked(_ defect: String, _ suffix: String?, _ text: String) async throws {
    let plugin = try Library("defects.c").plugin()
    let error = await cacheError {
      _ = try await plugin.removeStore(try plugin.configuration(defect), movingAside: suffix)
    }
    #expect(error?.code == .failed)
    #expect(error?.message.contains(text) == true, "\(error.debugDescription)")
  }
}

extension StoragePlugin {
  fileprivate func configuration(_ defect: String) throws -> EngineConfiguration {
    try EngineConfiguration(
      for: declaration, values: ["defect": .text(defect)], clock: FixedClock(now: Timestamp(milliseconds: 0)))
  }
}
