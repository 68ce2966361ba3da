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

  /// The number in `range`, at most 18 digits after optional spaces; `nil` if `range` contains anything else.
  func number(_ range: Range<Int>) -> Int? {
    var number: Int?
    for index in range {
      let byte = bytes[index]
      if number == nil, byte == UInt8(ascii: " ") { continue }
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      number = (number ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }

  /// Whether the bytes of `text` are at `index`.
  func has(_ text: [UInt8], at index: Int) -> Bool {
    firstIndex(of: text, in: index..<min(index + text.count, count)) == index
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
