/// What is wrong with a value in an origin's answer: the rest of a sentence that begins with the value's place.
struct AnswerMistake: Error {
  let text: String

  /// The error of a decoder that found the mistake `text` at the place where it is.
  static func error(_ text: String, at path: [any CodingKey]) -> DecodingError {
    .dataCorrupted(.init(codingPath: path, debugDescription: text, underlyingError: AnswerMistake(text: text)))
  }
}
