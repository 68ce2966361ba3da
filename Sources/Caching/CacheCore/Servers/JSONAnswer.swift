internal import Base
public import FetchVocabulary

/// Reads the JSON of answers, and reports where it is not as expected. Error messages do not quote it.
public enum JSONAnswer {
  /// Decodes the body of `response` with `read`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer`.
  public static func read<Value>(
    _ response: HTTPResponse, origin: String, _ read: (AnswerValue) throws(AnswerValue.Mistake) -> Value
  ) throws(CacheError) -> Value {
    if response.body.isEmpty { throw .invalidAnswer(origin, "an empty answer") }
    if HTMLPage.isIn(response) { throw .invalidAnswer(origin, "a page of HTML instead of JSON") }
    guard let document = try? JSONDocument(parsing: response.body, allowsRepeatedKeys: true) else {
      throw misunderstood("it is not valid JSON", origin)
    }
    do throws(AnswerValue.Mistake) { return try read(AnswerValue(document)) } catch {
      throw misunderstood(error.text, origin)
    }
  }

  private static func misunderstood(_ reason: String, _ origin: String) -> CacheError {
    .invalidAnswer(
      origin, "an answer that is not understood: \(reason)",
      hint: "check the base URL of this origin; if it is right, its server is at fault")
  }
}

/// A value in the JSON of an origin's answer. It knows its position in the answer.
public struct AnswerValue {
  /// What is wrong with an answer: a sentence without a full stop that begins with the position.
  public struct Mistake: Error, Sendable {
    let text: String
  }

  private let value: JSONDocument.Value
  /// The names and indices that lead to the value; empty for the whole answer.
  private let path: String

  /// Creates the value of a whole answer.
  init(_ document: JSONDocument) { self.init(document.root.value, path: "") }

  private init(_ value: JSONDocument.Value, path: String) {
    self.value = value
    self.path = path
  }

  /// A mistake about this value, with a predicate such as "is negative".
  public func mistake(_ what: String) -> Mistake {
    Mistake(text: "\(path.isEmpty ? "the whole" : "'\(path)'") \(what)")
  }

  /// The mistake that the member `name` is missing.
  public func missing(_ name: String) -> Mistake { Mistake(text: "'\(place(name))' is missing") }

  /// The member `name`, which must exist but may be null.
  public func member(_ name: String) throws(Mistake) -> AnswerValue {
    guard let member = try anyMember(name) else { throw missing(name) }
    return member
  }

  /// The member `name`; `nil` if it is missing or null.
  public func optionalMember(_ name: String) throws(Mistake) -> AnswerValue? {
    guard let member = try anyMember(name) else { return nil }
    if case .null = member.value { return nil }
    return member
  }

  private func anyMember(_ name: String) throws(Mistake) -> AnswerValue? {
    guard case .object(let members) = value else { throw unexpected("an object") }
    return members.last { $0.key == name }.map { AnswerValue($0.node.value, path: place(name)) }
  }

  private func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  /// The value as a string.
  public var text: String {
    get throws(Mistake) {
      guard case .text(let text) = value else { throw unexpected("a text") }
      return text
    }
  }

  /// The value as a whole number. It may be written with a zero fraction.
  public var wholeNumber: Int {
    get throws(Mistake) {
      guard case .number(let digits) = value else { throw unexpected("a whole number") }
      guard let number = Int(digits) ?? Double(digits).flatMap(Int.init(exactly:)) else {
        throw mistake("is not a whole number, or is too large")
      }
      return number
    }
  }

  /// The value as a number, rounded to the nearest `Double`.
  public var number: Double {
    get throws(Mistake) {
      guard case .number(let digits) = value else { throw unexpected("a number") }
      guard let number = Double(digits), number.isFinite else { throw mistake("is too large") }
      return number
    }
  }

  /// The value as true or false.
  public var boolean: Bool {
    get throws(Mistake) {
      guard case .boolean(let flag) = value else { throw unexpected("true or false") }
      return flag
    }
  }

  /// The value as a count: zero or more.
  public var count: Int {
    get throws(Mistake) {
      let number = try wholeNumber
      if number < 0 { throw mistake("is negative") }
      return number
    }
  }

  /// The value as a list.
  public var elements: [AnswerValue] {
    get throws(Mistake) {
      guard case .array(let nodes) = value else { throw unexpected("a list") }
      return nodes.enumerated().map { index, node in AnswerValue(node.value, path: "\(path)[\(index)]") }
    }
  }

  /// The members of an object whose names are not known, in the order of the answer.
  public var members: [(name: String, value: AnswerValue)] {
    get throws(Mistake) {
      guard case .object(let members) = value else { throw unexpected("an object") }
      return members.map { ($0.key, AnswerValue($0.node.value, path: place($0.key))) }
    }
  }

  private func unexpected(_ noun: String) -> Mistake {
    if case .null = value { return mistake("is null") }
    return mistake("is not \(noun)")
  }
}

/// Recognises the HTML pages that servers and proxies send instead of answers.
package enum HTMLPage {
  /// Whether `response` is labelled as HTML, or looks like it.
  package static func isIn(_ response: HTTPResponse) -> Bool {
    let type = response.mediaType
    return type == "text/html" || type == "application/xhtml+xml" || beginsLikeOne(response.body)
  }

  private static func beginsLikeOne(_ body: [UInt8]) -> Bool {
    let start = body.prefix(256).drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }.prefix(16)
    let text = String(decoding: start, as: UTF8.self).lowercased()
    return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
  }
}

extension HTTPResponse {
  /// The body's media type in lower case, without parameters; `nil` if the header does not give one.
  package var mediaType: String? {
    guard let type = head.fields["content-type"]?.prefix(while: { $0 != ";" && $0 != "," }) else { return nil }
    return FieldList.trimmed(type).lowercased()
  }
}
