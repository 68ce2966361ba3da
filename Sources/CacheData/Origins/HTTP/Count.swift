/// A whole number of things: zero or more.
struct Count: Decodable, Sendable, Hashable {
  let value: Int

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    value = try container.decode(Int.self)
    if value < 0 { throw DecodingError.dataCorruptedError(in: container, debugDescription: "a negative count") }
  }
}
