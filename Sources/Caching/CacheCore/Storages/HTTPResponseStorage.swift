public import FetchVocabulary

/// Stores responses to GET requests by URL: several for one URL if they differ by `Vary`.
public protocol HTTPResponseStorage: Sendable {
  /// The stored responses for `url` that may still be used, without their content.
  ///
  /// - Throws: `CacheError`: the storage failed; `invalidRequest` if the URL is too long for a key.
  func variants(of url: String) async throws(CacheError) -> [StoredVariant]

  /// The stored response under `key`; `nil` if it is gone.
  ///
  /// - Throws: `CacheError`: the storage failed, or the entry is damaged (`damaged`).
  func response(under key: String) async throws(CacheError) -> StoredResponse<HTTPResponse>?

  /// Stores the content `body` with `head` for `url`, removes the entries under the keys `replaced`, and returns the
  /// new entry's key.
  ///
  /// - Parameter version: the version that the key's entry must still have; `nil` to store in any case.
  /// - Throws: `CacheError`: the storage failed; `conflict` if the entry has another version. After an error nothing
  ///   has changed.
  func store(
    _ body: [UInt8], head: StoredHead, for url: String, replacing replaced: [String], expecting version: UInt64?
  ) async throws(CacheError) -> String

  /// Gives the entry of `stored`, which its server has confirmed, the new `head`, which selects as before, without storing
  /// the content again, and removes the entries under the keys `replaced`.
  ///
  /// - Returns: `false` if the content must be stored again, and nothing has changed; the default always does.
  /// - Throws: `CacheError`: as `store(_:head:for:replacing:expecting:)`, with the version of `stored`.
  func renew(
    _ stored: StoredResponse<HTTPResponse>, head: StoredHead, replacing replaced: [String]
  ) async throws(CacheError) -> Bool

  /// Removes the entries under `keys`.
  ///
  /// - Throws: `CacheError`: the storage failed, and nothing has changed.
  func remove(_ keys: [String]) async throws(CacheError)

  /// Removes all responses for `urls`, which have changed. What is being fetched of them now is not stored.
  ///
  /// - Throws: `CacheError`: the storage failed.
  func invalidate(_ urls: [String]) async throws(CacheError)

  /// The key of the entry for `url` and `selector`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the key would be too long.
  func key(of url: String, selector: VariantSelector) throws(CacheError) -> String

  /// Counts a look-up as a hit on the entry under `key`, or, with `nil`, as a miss.
  func countLookUp(_ key: String?)

  /// This storage, whose next write also ends the lease of `flight`, in one commit. If the flight is outdated, the write
  /// fails with the code `conflict`. The default does neither.
  func ending(_ flight: FlightTicket?) -> Self

  /// This storage, whose next write fails with the code `conflict` if `flight` is outdated. The default does not.
  func during(_ flight: FlightTicket?) -> Self
}

extension HTTPResponseStorage {
  /// This storage as it is: other processes do not see its flights.
  public func ending(_ flight: FlightTicket?) -> Self { self }

  /// This storage as it is: it knows no flights.
  public func during(_ flight: FlightTicket?) -> Self { self }

  /// `false`: this storage stores responses whole.
  public func renew(
    _ stored: StoredResponse<HTTPResponse>, head: StoredHead, replacing replaced: [String]
  ) async throws(CacheError) -> Bool { false }

  /// Removes the stored responses; for a storage without flights.
  public func invalidate(_ urls: [String]) async throws(CacheError) {
    var keys: [String] = []
    for url in urls { keys += try await variants(of: url).map(\.key) }
    if !keys.isEmpty { try await remove(keys) }
  }
}

/// A stored response without its content.
public struct StoredVariant: Sendable, Hashable {
  /// The key of its entry.
  public let key: String
  /// What decides how the response may be used.
  public let head: StoredHead

  /// Creates a variant stored under `key`.
  public init(key: String, head: StoredHead) {
    self.key = key
    self.head = head
  }
}
