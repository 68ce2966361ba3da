internal import CSampleData

/// A text that is embedded in the program: UTF-8, constant.
///
/// `@unchecked Sendable`: the pointer is to a constant that exists as long as the process and that nobody writes.
struct EmbeddedText: @unchecked Sendable {
  /// The bytes of the text.
  let bytes: UnsafeBufferPointer<UInt8>

  /// The text that `CSampleData` hands out.
  init(_ text: CSampleText) {
    bytes = UnsafeBufferPointer(start: text.bytes, count: text.count)
  }

  /// The number of bytes.
  var count: Int { bytes.count }

  /// The text in `range`.
  func string(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }

  /// The number in `range`, digits with spaces before them; `nil` where something else stands there.
  func number(_ range: Range<Int>) -> Int? {
    Int(string(range).drop { $0 == " " })
  }

  /// Where `needle` stands first at or after `start`; `nil` where it does not.
  func firstIndex(of needle: [UInt8], from start: Int) -> Int? {
    let rest = UnsafeBufferPointer(rebasing: bytes[start...])
    guard let base = rest.baseAddress else { return nil }
    let offset = needle.withUnsafeBufferPointer { needle in
      needle.baseAddress.map { csample_find(base, rest.count, $0, needle.count) } ?? rest.count
    }
    return offset < rest.count ? start + offset : nil
  }

  /// Where the line ends that holds `index`: the index of its line feed, or of the end of the text.
  func endOfLine(_ index: Int) -> Int {
    bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? count
  }

  /// Where the line begins that holds `index`.
  func startOfLine(_ index: Int) -> Int {
    (bytes[..<index].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
  }
}
