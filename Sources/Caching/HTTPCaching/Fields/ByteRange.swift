internal import Base

/// The range of bytes that a request asks for (RFC 9110, section 14.1.2).
enum ByteRange: Sendable, Hashable {
  /// From one offset to another, inclusive, or to the end.
  case from(Int, through: Int?)
  /// The last bytes of the content, this many.
  case suffix(Int)

  /// Reads the one range in the value of a `Range` field. `nil` if the field asks for several ranges, or is not a byte
  /// range: such a field is passed on or ignored.
  init?(_ value: String) {
    guard value.lowercased().hasPrefix("bytes=") else { return nil }
    let members = FieldList.members(String(value.dropFirst(6)))
    guard members.count == 1, let dash = members[0].firstIndex(of: "-") else { return nil }
    let (first, last) = (members[0][..<dash], members[0][members[0].index(after: dash)...])
    switch (Digits.number(first), Digits.number(last)) {
    case (let first?, let last?) where first <= last: self = .from(first, through: last)
    case (let first?, nil) where last.isEmpty: self = .from(first, through: nil)
    case (nil, let length?) where first.isEmpty && length > 0: self = .suffix(length)
    default: return nil
    }
  }

  /// Whether the value of a `Range` field asks for several byte ranges.
  static func isForSeveral(_ value: String) -> Bool {
    value.lowercased().hasPrefix("bytes=") && FieldList.members(value).count > 1
  }

  /// The offsets that the range selects in content of `length` bytes; `nil` if it selects none.
  func offsets(in length: Int) -> Range<Int>? {
    switch self {
    case .from(let first, let last):
      first < length ? first..<min(last.map { $0 < length ? $0 + 1 : length } ?? length, length) : nil
    case .suffix(let count):
      length > 0 ? max(length - count, 0)..<length : nil
    }
  }
}

/// The part of the content that a partial response carries (RFC 9110, section 14.4).
struct ContentRange: Sendable, Hashable {
  /// The offsets of the bytes.
  let offsets: Range<Int>
  /// The length of the whole content.
  let length: Int

  init(_ offsets: Range<Int>, of length: Int) {
    self.offsets = offsets
    self.length = length
  }

  /// Reads the value of a `Content-Range` field; `nil` if it is malformed, or the total length is unknown.
  init?(_ value: String) {
    let words = value.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let length = Digits.number(parts[1]) else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(Digits.number)
    guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 0, first <= last, last < length else {
      return nil
    }
    self.init(first..<last + 1, of: length)
  }

  /// The position of the part that a response with `head` carries; `nil` if the response is not one part.
  init?(partOf head: HTTPResponseHead) {
    guard head.status == 206, let text = head.fields["content-range"] else { return nil }
    self.init(text)
  }

  /// The value of a `Content-Range` field.
  var text: String { "bytes \(offsets.lowerBound)-\(offsets.upperBound - 1)/\(length)" }
}
