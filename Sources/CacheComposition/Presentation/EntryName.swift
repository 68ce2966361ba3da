internal import Base
internal import CacheData
internal import CacheDomain
internal import ResponseStorage
internal import StorageSPI

/// What a user names an entry by.
enum EntryName {
  /// The key.
  case key(CacheKey)
  /// The URL whose answers are meant, in its normal form.
  case url(String)

  /// The name in an argument. No key has a colon.
  ///
  /// - Throws: `CacheError`: it is neither a key nor a URL of a web server.
  init(_ argument: String) throws(CacheError) {
    if argument.holds("://") {
      self = .url(try HTTPRequest.normalizedURL(argument))
    } else {
      self = .key(try CacheKey(argument: argument))
    }
  }

  /// The name as messages have it.
  var text: String {
    switch self {
    case .key(let key): key.text
    case .url(let url): url
    }
  }

  /// How many keys an error names.
  private static let maximumNamed = 10

  /// That one entry is asked for and `keys` are those of several.
  func ambiguity(_ keys: [CacheKey]) -> CacheError {
    let names = keys.prefix(Self.maximumNamed).map(\.text) + (keys.count > Self.maximumNamed ? ["..."] : [])
    return CacheError(
      .invalidRequest, "\(text) has \(keys.count) entries, for requests that differ in their header fields",
      hint: "name one by its key: \(names.joined(separator: ", "))")
  }
}

extension CacheKey {
  /// The key that a user typed.
  ///
  /// - Throws: `CacheError` with the code `invalidKey`.
  init(argument: String) throws(CacheError) {
    do throws(StorageError) { try self.init(argument) } catch { throw CacheError(error) }
  }
}
