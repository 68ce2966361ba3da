internal import CacheBase

/// A value in the JSON of an origin's response. It knows its position, which its errors name; they do not quote the JSON.
public struct AnswerValue {
  private let value: JSONDocument.Value
  /// The names and indices that lead to the value; empty for the whole response.
  private let path: String
  private let origin: String

  /// The JSON in the body of `response`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer`.
  public init(_ response: HTTP.Response, origin: String) throws(CacheError) {
    if response.body.isEmpty { throw .invalidAnswer(origin, "an empty response") }
    if response.isHTML { throw .invalidAnswer(origin, "a page of HTML instead of JSON") }
    guard let document = try? JSONDocument(parsing: response.body, allowsRepeatedKeys: true) else {
      throw Self.misunderstood("it is not valid JSON", origin)
    }
    self.init(document.root.value, path: "", origin)
  }

  private init(_ value: JSONDocument.Value, path: String, _ origin: String) {
    self.value = value
    self.path = path
    self.origin = origin
  }

  /// The error that this value is wrong, with a predicate such as "is negative".
  public func mistake(_ what: String) -> CacheError {
    Self.misunderstood("\(path.isEmpty ? "the document" : "'\(path)'") \(what)", origin)
  }

  /// The error that the member `name` is missing.
  public func missing(_ name: String) -> CacheError {
    Self.misunderstood("'\(place(name))' is missing", origin)
  }

  private static func misunderstood(_ reason: String, _ origin: String) -> CacheError {
    .invalidAnswer(
      origin, "a response that is not understood: \(reason)",
      hint: "check the base URL of this origin; if it is right, its server is at fault")
  }

  /// The member `name`, which must exist but can be null.
  public func member(_ name: String) throws(CacheError) -> AnswerValue {
    guard let member = try anyMember(name) else { throw missing(name) }
    return member
  }

  /// The member `name`; `nil` if it is missing or null.
  public func optionalMember(_ name: String) throws(CacheError) -> AnswerValue? {
    guard let member = try anyMember(name) else { return nil }
    if case .null = member.value { return nil }
    return member
  }

  private func anyMember(_ name: String) throws(CacheError) -> AnswerValue? {
    guard case .object(let members) = value else { throw unexpected("an object") }
    return members.last { $0.key == name }.map { AnswerValue($0.node.value, path: place(name), origin) }
  }

  private func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  /// The value as a string.
  public var text: String {
    get throws(CacheError) {
      guard case .text(let text) = value else { throw unexpected("a text") }
      return text
    }
  }

  /// The value as a whole number. It can be written with a zero fraction.
  public var wholeNumber: Int {
    get throws(CacheError) {
      guard case .number(let digits) = value else { throw unexpected("a whole number") }
      guard let number = Int(digits) ?? Double(digits).flatMap(Int.init(exactly:)) else {
        throw mistake("is not a whole number, or is too large")
      }
      return number
    }
  }

  /// The value as a number, rounded to the nearest `Double`.
  public var number: Double {
    get throws(CacheError) {
      guard case .number(let digits) = value else { throw unexpected("a number") }
      guard let number = Double(digits), number.isFinite else { throw mistake("is too large") }
      return number
    }
  }

  /// The value as true or false.
  public var boolean: Bool {
    get throws(CacheError) {
      guard case .boolean(let flag) = value else { throw unexpected("true or false") }
      return flag
    }
  }

  /// The value as a count: zero or more.
  public var count: Int {
    get throws(CacheError) {
      let number = try wholeNumber
      if number < 0 { throw mistake("is negative") }
      return number
    }
  }

  /// The value as a list.
  public var elements: [AnswerValue] {
    get throws(CacheError) {
      guard case .array(let nodes) = value else { throw unexpected("a list") }
      return nodes.enumerated().map { index, node in AnswerValue(node.value, path: "\(path)[\(index)]", origin) }
    }
  }

  /// The members of an object whose names are not known, in the order of the response.
  public var members: [(name: String, value: AnswerValue)] {
    get throws(CacheError) {
      guard case .object(let members) = value else { throw unexpected("an object") }
      return members.map { ($0.key, AnswerValue($0.node.value, path: place($0.key), origin)) }
    }
  }

  /// The error that this value is null, or not `noun`.
  package func unexpected(_ noun: String) -> CacheError {
    if case .null = value { return mistake("is null") }
    return mistake("is not \(noun)")
  }
}

extension HTTP.Response {
  /// Whether it is a page such as servers and proxies send instead of responses: labelled as HTML, or beginning like it.
  package var isHTML: Bool {
    if ["text/html", "application/xhtml+xml"].contains(head.fields.mediaType) { return true }
    let start = body.prefix(256).drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }.prefix(16)
    let text = String(decoding: start, as: UTF8.self).lowercased()
    return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
  }
}

/// Reads the messages that servers put into the body of a failure.
enum ServerMessage {
  private static let maximumLength = 200
  /// The largest body to search for a message.
  private static let maximumBytes = 1 << 16

  /// The message in the JSON object in the body of `response`; `nil` if there is none, as in an HTML page.
  ///
  /// Recognizes the `detail` and `title` of RFC 9457, the `error_description` of RFC 6749, and `error`, `errors`,
  /// `message` and `status_message`, which many servers use.
  static func text(in response: HTTP.Response) -> String? {
    guard response.body.count <= maximumBytes else { return nil }
    return (try? JSONDocument(parsing: response.body, allowsRepeatedKeys: true)).flatMap { text($0.root.value) }
  }

  /// Makes `text` fit for one line: no control characters, no final full stop, and not too long. `nil` if nothing is
  /// left.
  static func line(_ text: String) -> String? {
    let words = text.split {
      $0.isWhitespace || $0.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
    var line = words.joined(separator: " ")
    if line.count > maximumLength { line = line.prefix(maximumLength) + "…" }
    while let last = line.last, ". ".contains(last) { line.removeLast() }
    return line.isEmpty ? nil : line
  }

  private static let names = [
    "status_message", "errors", "detail", "error_description", "message", "error", "title",
  ]

  /// The first text in the members of the object `value` that can hold a message, or in objects among those members.
  private static func text(_ value: JSONDocument.Value) -> String? {
    guard case .object(let members) = value else { return nil }
    return names.lazy.compactMap { name in
      switch members.last(where: { $0.key == name })?.node.value {
      case .text(let text): text
      case .array(let nodes): texts(nodes)?.joined(separator: "; ")
      case .some(let value): text(value)
      case nil: nil
      }
    }.first { !$0.isEmpty }
  }

  private static func texts(_ nodes: [JSONDocument.Node]) -> [String]? {
    let texts = nodes.compactMap { if case .text(let text) = $0.value { text } else { nil } }
    return texts.count == nodes.count ? texts : nil
  }
}

extension CacheError {
  /// The error for an origin called `origin` that sent `what` as its response.
  package static func invalidAnswer(
    _ origin: String, _ what: String, hint: String = "check the base URL of this origin, or try again later"
  ) -> CacheError {
    CacheError(.invalidAnswer, "\(origin) sent \(what)", hint: hint)
  }
}
