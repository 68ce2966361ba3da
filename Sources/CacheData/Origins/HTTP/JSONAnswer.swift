internal import CacheDomain
internal import FoundationEssentials

/// Reads the JSON in answers, and says where it is not what was expected. It quotes nothing of it.
enum JSONAnswer {
  /// The value in the body of `response`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer`.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from response: HTTPResponse, origin: String
  ) throws(CacheError) -> Value {
    if response.body.isEmpty { throw .invalidAnswer(origin, "an empty answer") }
    if HTMLPage.isIn(response) { throw .invalidAnswer(origin, "a page of HTML instead of JSON") }
    do {
      return try JSONDecoder().decode(type, from: Data(withoutMark(response.body)))
    } catch {
      throw .invalidAnswer(
        origin, "an answer that is not understood: \(reason(error))",
        hint: "check the base URL of this origin; where it is right, its server has to be mended")
    }
  }

  private static func withoutMark(_ body: [UInt8]) -> ArraySlice<UInt8> {
    body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing"
    case DecodingError.valueNotFound(_, let context): "\(path(context.codingPath)) is null"
    case DecodingError.typeMismatch(let type, let context): "\(path(context.codingPath)) is not \(name(of: type))"
    case DecodingError.dataCorrupted(let context) where context.underlyingError is AnswerMistake:
      "\(path(context.codingPath)) \(context.debugDescription)"
    case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
      "\(path(context.codingPath)) has a value that it cannot have"
    default: "it is not valid JSON"
    }
  }

  /// What JSON calls a value of `type`.
  private static func name(of type: Any.Type) -> String {
    switch type {
    case is String.Type: "a text"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "a whole number"
    case is any Sequence.Type where !(type is any ExpressibleByDictionaryLiteral.Type): "a list"
    default: "an object"
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    guard !keys.isEmpty else { return "the whole" }
    return "'"
      + keys.reduce("") { text, key in
        if let index = key.intValue { return "\(text)[\(index)]" }
        return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
      } + "'"
  }
}
