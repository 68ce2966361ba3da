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
      throw .invalidAnswer(origin, "an answer that is not understood: \(reason(error))")
    }
  }

  private static func withoutMark(_ body: [UInt8]) -> ArraySlice<UInt8> {
    body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing"
    case DecodingError.valueNotFound(_, let context): "\(path(context.codingPath)) is null"
    case DecodingError.typeMismatch(_, let context): "\(path(context.codingPath)) has another type"
    case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
      "\(path(context.codingPath)) has a value that it cannot have"
    default: "it is no JSON"
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
