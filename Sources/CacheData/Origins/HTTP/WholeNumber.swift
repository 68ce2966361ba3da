/// A whole number in an origin's answer.
struct WholeNumber: Decodable, Sendable, Hashable {
  let value: Int

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      value = try container.decode(Int.self)
    } catch let error as DecodingError {
      throw error
    } catch {
      // For a number that an `Int` cannot hold JSONDecoder throws an error without a place, as for text that is no JSON.
      throw AnswerMistake.error("is not a whole number, or is too large", at: decoder.codingPath)
    }
  }
}
