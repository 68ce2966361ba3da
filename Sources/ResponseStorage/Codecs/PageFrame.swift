internal import StorageSPI

/// The members that every page has besides its items.
struct PageFrame {
  private(set) var page: Int?
  private(set) var totalPages: Int?
  private(set) var totalItems: Int?

  /// Reads the value of the member `name`, or skips it where it is none of these.
  mutating func read(_ name: String, _ json: inout JSONReader) throws(JSONReader.Failure) {
    switch name {
    case "page": page = try json.integer()
    case "totalPages": totalPages = try json.integer()
    case "totalItems": totalItems = try json.integer()
    default: try json.skipValue()
    }
  }
}
