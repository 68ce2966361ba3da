import LibraryStorage
import EngineAPI
import Synchronization
import Testing

/// A rule that a function of the library breaks, and the text of the error.
struct Defect: Sendable {
  enum Function: Sendable {
    case read, apply, scan, scanBackwards, scanPayloads, scanUnordered, count, check, close
  }

  let function: Function
  let name: String
  let text: String
  let code: CacheError.Code

  init(_ function: Function, _ name: String, _ text: String, _ code: CacheError.Code = .failed) {
    (self.function, self.name, self.text, self.code) = (function, name, text, code)
  }

  static let all: [Defect] = [
    Defect(.read, "code-negative", "backend tiny returned -1, which is not a code of the interface"),
    Defect(.read, "code-99", "backend tiny returned 99, which is not a code of the interface"),
    Defect(.apply, "code-99", "backend tiny returned 99, which is not a code of the interface"),
    Defect(.read, "no-message", "backend tiny failed without a reason", .ioFailed),
    Defect(.apply, "no-message", "backend tiny failed without a reason", .ioFailed),
    Defect(.read, "unterminated", String(repeating: "x", count: 640), .busy),
    Defect(.read, "not-utf8", "disk \u{FFFD}\u{FFFD} full", .noSpace),
    Defect(.apply, "lines", #"one\n\ttwo\u{1B}[31m\r\n."#, .damaged),
    Defect(.read, "read-null", "gave NULL to a callback"),
    Defect(.read, "read-other-key", "gave another entry than the requested one"),
    Defect(.read, "read-null-key", "gave another entry than the requested one"),
    Defect(.read, "read-null-data", "gave a payload without its bytes"),
    Defect(.read, "read-huge", "gave a payload of"),
    Defect(.read, "read-type-null", "gave a content type without its bytes"),
    Defect(.read, "read-attributes-null", "gave a list of attributes without its bytes"),
    Defect(.read, "read-attributes-huge", "gave a list of attributes of 18446744073709551615 bytes"),
    Defect(.read, "read-attributes-short", "entry cities/key is damaged: its attributes", .damaged),
    Defect(.read, "read-attributes-cut", "entry cities/key is damaged: its attributes", .damaged),
    Defect(.read, "read-attributes-odd", "entry cities/key is damaged: its attributes", .damaged),
    Defect(.read, "read-attributes-absurd", "entry cities/key is damaged: its attributes", .damaged),
    Defect(.read, "read-twice", "gave more than one entry for one key"),
    Defect(.scan, "scan-null", "gave NULL to a callback"),
    Defect(.scan, "scan-not-a-key", "gave an invalid key of 7 bytes: no key"),
    Defect(.scan, "scan-key-not-utf8", "gave an invalid key of 8 bytes: cities/\u{FFFD}"),
    Defect(.scan, "scan-long-key", "gave an invalid key of 1073741824 bytes: cities/b"),
    Defect(.scan, "scan-outside", "gave entry movies/a, which was not requested"),
    Defect(.scan, "scan-before-position", "gave entry cities/-, which was not requested"),
    Defect(.scanBackwards, "scan-behind-position", "gave entry cities/b, which was not requested"),
    Defect(.scanPayloads, "scan-huge", "gave a payload of 2199023255552 bytes"),
    Defect(.scanPayloads, "scan-without-payload", "gave a payload without its bytes"),
    Defect(.scan, "next-alone", "gave a next position that leads back"),
    Defect(.scanUnordered, "next-empty", "gave a next position that leads back"),
    Defect(.scanUnordered, "next-same", "gave a next position that leads back"),
    Defect(.scanUnordered, "next-null-data", "gave a position without its bytes"),
    Defect(.scan, "next-twice", "continued a scan after its next position"),
    Defect(.scan, "next-early", "continued a scan after its next position"),
    Defect(.count, "code-99", "backend tiny returned 99, which is not a code of the interface"),
    Defect(.count, "count-null", "gave NULL to a callback"),
    Defect(.count, "count-namespace", "counted 3 entries with 4 bytes in namespace \"Not/one\""),
    Defect(.count, "count-namespace-null", "gave a namespace without its bytes"),
    Defect(.count, "count-entries", "counted 18446744073709551615 entries with 4 bytes"),
    Defect(.count, "count-bytes", "counted 3 entries with 1152921504606846976 bytes"),
    Defect(.check, "check-fails", "it cannot be read", .ioFailed),
    Defect(.close, "close-fails", "the last bytes were lost", .ioFailed),
  ]
}

@Suite("The results of a library are checked")
struct DefectTests {
  private func call(_ function: Defect.Function, _ store: any StorageEngine) async throws {
    switch function {
    case .read: _ = try await store.read(try CacheKey("cities/key")) { bytes, _ in bytes.count }
    case .apply: try await store.apply(try .put("cities/key"))
    case .scan, .scanUnordered:
      _ = try await store.scan(ScanRequest(prefix: "cities/", after: "cities/0", limit: 10))
    case .scanBackwards:
      _ = try await store.scan(ScanRequest(prefix: "cities/", after: "cities/b", limit: 10, isDescending: true))
    case .scanPayloads: _ = try await store.scan(ScanRequest(prefix: "cities/", includesPayloads: true))
    case .count: _ = try await store.count()
    case .check: _ = try await store.check()
    case .close: try await store.close()
    }
  }

  @Test(arguments: [Defect.Function.read, .apply, .scan, .scanBackwards, .scanPayloads, .count, .check, .close])
  func isRefusedWithItsName(_ function: Defect.Function) async throws {
    try await expectRefusals(function, Library("defects.c"))
  }

  @Test func aPositionOfAStoreWithoutOrderIsChecked() async throws {
    try await expectRefusals(.scanUnordered, Library("defects.c", ["UNORDERED"]))
  }

  @Test func isRefusedIfReadsWait() async throws {
    try await expectRefusals(.read, Library("defects.c", ["TINY_READS_WAIT=1"]))
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
    ("open-without-store", CacheError.Code.failed, "backend tiny opened a store, and gave none"),
    ("open-fails", .cannotCreate, "no room at the inn"),
    ("open-code-99", .failed, "backend tiny returned 99"),
  ])
  func openingIsChecked(_ defect: String, _ code: CacheError.Code, _ text: String) async throws {
    let library = try Library("defects.c")
    let error = try #require(await cacheError { _ = try await library.open(["defect": .text(defect)]) })
    #expect(error.code == code)
    #expect(error.message.hasPrefix(text), "\(error.message)")
  }

  /// A walk through the store, as for `verify` or `export`, continues behind it. It need not be a defect of the library.
  @Test func aScanNamesAnEntryWithDamagedAttributes() async throws {
    let store = try await Library("defects.c").open(["defect": .text("scan-attributes-cut")])
    let error = try #require(await cacheError { try await call(.scan, store) })
    #expect(error.code == .damaged && error.message.hasPrefix("entry cities/b is damaged") && error.hint.isEmpty)
    #expect((error.cause as? UnreadableEntry)?.key.text == "cities/b")
  }

  @Test func aStoreOfATebibyteIsCounted() async throws {
    let store = try await Library("defects.c").open(["defect": .text("count-large")])
    #expect(try await store.count().total(except: nil).payloadBytes == 1 << 40)
  }

  @Test func aHintComesAsOneLine() async throws {
    let store = try await Library("defects.c").open(["defect": .text("lines")])
    #expect(await cacheError { try await call(.apply, store) }?.hint == #"a\nb"#)
  }

  /// One case breaks a rule as well; the other keeps all rules.
  @Test(arguments: ["read-twice", ""])
  func theErrorOfTheBodyWins(_ defect: String) async throws {
    let store = try await Library("defects.c").open(["defect": .text(defect)])
    try await store.apply(try .put("cities/key"))
    let error = await cacheError {
      _ = try await store.read(try CacheKey("cities/key")) { _, _ throws(CacheError) -> Int in
        throw CacheError(.cancelled, "the body's own")
      }
    }
    #expect(error?.message == "the body's own")
  }

  /// A result that is counted as long as it lives.
  private final class Result: Sendable {
    static let living = Atomic(0)

    init() { Self.living.add(1, ordering: .relaxed) }
    deinit { Self.living.subtract(1, ordering: .relaxed) }
  }

  /// The body has returned a result by then.
  @Test func aResultOfAReadThatFailsLaterIsFreed() async throws {
    let store = try await Library("defects.c").open(["defect": .text("read-twice")])
    let error = await cacheError { _ = try await store.read(try CacheKey("cities/key")) { _, _ in Result() } }
    #expect(error?.code == .failed && Result.living.load(ordering: .relaxed) == 0)
  }

  @Test(arguments: [
    ("silent", "said nothing of its store"), ("file-null", "without its bytes"), ("file-relative", "not absolute"),
    ("files-endless", "does not stop calling its callback"),
  ])
  func anInspectionIsChecked(_ defect: String, _ text: String) async throws {
    let plugin = try Library("defects.c").plugin()
    let error = await cacheError { _ = try await plugin.inspect(try plugin.configuration(defect)) }
    #expect(error?.code == .failed)
    #expect(error?.message.contains(text) == true, "\(error.debugDescription)")
  }

  @Test func thePlaceOfAStoreIsOneLine() async throws {
    let plugin = try Library("defects.c").plugin()
    #expect(try await plugin.inspect(try plugin.configuration("")).path == #"/tiny\n/other"#)
  }

  /// The checksum of the entry then shows that it is damaged.
  @Test func impossibleTimesAndTextsBecomePossibleOnes() async throws {
    let store = try await Library("defects.c").open(["defect": .text("read-odd-values")])
    let metadata = try #require(try await store.read(try CacheKey("cities/key")) { $1 })
    #expect(metadata.storedAt == Timestamp(milliseconds: 0) && metadata.retainUntil == .distantFuture)
    #expect(metadata.contentType == "\u{FFFD}")
  }

  /// The next page begins there, whatever position the library gives.
  @Test func aPageOfAnOrderedStoreEndsAtItsLastEntry() async throws {
    let store = try await Library("defects.c").open(["defect": .text("next-back-of-entry")])
    #expect(try await store.scan(ScanRequest(after: "cities/0", limit: 10)).next == "cities/b")
  }

  @Test(
    arguments: [
      ("moved-null", ".x", "without its bytes"), ("moved-relative", ".x", "a file that is not absolute"),
    ])
  func aRemovalIsChecked(_ defect: String, _ suffix: String, _ text: String) async throws {
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
