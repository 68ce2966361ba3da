internal import CacheBase
internal import CSampleData
// Links what CSampleData decompresses with: a target in C names no library.
internal import CZlib
internal import CacheCore
internal import FetchVocabulary

/// The common part of the three sample origins: every response has a validator, and a cache that already has the
/// response learns that it is unchanged.
enum SampleAnswer {
  /// The response of `make` to `request`, unless `conditions` show that the cache already has it.
  static func to<Request: CacheableRequest, Response: Sendable>(
    _ request: Request, _ conditions: HTTP.Fields, make: () throws(CacheError) -> Response
  ) throws(CacheError) -> OriginAnswer<Response> {
    if Task.isCancelled { throw .cancelled }
    let fields: HTTP.Fields = ["etag": "\"\(SampleVersion.validator(of: request))\""]
    if conditions["if-none-match"] == fields["etag"] {
      return OriginAnswer(head: HTTP.ResponseHead(status: 304, fields: fields), response: nil)
    }
    return OriginAnswer(head: HTTP.ResponseHead(status: 200, fields: fields), response: try make())
  }
}

/// The validators of the sample's responses.
enum SampleVersion {
  /// The name of the sample origins.
  static let origin = "sample"

  /// Raise it whenever the program makes a different response from the same data, such as another overview or another
  /// poster.
  private static let revision = 1

  private static let data = EmbeddedText(csample_version())

  /// The validator of the response to `request`: it changes with the data, with `revision` and with the request.
  static func validator(of request: some CacheableRequest) -> String {
    let version = data.string(0..<data.count)
    return "sample-\(version)-\(revision)-\(String(fingerprint(of: request), radix: 16))"
  }

  /// The hash of the request's parameters.
  private static func fingerprint(of request: some CacheableRequest) -> UInt64 {
    FNV1a.hash(request.parameters.map { "\($0.name)=\($0.value)\u{0}" }.joined().utf8)
  }
}

/// A constant UTF-8 text embedded in the program.
///
/// `@unchecked Sendable`: the pointer leads to a constant that lives as long as the process and is never written.
struct EmbeddedText: @unchecked Sendable {
  let bytes: UnsafeBufferPointer<UInt8>

  /// The text that `CSampleData` provides.
  init(_ text: CSampleText) {
    bytes = UnsafeBufferPointer(start: text.bytes, count: text.count)
  }

  /// The number of bytes.
  var count: Int { bytes.count }

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
