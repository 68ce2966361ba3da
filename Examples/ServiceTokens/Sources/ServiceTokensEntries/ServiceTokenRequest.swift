internal import CacheCore

/// What the key of a token's entry is made of: `servicetokens/v1/name=NAME`. The value is no part of it.
struct ServiceTokenRequest: CacheableRequest {
  static let resource = "servicetokens"

  let name: String

  var parameters: [(name: String, value: String)] { [("name", name)] }
}
