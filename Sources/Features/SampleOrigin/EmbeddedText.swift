internal import CSampleData

/// A constant UTF-8 text embedded in the program.
///
/// `@unchecked Sendable`: the pointer leads to a constant that lives as long as the process and is never written.
struct EmbeddedText: @unchecked Sendable {
  /// The bytes of the text.
  let bytes: UnsafeBufferPointer<UInt8>

  /// The text that `CSampleData` provides.
  init(_ text: CSampleText) {
    bytes = UnsafeBufferPointer(start: text.bytes, count: text.count)
  }

  /// The number of bytes.
  var count: Int { bytes.count }

  /// The text in `range`.
  func string(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }

  /// The number in `range`, digits after optional spaces; `nil` if `range` contains anything else.
  func number(_ range: Range<Int>) -> Int? {
    Int(string(range).drop { $0 == " " })
  }

  /// The first index of `needle` in `range`; `nil` if there is none.
  func firstIndex(of needle: [UInt8], in range: Range<Int>) -> Int? {
    guard let start = bytes.baseAddress else { return nil }
    let offset = csample_find(start + range.lowerBound, range.count, needle, needle.count)
    return offset < range.count ? range.lowerBound + offset : nil
  }

  /// The end of the line that contains `index`: the index of its line feed, or the end of the text.
  func endOfLine(_ index: Int) -> Int { firstIndex(of: [UInt8(ascii: "\n")], in: index..<count) ?? count }

  /// The start of the line that contains `index`.
  func startOfLine(_ index: Int) -> Int { bytes.baseAddress.map { csample_line_start($0, index) } ?? 0 }
}
