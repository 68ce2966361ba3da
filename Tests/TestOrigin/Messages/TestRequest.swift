import Foundation

/// A request that a server received.
public struct TestRequest: Sendable, Hashable {
  /// The method, such as "GET".
  public let method: String
  /// The target as it stood in the request line: path and query, percent-encoded.
  public let target: String
  /// The header fields.
  public let fields: TestFields
  /// The content, without the chunks that it came in.
  public let body: [UInt8]

  /// The path, percent-encoded.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// The parameters of the query, decoded; of a repeated one the last value.
  public var query: [String: String] {
    guard let mark = target.firstIndex(of: "?") else { return [:] }
    let pairs = target[target.index(after: mark)...].split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
    }
    return Dictionary(pairs) { $1 }
  }

  private static func decoded(_ text: Substring) -> String {
    text.replacing("+", with: " ").removingPercentEncoding ?? String(text)
  }

  /// Whether the client takes content that is compressed by gzip.
  public var acceptsGzip: Bool { fields["Accept-Encoding"]?.contains("gzip") == true }
}
