import FetchVocabulary
import Testing

@testable import CacheCore

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
