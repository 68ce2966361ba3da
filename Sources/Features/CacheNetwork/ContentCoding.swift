internal import CacheData

/// A content coding that this module can decode (RFC 9110, section 8.4.1; RFC 8878).
enum ContentCoding: Sendable {
  case gzip
  /// The zlib format, or raw deflate data: servers send both.
  case deflate
  case zstd

  /// The value of `Accept-Encoding` that asks for these codings.
  static let accepted = "gzip, deflate, zstd"
  /// How many codings to undo. A server that applies more only wants to keep the client busy: the rest stays.
  private static let maximumCount = 4

  private init?(_ name: String) {
    switch name.lowercased() {
    case "gzip", "x-gzip": self = .gzip
    case "deflate": self = .deflate
    case "zstd": self = .zstd
    default: return nil
    }
  }

  /// The codings in `value`, a `Content-Encoding` field, that can be undone, in that order: the last one applied comes
  /// first. `rest` is the remaining value of the field; `nil` if nothing remains.
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
