internal import CacheData

/// A coding of content that can be undone here (RFC 9110, section 8.4.1; RFC 8878).
enum ContentCoding: Sendable {
  case gzip
  /// The zlib format, or what it holds: servers send either.
  case deflate
  case zstd

  /// What a request says in `Accept-Encoding` to get them.
  static let accepted = "gzip, deflate, zstd"
  /// A server that applies more does it to keep the client busy: what is left stays as it is.
  private static let maximumCount = 4

  private init?(_ name: String) {
    switch name.lowercased() {
    case "gzip", "x-gzip": self = .gzip
    case "deflate": self = .deflate
    case "zstd": self = .zstd
    default: return nil
    }
  }

  /// The codings that `value`, a field `Content-Encoding`, names and that can be undone: that which was applied last
  /// first. `rest` is what is left of the field; `nil` where nothing is.
  static func undoable(_ value: String) -> (codings: [ContentCoding], rest: String?) {
    var names = FieldList.members(value).filter { $0.lowercased() != "identity" }
    var codings: [ContentCoding] = []
    while codings.count < maximumCount, let coding = names.last.flatMap({ ContentCoding(String($0)) }) {
      codings.append(coding)
      names.removeLast()
    }
    return (codings, names.isEmpty ? nil : names.joined(separator: ", "))
  }
}
