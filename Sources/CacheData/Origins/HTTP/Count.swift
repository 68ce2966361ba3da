/// A whole number of things: zero or more.
struct Count: Decodable, Sendable, Hashable {
  let value: Int

  init(from decoder: any Decoder) throws {
    value = try WholeNumber(from: decoder).value
    if value < 0 { throw AnswerMistake.error("is negative", at: decoder.codingPath) }
  }
}
