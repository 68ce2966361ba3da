internal import CacheCore

/// The request from which the key of a token's entry is derived: `servicetokens/v1/name=NAME`. The value is not part of
/// it.
struct ServiceTokenRequest: CacheableRequest {
  static let resource = "servicetokens"

  let name: String

  var parameters: [(name: String, value: String)] { [("name", name)] }
}
