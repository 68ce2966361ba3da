internal import Base
internal import CacheData
internal import FoundationEssentials
internal import ResponseCache
internal import ResponseStorage

/// A small value of a `Codable` type.
struct User: Codable, Sendable {
  static let keyPrefix = "user-"

  let id: Int
  var name = "Ann"

  /// The payload that the cache stores.
  var payload: [UInt8] { get throws { Array(try JSONEncoder().encode(self)) } }

  static func key(_ id: Int) -> String { "\(keyPrefix)\(id)" }

  /// Values with their keys: a program that measures a cache does not measure the making of texts.
  static func all(_ count: Int) -> [(value: User, key: String)] { (0..<count).map { (User(id: $0), key($0)) } }
}

/// A small value of a type that codes its own JSON.
struct JSONUser: Codable, JSONPayload {
  private static let names = JSONNames(["id"])

  let id: Int

  init(id: Int) { self.id = id }

  init(json: inout JSONReader) throws(JSONReader.Failure) {
    var id: Int?
    try json.object(Self.names) { json, member throws(JSONReader.Failure) in
      if member == 0 { id = try json.integer() } else { try json.skipValue() }
    }
    self.id = try json.required(id, "id")
  }

  func write(to json: inout JSONWriter) {
    json.object { $0.member("id", id) }
  }
}

/// A page of movies as a type that is only `Codable`.
struct CodablePage: Codable, Sendable {
  let page: MoviesPageDTO

  init(from decoder: any Decoder) throws { page = try MoviesPageDTO(from: decoder) }

  func encode(to encoder: any Encoder) throws { try page.encode(to: encoder) }
}
