internal import Base
internal import Spelling
internal import StorageSPI

/// An object of a file, perhaps written by hand, whose members are read by key. Every mistake names its place.
struct FileObject {
  /// A value that may be wrong.
  struct Value {
    let file: String
    /// The keys on the path to the value, joined by full stops.
    let path: String
    let node: JSONDocument.Node

    func error(_ what: String, hint: String) -> CacheError {
      .mistake(in: file, at: node.place, what, hint: hint)
    }

    func outOfRange(_ allowed: String) -> CacheError {
      error("\(path) is \(node.value.noun) that is not allowed", hint: "write \(allowed)")
    }

    func wrongType(_ expected: String) -> CacheError {
      error("\(path) is \(node.value.noun)", hint: "write \(expected)")
    }
  }

  private let object: Value
  private let members: [JSONDocument.Member]

  /// The object in `value`.
  ///
  /// - Parameter known: the allowed keys; `nil` to ignore unknown keys.
  init(_ value: Value, known: [String]? = nil) throws(CacheError) {
    guard case .object(let members) = value.node.value else { throw value.wrongType("an object") }
    (object, self.members) = (value, members)
    guard let known, let unknown = members.first(where: { !known.contains($0.key) }) else { return }
    throw Self.unknownKey(unknown, in: value, known)
  }

  /// The root of the JSON text `bytes`.
  static func root(of bytes: [UInt8], file: String) throws(CacheError) -> Value {
    do { return Value(file: file, path: "the file", node: try JSONDocument(parsing: bytes).root) } catch {
      throw .mistake(in: file, at: error.place, error.message, hint: "write the file in JSON")
    }
  }

  /// The keys, in the order of the file.
  var keys: [String] { members.map(\.key) }

  /// The value of `key`; `nil` if there is none, or it is null.
  func value(_ key: String) -> Value? {
    guard let member = members.first(where: { $0.key == key }) else { return nil }
    if case .null = member.node.value { return nil }
    let path = object.path.hasPrefix("the ") ? key : "\(object.path).\(key)"
    return Value(file: object.file, path: path, node: member.node)
  }

  /// The value of `key`, which is required.
  func required(_ key: String) throws(CacheError) -> Value {
    if let value = value(key) { return value }
    throw object.error("\(object.path) has no \(JSONString.quoted(key))", hint: "add it")
  }

  private static func unknownKey(
    _ member: JSONDocument.Member, in value: Value, _ known: [String]
  ) -> CacheError {
    let nearest = Spelling.nearest(to: member.key, among: known)
    let hint = nearest.map { "the nearest known key is '\($0)'" } ?? "remove it"
    return .mistake(
      in: value.file, at: member.place, "\(value.path) has the unknown key \(JSONString.quoted(member.key))",
      hint: "\(hint); known here: \(known.joined(separator: ", "))")
  }
}

extension FileObject.Value {
  /// The text of this value.
  func text() throws(CacheError) -> String {
    guard case .text(let text) = node.value else { throw wrongType("a text") }
    return text
  }

  /// The boolean of this value.
  func boolean() throws(CacheError) -> Bool {
    guard case .boolean(let flag) = node.value else { throw wrongType("true or false") }
    return flag
  }

  /// The whole number of this value.
  func integer(in range: ClosedRange<Int> = 0...Int.max) throws(CacheError) -> Int {
    try number("a whole number", in: range)
  }

  /// The number of this value.
  func number(in range: ClosedRange<Double> = 0...Double.greatestFiniteMagnitude) throws(CacheError) -> Double {
    try number("a number", in: range)
  }

  private func number<Number: LosslessStringConvertible>(
    _ noun: String, in range: ClosedRange<Number>
  ) throws(CacheError) -> Number {
    let allowed = "\(noun) from \(range.lowerBound) to \(range.upperBound)"
    guard case .number(let digits) = node.value else { throw wrongType(allowed) }
    guard let number = Number(digits), range.contains(number) else { throw outOfRange(allowed) }
    return number
  }

  /// The elements of this list.
  func list() throws(CacheError) -> [FileObject.Value] {
    guard case .array(let nodes) = node.value else { throw wrongType("a list") }
    return nodes.indices.map { FileObject.Value(file: file, path: "\(path)[\($0)]", node: nodes[$0]) }
  }

  /// The case of `Choice` that this value names.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ type: Choice.Type
  ) throws(CacheError) -> Choice where Choice.RawValue == String {
    let names = Choice.allCases.map(\.rawValue)
    let text = try text()
    if let choice = Choice(rawValue: text) { return choice }
    throw unknownName(text, names)
  }

  /// The error that the value `name` is not one of `names`.
  func unknownName(_ name: String, _ names: [String]) -> CacheError {
    let nearest = Spelling.nearest(to: name, among: names).map { "; the nearest is '\($0)'" } ?? ""
    return error(
      "\(path) is \(JSONString.quoted(name)), which is unknown",
      hint: "write one of \(names.joined(separator: ", "))\(nearest)")
  }
}

extension CacheError {
  /// A mistake in a file that the user named. The message begins with the file and the place.
  fileprivate static func mistake(in file: String, at place: SourcePlace, _ what: String, hint: String) -> Self {
    CacheError(.malformed, "\(file):\(place): \(what)", hint: hint)
  }
}
