public import FetchVocabulary
internal import ResponseStorage
internal import StorageSPI

/// Encodes and decodes pages of movies as the cache does, to measure the cost.
public struct MoviesPageCoding: Sendable {
  private let codec = PayloadCodec<MoviesPageDTO>.json
  private let key: CacheKey
  private let metadata = EntryMetadata(
    storedAt: Timestamp(milliseconds: 0), freshUntil: .distantFuture, retainUntil: .distantFuture,
    contentType: "application/json")

  /// Creates the coding.
  ///
  /// - Throws: `CacheError` if no key can be made for movies.
  public init() throws(CacheError) {
    key = try CacheKey("\(MoviesRequestDTO.resource)/page")
  }

  /// Makes the payload that `EngineMoviesResponseStorage` stores for `page`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer` if the page cannot be encoded.
  public func encode(_ page: MoviesPageDTO) throws(CacheError) -> [UInt8] { try codec.encode(page).payload }

  /// Decodes the page in `payload`, as a hit does.
  ///
  /// - Throws: `CacheError` with the code `damaged` if `payload` is not such a page.
  public func decode(_ payload: Span<UInt8>) throws(CacheError) -> MoviesPageDTO {
    try codec.decode(payload, key, metadata)
  }
}
