public import EngineAPI

/// The URL that the key of an entry names.
public struct StoredURL: Sendable, Hashable {
  /// The URL in the form of `HTTP.Request.normalizedURL`; the beginning of one that is too long for a key, and an ellipsis.
  public let text: String
  /// Whether `text` is all of it.
  public let isWhole: Bool
  /// The name of the entry among those for the URL; `nil` for the one that a lookup reads first.
  public let variant: String?

  /// The URL in `key`; `nil` if it is not the key of a response for a URL. Cost: one pass over the key.
  public init?(_ key: CacheKey) { self.init(key: key.text) }

  init?(key: String) {
    guard key.utf8.starts(with: URLResponses.urlStart.utf8) else { return nil }
    let rest = key.utf8.dropFirst(URLResponses.urlStart.utf8.count)
    let name = rest.prefix { $0 != UInt8(ascii: ",") }
    guard rest[name.endIndex...].starts(with: URLResponses.variantStart.utf8) else { return nil }
    let variant = String(Substring(rest[name.endIndex...].dropFirst(URLResponses.variantStart.utf8.count)))
    self.variant = variant == URLResponses.usualVariant ? nil : variant
    let beginning = name.prefix { $0 != URLResponses.digestStart }
    isWhole = beginning.count == name.count
    let decoded = String(decoding: PercentEncoding.decoded(Substring(beginning)), as: UTF8.self)
    text = isWhole ? decoded : decoded + "…"
  }

  /// The prefix of the keys of all URLs that begin with `text`.
  public static func keyPrefix(ofBeginning text: String) -> String {
    URLResponses.urlStart + PercentEncoding.text(spelled(text))
  }

  /// `text`, the beginning of a URL or a pattern for URLs, with characters and host spelled as in stored URLs. After a star
  /// the case stays: only the text before it is surely the scheme and the host.
  public static func spelled(_ text: String) -> String {
    var bytes = Array(PercentEncoding.normalized(PercentEncoding.ascii(Array(text.utf8))).utf8)
    guard text.holds("://") else { return String(decoding: bytes, as: UTF8.self) }
    var slashes = 0
    for index in bytes.indices where slashes < 3 {
      if bytes[index] == UInt8(ascii: "*") { break }
      if bytes[index] == UInt8(ascii: "/") { slashes += 1 }
      if UInt8(ascii: "A")...UInt8(ascii: "Z") ~= bytes[index] { bytes[index] |= 0x20 }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension EntryMetadata {
  /// The header fields of requests by which the response was selected among those for its URL, in lower case, each once. A
  /// selector without names can still have a digest: that of credentials or of another server.
  package var selectingFields: [String] { selector.names.filter { $0 != "*" } }

  /// The attributes that tell the responses for a URL apart.
  var namingAttributes: [String: String] {
    var attributes: [String: String] = [:]
    for name in [AttributeName.selector, AttributeName.variants] { attributes[name] = attribute(named: name) }
    return attributes
  }

  /// The number of responses that a signpost lists; `nil` if this is a response.
  package var variantCount: Int? {
    attribute(named: AttributeName.variants).map { $0.utf8.count { $0 == UInt8(ascii: ",") } + 1 }
  }
}
