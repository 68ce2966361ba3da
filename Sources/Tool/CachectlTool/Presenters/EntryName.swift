internal import CacheBase
internal import CacheCore
internal import FetchVocabulary
internal import EngineAPI

/// How a user names an entry.
enum EntryName {
  /// The key.
  case key(CacheKey)
  /// A URL in the form of requests, for all its answers, and the same one with its dot segments (`--path-as-is`).
  case url(String, unresolved: String)

  /// The name in `argument`. A colon makes it a URL: no key contains one.
  ///
  /// - Throws: `CacheError`: it is neither a key nor a URL of a web server.
  init(_ argument: String) throws(CacheError) {
    if argument.holds("://") {
      self = .url(
        try HTTPRequest.normalizedURL(argument),
        unresolved: try HTTPRequest.normalizedURL(argument, keepingDots: true))
    } else {
      self = .key(try CacheKey(argument: argument))
    }
  }

  /// The name as shown in messages.
  var text: String {
    switch self {
    case .key(let key): key.text
    case .url(let url, _): url
    }
  }

  /// The maximum number of keys in an error message.
  private static let maximumNamed = 10

  /// The error that a name for one entry matches several, those under `keys`.
  func ambiguity(_ keys: [CacheKey]) -> CacheError {
    let names = keys.prefix(Self.maximumNamed).map(\.text) + (keys.count > Self.maximumNamed ? ["..."] : [])
    return CacheError(
      .invalidRequest, "\(text) has \(keys.count) entries, for requests that differ in their header fields",
      hint: "name one by its key: \(names.joined(separator: ", "))")
  }
}

extension CacheKey {
  /// The key typed by a user.
  ///
  /// - Throws: `CacheError` with the code `invalidKey`.
  init(argument: String) throws(CacheError) {
    try self.init(argument)
  }
}
