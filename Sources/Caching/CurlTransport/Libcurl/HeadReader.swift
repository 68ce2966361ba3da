internal import CacheBase
internal import HTTPCaching

/// Parses the lines of a response outside its content, one at a time as libcurl delivers them: the heads of interim
/// responses, the head of the final one, and the trailers.
struct HeadReader {
  /// Why the lines are not an HTTP message.
  struct Failure: Error, Equatable {
    let reason: String
  }

  private static let framingNames = ["transfer-encoding", "content-length"]

  private enum Place { case start, fields, trailers }

  /// How many lines can continue others: each costs as much as the whole field.
  private static let foldLimit = 100

  private var place = Place.start
  private var head = HTTP.ResponseHead(status: 0)
  private var fields: HTTP.Fields = [:]
  private var folds = 0

  /// The trailers so far.
  var trailers: HTTP.Fields { place == .trailers ? fields : [:] }

  /// Parses the next line, which includes its line end. Returns the head that it completes: of an interim response (1xx),
  /// or of the final one; otherwise `nil`.
  mutating func read(_ bytes: some Collection<UInt8>) throws(Failure) -> HTTP.ResponseHead? {
    let line = Self.withoutEnd(Array(bytes)[...])
    if place == .start {
      head = try Self.status(line)
      place = .fields
    } else if !line.isEmpty {
      try add(line)
    } else if place == .fields {
      return try complete()
    }
    return nil
  }

  private mutating func complete() throws(Failure) -> HTTP.ResponseHead {
    head.fields = fields
    fields = [:]
    if head.status == 101 { throw Failure(reason: "it changes to a protocol that was not requested") }
    place = head.isInterim ? .start : .trailers
    if head.isInterim { return head }
    try Self.checkFraming(head.fields)
    // Transfer-Encoding overrides the length (RFC 9112, section 6.3), which might be a lie.
    if head.fields.contains("transfer-encoding") { head.fields["content-length"] = nil }
    return head
  }

  private mutating func add(_ line: ArraySlice<UInt8>) throws(Failure) {
    if let first = line.first, Self.isSpace(first) { return try fold(line) }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
      throw Failure(reason: "a line of the header has no colon")
    }
    let name = Self.trimmed(line[..<colon])
    guard !name.isEmpty else { throw Failure(reason: "a line of the header has no name") }
    guard name.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw Failure(reason: "the name of a header field has control characters")
    }
    fields.append(FieldText.decode(name), FieldText.decode(Self.text(line[(colon + 1)...])))
  }

  /// Adds `line` to the value of the last field: in old syntax, a line that begins with white space continues the previous
  /// one (RFC 9112, section 5.2).
  private mutating func fold(_ line: ArraySlice<UInt8>) throws(Failure) {
    folds += 1
    guard folds <= Self.foldLimit else { throw Failure(reason: "more than \(Self.foldLimit) lines are folded") }
    guard let last = fields.lines.last else { throw Failure(reason: "the header begins with white space") }
    // libcurl frames the content by single lines.
    guard !Self.framingNames.contains(where: { HTTP.Fields.isSame($0, last.name) }) else {
      throw Failure(reason: "a line that says where the content ends is folded")
    }
    let value = Self.trimmed((FieldText.encode(last.value) + [UInt8(ascii: " ")] + Self.text(line))[...])
    fields = HTTP.Fields(fields.lines.dropLast() + [HTTP.Fields.Field(last.name, FieldText.decode(value))])
  }

  /// Parses a status line such as `HTTP/1.1 200 OK`.
  private static func status(_ line: ArraySlice<UInt8>) throws(Failure) -> HTTP.ResponseHead {
    let name = line.prefix { $0 != UInt8(ascii: " ") }
    let rest = line[name.endIndex...].drop(while: isSpace)
    let digits = rest.prefix { !isSpace($0) }
    guard let version = HTTP.Version(rawValue: FieldText.decode(name)), digits.count == 3,
      let status = Int(FieldText.decode(digits)), status >= 100
    else { throw Failure(reason: "the status line cannot be read") }
    let reason = text(rest.dropFirst(3))
    return HTTP.ResponseHead(
      version: version, status: status, reason: reason.isEmpty ? nil : FieldText.decode(reason))
  }

  /// Checks that the content and its end are unambiguous: there is only one length, and no transfer coding but chunked
  /// (RFC 9112, section 6). The transport asks for no other codings, and libcurl does not remove them.
  private static func checkFraming(_ fields: HTTP.Fields) throws(Failure) {
    if let coding = fields["transfer-encoding"] {
      guard ["chunked", "identity"].contains(where: { HTTP.Fields.isSame($0, coding) }) else {
        throw Failure(reason: "its Transfer-Encoding was not requested")
      }
    } else if let lengths = fields["content-length"] {
      let numbers = lengths.split(separator: ",").map { Digits.number(FieldList.trimmed($0)) }
      // The largest number stands for all that are too large.
      guard let first = numbers.first ?? nil, first < .max, numbers.allSatisfy({ $0 == first }) else {
        throw Failure(reason: "its Content-Length is not one number")
      }
    }
  }

  private static func withoutEnd(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard line.last == UInt8(ascii: "\n") else { return line }
    let text = line.dropLast()
    return text.last == UInt8(ascii: "\r") ? text.dropLast() : text
  }

  /// `bytes` without surrounding white space and with carriage returns replaced: for other parsers a lone one would end
  /// the line (RFC 9112, section 2.2).
  private static func text(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let carriageReturn = UInt8(ascii: "\r")
    guard bytes.contains(carriageReturn) else { return trimmed(bytes) }
    return trimmed(bytes.map { $0 == carriageReturn ? UInt8(ascii: " ") : $0 }[...])
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes.drop(while: isSpace)
    while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
    return rest
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}

extension HTTP.ResponseHead {
  /// Whether another head follows (1xx).
  var isInterim: Bool { (100..<200).contains(status) }
}
