public import CacheDomain

/// Keeps responses to GET requests by their URLs, several for one URL where `Vary` tells them apart.
public protocol HTTPResponseStorage: Sendable {
  /// The stored responses for `url` that may still be used, without their contents.
  ///
  /// - Throws: `CacheError`: the storage failed; `invalidRequest` where the URL is too long to have an entry.
  func variants(of url: String) async throws(CacheError) -> [StoredVariant]

  /// Those of the stored responses for `url` that can be read: unlike `variants(of:)`, damaged ones are left out.
  ///
  /// - Throws: `CacheError`: as `variants(of:)`, but not `damaged`.
  func readableVariants(of url: String) async throws(CacheError) -> [StoredVariant]

  /// The stored response under `key`; `nil` where it is gone.
  ///
  /// - Throws: `CacheError`: the storage failed, or holds what it was not given (`damaged`).
  func response(under key: String) async throws(CacheError) -> StoredResponse<HTTPResponse>?

  /// Keeps the content `body` under `head` for `url`, removes what is stored under the keys `replaced`, and returns the
  /// new entry's key.
  ///
  /// - Parameter version: the version of what must still be stored under that key; `nil` for anything or nothing.
  /// - Throws: `CacheError`: the storage failed; `conflict` where another version is stored. What was kept before still
  ///   is.
  func store(
    _ body: [UInt8], head: StoredHead, for url: String, replacing replaced: [String], expecting version: UInt64?
  ) async throws(CacheError) -> String

  /// Removes what is stored under `keys`.
  ///
  /// - Throws: `CacheError`: the storage failed; what was kept before still is.
  func remove(_ keys: [String]) async throws(CacheError)

  /// The key of the entry for `url` that `selector` selects.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` where it would be too long.
  func key(of url: String, selector: VariantSelector) throws(CacheError) -> String

  /// Counts a look-up that found what is stored under `key`, or, with `nil`, nothing.
  func countLookUp(_ key: String?)
}

/// What is known of a stored response without its content.
public struct StoredVariant: Sendable, Hashable {
  /// The key of its entry.
  public let key: String
  /// What decides over its use.
  public let head: StoredHead

  /// A variant with the given parts.
  public init(key: String, head: StoredHead) {
    self.key = key
    self.head = head
  }
}
