internal import Base
public import StorageSPI

/// The look-ups of a cache, in order: which key was looked up, and how large its value is.
public struct Trace: Sendable {
  /// The numbers of the keys looked up, in order. Keys are numbered from 0 in the order of their first look-up.
  public private(set) var lookUps: [UInt32] = []
  /// The size of each key's value, in bytes: the one of its first look-up.
  public private(set) var sizes: [Int] = []

  /// Creates an empty trace.
  public init() {}

  /// The number of different keys.
  public var keyCount: Int { sizes.count }

  /// The bytes of all values together.
  public var footprint: Int { sizes.reduce(0, +) }

  /// Adds a look-up of the key `number`, which is at most `keyCount`; if it is `keyCount`, the key is new and its value
  /// has `size` bytes.
  mutating func append(_ number: Int, size: Int) {
    if number == sizes.count { sizes.append(size) }
    lookUps.append(UInt32(truncatingIfNeeded: number))
  }
}

/// Reads a trace from a text with a look-up in each line: a key, and after white space the size of its value in bytes,
/// 1 if there is none, 0 for the hyphen of access logs. Empty lines are skipped, and so are comments, which begin with #,
/// and a byte order mark at the start of a line.
public struct TraceReader {
  /// The largest size of a value in bytes.
  public static let sizeRange = 0...(1 << 40)

  private let file: String
  private var trace = Trace()
  private var numbers: [[UInt8]: Int] = [:]
  /// The number of the line that is being read, from 1.
  private var line = 1
  /// The beginning of a line whose end has not been read yet.
  private var rest: [UInt8] = []

  /// A reader of the file that errors call `file`.
  public init(file: String) { self.file = file }

  /// Reads the next bytes of the file.
  ///
  /// - Throws: `CacheError` with the code `malformed`, whose message begins with the file and the line.
  public mutating func read(_ bytes: [UInt8]) throws(CacheError) {
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      try readLine(rest + bytes[start..<end])
      line += 1
      rest = []
      start = end + 1
    }
    rest += bytes[start...]
    guard rest.count <= 1 << 16 else { throw malformed("the line is longer than 64 KiB") }
  }

  /// The trace, after the last bytes.
  ///
  /// - Throws: `CacheError` with the code `malformed`; also if there is no look-up.
  public mutating func finish() throws(CacheError) -> Trace {
    try readLine(rest)
    rest = []
    guard !trace.lookUps.isEmpty else {
      throw CacheError(.malformed, "\(file) has no look-up", hint: "write a key and a size in each line")
    }
    return trace
  }

  private mutating func readLine(_ bytes: [UInt8]) throws(CacheError) {
    let words = bytes[...].droppingByteOrderMark().split {
      $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r")
    }
    guard let key = words.first, key.first != UInt8(ascii: "#") else { return }
    let size = words.count == 1 ? 1 : Self.size(words[1])
    guard words.count <= 2, let size, Self.sizeRange.contains(size) else {
      throw malformed("the line is not a key and a size")
    }
    let number = numbers[Array(key), default: trace.keyCount]
    if number == trace.keyCount {
      guard number <= Int(UInt32.max) else { throw malformed("the trace has too many keys") }
      numbers[Array(key)] = number
    }
    trace.append(number, size: size)
  }

  private static func size(_ word: ArraySlice<UInt8>) -> Int? {
    word == [UInt8(ascii: "-")] ? 0 : Int(String(decoding: word, as: UTF8.self))
  }

  private func malformed(_ what: String) -> CacheError {
    CacheError(.malformed, "\(file):\(line): \(what)", hint: "write a key, a space and the size of its value in bytes")
  }
}
