internal import Base

/// A value in the JSON of an origin's answer, which knows its place in it.
struct AnswerValue {
  /// What is wrong with an answer: a sentence without a full stop that begins with the place.
  struct Mistake: Error {
    let text: String
  }

  private let value: JSONDocument.Value
  /// The names and indices on the way to it; empty for the whole.
  private let path: String

  /// The whole of an answer.
  init(_ document: JSONDocument) { self.init(document.root.value, path: "") }

  private init(_ value: JSONDocument.Value, path: String) {
    self.value = value
    self.path = path
  }

  /// The mistake that this value `is`, as in "is negative".
  func mistake(_ what: String) -> Mistake { Mistake(text: "\(path.isEmpty ? "the whole" : "'\(path)'") \(what)") }

  /// The mistake that there is no member `name`.
  func missing(_ name: String) -> Mistake { Mistake(text: "'\(place(name))' is missing") }

  /// The member `name`, which there must be, and may be null.
  func member(_ name: String) throws(Mistake) -> AnswerValue {
    guard let member = try anyMember(name) else { throw missing(name) }
    return member
  }

  /// The member `name`; `nil` where there is none, or it is null.
  func optionalMember(_ name: String) throws(Mistake) -> AnswerValue? {
    guard let member = try anyMember(name) else { return nil }
    if case .null = member.value { return nil }
    return member
  }

  private func anyMember(_ name: String) throws(Mistake) -> AnswerValue? {
    guard case .object(let members) = value else { throw unexpected("an object") }
    return members.last { $0.key == name }.map { AnswerValue($0.node.value, path: place(name)) }
  }

  private func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  /// The text that it is.
  var text: String {
    get throws(Mistake) {
      guard case .text(let text) = value else { throw unexpected("a text") }
      return text
    }
  }

  /// The whole number that it is, which may be written with a fraction of zero.
  var wholeNumber: Int {
    get throws(Mistake) {
      guard case .number(let digits) = value else { throw unexpected("a whole number") }
      guard let number = Int(digits) ?? Double(digits).flatMap(Int.init(exactly:)) else {
        throw mistake("is not a whole number, or is too large")
      }
      return number
    }
  }

  /// The number of things that it is: zero or more.
  var count: Int {
    get throws(Mistake) {
      let number = try wholeNumber
      if number < 0 { throw mistake("is negative") }
      return number
    }
  }

  /// The elements of the list that it is.
  var elements: [AnswerValue] {
    get throws(Mistake) {
      guard case .array(let nodes) = value else { throw unexpected("a list") }
      return nodes.enumerated().map { index, node in AnswerValue(node.value, path: "\(path)[\(index)]") }
    }
  }

  private func unexpected(_ noun: String) -> Mistake {
    if case .null = value { return mistake("is null") }
    return mistake("is not \(noun)")
  }
}
