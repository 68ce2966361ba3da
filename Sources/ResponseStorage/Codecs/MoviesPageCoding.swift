public import CacheData
public import CacheDomain
public import StorageSPI

/// Writes and reads pages of movies as the cache does, for those who measure what that costs.
public struct MoviesPageCoding: Sendable {
  private let codec = PayloadCodec<MoviesPageDTO>.json
  private let key: CacheKey
  private let metadata = EntryMetadata(
    storedAt: Timestamp(milliseconds: 0), freshUntil: .distantFuture, retainUntil: .distantFuture,
    contentType: "application/json")

  /// - Throws: `CacheError` where there can be no key of movies.
  public init() throws(CacheError) {
    do throws(StorageError) { key = try CacheKey("\(MoviesRequestDTO.resource)/page") } catch {
      throw CacheError(error)
    }
  }

  /// The payload that `EngineMoviesResponseStorage` stores for `page`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer` where the page cannot be written.
  public func encode(_ page: MoviesPageDTO) throws(CacheError) -> [UInt8] { try codec.encode(page).payload }

  /// The page that `payload` was made of, decoded as it is on a hit.
  ///
  /// - Throws: `StorageError` with the code `damaged` where it is no such payload.
  public func decode(_ payload: Span<UInt8>) throws(StorageError) -> MoviesPageDTO {
    try codec.decode(payload, key, metadata)
  }
}
