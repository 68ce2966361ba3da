import EngineAPI
import EngineConformance
import FetchVocabulary
import Testing
@testable import CacheCore

struct ExportedEntryTests {
  private static let now = Timestamp(milliseconds: 1_700_000_000_123)

  private static func decoded(_ line: [UInt8]) -> Result<ExportedEntry, JSONReader.Failure> {
    Result { () throws(JSONReader.Failure) in try ExportedEntry.decode(line) }
  }

  private static func sample(_ use: AccessHistory? = nil) throws -> ExportedEntry {
    let metadata = EntryMetadata(
      storedAt: now, freshUntil: now.advanced(by: .milliseconds(877)), retainUntil: .distantFuture,
      contentType: "application/json", attributes: ["etag": "\"1\"", "b": "é"])
    return try GeneratedEntries.sealed("cities/v1/page=0", Array("{\"a\":1}\n".utf8), metadata, use: use)
  }

  @Test func aLineIsWrittenAsDocumented() throws {
    var line: [UInt8] = []
    let entry = try Self.sample(AccessHistory(lastUsedAt: Self.now, count: 3))
    entry.encode(to: &line)
    let checksum = String(entry.metadata.checksum, radix: 16)
    let expected =
      #"{"format":1,"key":"cities/v1/page=0","storedAt":"2023-11-14T22:13:20.123Z","#
      + #""freshUntil":"2023-11-14T22:13:21.000Z","retainUntil":"9999-12-31T23:59:59.999Z","#
      + #""contentType":"application/json","attributes":{"b":"é","etag":"\"1\""},"checksum":"#
      + "\"\(String(repeating: "0", count: 16 - checksum.utf8.count))\(checksum)\""
      + #","uses":3,"lastUsedAt":"2023-11-14T22:13:20.123Z","payload":"{\"a\":1}\n"}"# + "\n"
    #expect(String(decoding: line, as: UTF8.self) == expected)
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func everyEntryComesBackExactly(seed: UInt64) throws {
    for entry in try GeneratedEntries.entries(seed: seed, count: 400, at: Self.now) {
      var line: [UInt8] = []
      entry.encode(to: &line)
      #expect(line.count { $0 == 0x0A } == 1 && line.last == 0x0A, "seed \(seed), \(entry.key)")
      let back = try Self.decoded(line).get()
      #expect(back == entry, "seed \(seed), \(entry.key)")
      #expect(
        back.metadata.attributes.allSatisfy {
          Array($0.value.utf8) == Array((entry.metadata.attributes[$0.key] ?? "").utf8)
        })
    }
  }

  @Test func useAndFormatMayBeMissingAndOrderDoesNotMatter() throws {
    let entry = try Self.sample()
    let line = String(decoding: [entry].lines, as: UTF8.self).dropFirst("{\"format\":1,".count).dropLast(2)
    let parts = [line, "\"format\": 1 ", "\"uses\":0", "\"lastUsedAt\":\"1970-01-01T00:00:00.000Z\""]
    #expect(try Self.decoded(Array(" { \(parts[0]) }\r".utf8)).get() == entry)
    let all = try Self.decoded(Array("{\(parts.reversed().joined(separator: ","))}".utf8)).get()
    #expect(all.metadata == entry.metadata && all.payload == entry.payload)
    #expect(all.history == AccessHistory())
  }

  @Test func anEditedLineWithoutAChecksumGetsOne() throws {
    let line = String(decoding: [try Self.sample()].lines, as: UTF8.self)
    let edited = line.replacing(#/"checksum":"[0-9a-f]{16}",/#, with: "").replacing("\\\"a\\\"", with: "\\\"b\\\"")
    let entry = try Self.decoded(Array(edited.utf8)).get()
    #expect(entry.payload == Array("{\"b\":1}\n".utf8))
    let isIntact = entry.metadata.isIntact(key: entry.key, payload: entry.payload.span)
    #expect(isIntact)
  }

  /// A line that a person or a program writes needs no more than this.
  @Test(arguments: ["payload", "payloadBase64"]) func theMediaTypeAndTheAttributesMayBeMissing(payload: String) throws {
    let time = "2023-11-14T22:13:20.123Z"
    let line =
      #"{"key":"cities/v1/a","storedAt":"\#(time)","freshUntil":"\#(time)","retainUntil":"\#(time)","\#(payload)":"YQ=="}"#
    let entry = try Self.decoded(Array(line.utf8)).get()
    #expect(entry.metadata.contentType.isEmpty && entry.metadata.attributes.isEmpty)
    #expect(entry.payload == (payload == "payload" ? Array("YQ==".utf8) : Array("a".utf8)))
  }

  /// A change to the sample's line, and the expected message.
  static let mistakes: [(old: String, new: String, message: String)] = [
    ("{\"format\":1", "", "expected '{', found"), ("\"format\":1", "\"format\":2", "format 2"),
    ("\"format\":1", "\"format\":\"1\"", "expected a whole number, found '\"'"),
    ("\"format\":1,", "\"format\":1,\"x\":1,", "'x' is not known"),
    ("\"format\":1,", "\"format\":1,\"format\":1,", "the key \"format\" occurs twice"),
    ("cities/v1/page=0", "cities", "is not a key"), ("cities/v1/page=0", "Cities/é", "is not a key"),
    ("cities/v1/page=0", "leases/v1/a", "leases"), ("cities/v1/page=0", "cities/v1/page=1", "checksum"),
    ("\"key\":", "\"kez\":", "'kez' is not known"), ("\"key\":\"cities/v1/page=0\",", "", "'key' is missing"),
    (".123Z", "Z", "is not a time"), (".123Z", ".124Z", "checksum"), ("2023-11-14", "2023-02-30", "is not a time"),
    ("\"storedAt\":\"2023-11-14T22:13:20.123Z\",", "", "'storedAt' is missing"),
    ("\"2023-11-14T22:13:20.123Z\"", "5", "expected a text, found '5'"),
    ("application/json", "application/jsom", "checksum"), ("{\"b\":\"é\",", "{", "checksum"),
    ("{\"b\":\"é\",", "{\"b\":\"é\",\"b\":\"é\",", "the key \"b\" occurs twice"),
    ("{\"b\":\"é\",", "{\":line\":\"HTTP/1.1 OK\\r\\nX: 1\",", "':line' is not part of a header"),
    ("{\"b\":\"é\",", "{\":line\":\"HTTP/1.1 OK\\nX: 1\",", "':line' is not part of a header"),
    ("{\"b\":\"é\",", "{\":fields\":\"A: b\\rX: 1\",", "':fields' is not part of a header"),
    ("{\"b\":\"é\",", "{\":fields\":\"A: b\\u0000\",", "':fields' is not part of a header"),
    ("{\"b\":\"é\",", "{\"b\":1,", "expected a text, found '1'"),
    ("\"checksum\":\"", "\"checksum\":\"0", "16 hexadecimal digits"),
    ("\"payload\"", "\"payloadBase64\"", "not base 64"),
    ("\"payload\"", "\"payloadBase64\":\"\",\"payload\"", "the payload is there twice"),
    ("\"payload\":\"{\\\"a\\\":1}\\n\"", "\"uses\":1", "'payload' is missing"),
    ("\"payload\"", "\"uses\":1,\"payload\"", "'lastUsedAt' is missing"),
    ("\"payload\"", "\"uses\":-1,\"payload\"", "not negative"),
    ("\"payload\"", "\"uses\":1.5,\"payload\"", "whole number"), ("\\\"a\\\"", "\\\"b\\\"", "checksum"),
    ("\\n\"}", "\\n\"", "expected ',' or '}', found the end of the text"),
    ("\\n\"}", "\\n\"}}", "expected the end of the text, found '}'"), ("\\n\"}", "\\x\"}", "behind '\\', found 'x'"),
    ("\\n\"}", "\\ud800\"}", "surrogate"), ("\\n\"}", "\n\"}", "no control character inside a text"),
  ]

  @Test(arguments: mistakes) func aMistakeIsNamed(old: String, new: String, message: String) throws {
    var line = String(decoding: [try Self.sample()].lines, as: UTF8.self)
    line.replaceSubrange(try #require(line.firstRange(of: old)), with: new)
    let result = Self.decoded(Array(line.utf8))
    guard case .failure(let failure) = result else {
      Issue.record("it was taken: \(result)")
      return
    }
    #expect(failure.message.contains(message), "\(failure)")
  }

  @Test func truncatedInputIsRefused() throws {
    let line = [try Self.sample()].lines
    for length in 0..<(line.count - 2) {
      guard case .failure = Self.decoded(Array(line[..<length])) else {
        Issue.record("the first \(length) bytes were taken")
        continue
      }
    }
  }

  @Test func noFlippedBitMakesAnotherEntry() throws {
    let entry = try Self.sample()
    let line = [entry].lines
    for index in line.indices {
      for bit in 0..<8 {
        var flipped = line
        flipped[index] ^= 1 << UInt8(bit)
        if case .success(let other) = Self.decoded(flipped) { #expect(other == entry, "bit \(bit) of byte \(index)") }
      }
    }
  }

  @Test(arguments: [1, 2] as [UInt64]) func nonsenseIsRefused(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("{}[]\",:\\u0e1-.nultrefas ".utf8)
    for _ in 0..<5_000 {
      let line = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
      }
      guard case .failure = Self.decoded(line) else {
        Issue.record("seed \(seed): \(String(decoding: line, as: UTF8.self)) was taken")
        continue
      }
    }
  }

  @Test func deepNestingIsRefused() {
    let deep = Array("{\"attributes\":".utf8) + Array(repeating: UInt8(ascii: "{"), count: 1_000_000)
    guard case .failure = Self.decoded(deep) else {
      Issue.record("it was taken")
      return
    }
  }
}

struct LineSplitterTests {
  @Test(arguments: ["", "\n", "a", "a\n", "a\nb", "\n\na\n\n", "long line\r\nx\n\nlast"], [1, 2, 3, 7, 100])
  func linesAreThoseBetweenLineFeeds(text: String, pieceSize: Int) async throws {
    var rest = Array(text.utf8)[...]
    var lines = LineSplitter { () throws(CacheError) in
      defer { rest = rest.dropFirst(pieceSize) }
      return Array(rest.prefix(pieceSize))
    }
    var found: [String] = []
    while let line = try await lines.next() {
      found.append(String(decoding: line, as: UTF8.self))
      #expect(lines.number == found.count)
    }
    var expected = text.split(separator: "\n" as Unicode.Scalar, omittingEmptySubsequences: false)
    if expected.last?.isEmpty == true { expected.removeLast() }
    #expect(found == expected)
    #expect(try await lines.next() == nil)
  }

  @Test(arguments: [1, 2, 3, 100]) func aByteOrderMarkAtTheStartOfALineIsLeftOut(pieceSize: Int) async throws {
    var rest = Array("\u{FEFF}a\nb\u{FEFF}\n\u{FEFF}c\n\u{FEFF}".utf8)[...]
    var lines = LineSplitter { () throws(CacheError) in
      defer { rest = rest.dropFirst(pieceSize) }
      return Array(rest.prefix(pieceSize))
    }
    for line in ["a", "b\u{FEFF}", "c", ""] {
      #expect(try await lines.next().map { String(decoding: $0, as: UTF8.self) } == line)
    }
    #expect(try await lines.next() == nil)
  }

  @Test func aFailureToReadIsPassedOn() async {
    var lines = LineSplitter { () throws(CacheError) in throw CacheError(.cancelled, "no") }
    await #expect(throws: CacheError.self) { _ = try await lines.next() }
  }
}

extension String {
  /// The parts between separators. Unlike characters, scalars do not merge a line feed with the text before it.
  fileprivate func split(separator: Unicode.Scalar, omittingEmptySubsequences: Bool) -> [String] {
    unicodeScalars.split(separator: separator, omittingEmptySubsequences: omittingEmptySubsequences).map(String.init)
  }
}
