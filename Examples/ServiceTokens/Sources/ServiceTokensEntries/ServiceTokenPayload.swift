internal import CacheCore
internal import EngineAPI

/// How a token is written into its entry. Its end is that of the entry.
struct ServiceTokenPayload {
  let name: String
  let value: String
}

extension ServiceTokenPayload: JSONPayload {
  init(json: inout JSONReader) throws(JSONReader.Failure) {
    var (name, value) = (String?.none, String?.none)
    try json.object { json, member throws(JSONReader.Failure) in
      switch member {
      case "name": name = try json.string()
      case "value": value = try json.string()
      default: try json.skipValue()
      }
    }
    self.init(name: try json.required(name, "name"), value: try json.required(value, "value"))
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member("value", value)
    }
  }
}
