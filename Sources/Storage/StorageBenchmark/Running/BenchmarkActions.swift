public import StorageSPI

/// The parts of workloads that this layer does not know: how records are decoded, and how the cache fetches.
public struct BenchmarkActions: Sendable {
  /// Makes a fetcher through a cache over a store that was just opened. The fetcher is used until the store is closed.
  public typealias MakeFetcher = @Sendable (any StorageEngine) async throws(CacheError) -> any BenchmarkFetcher

  /// The records for workloads with the payload `typed`; `nil` skips these workloads.
  public var typed: TypedPayload?
  /// Makes the fetcher for workloads with the payload `fetched`; `nil` skips these workloads.
  public var makeFetcher: MakeFetcher?
  /// Makes the reader for workloads with the payload `kept`; `nil` skips these workloads.
  public var makeReader: MakeFetcher?

  /// The actions; without them, workloads that need them are skipped.
  public init(typed: TypedPayload? = nil, makeFetcher: MakeFetcher? = nil, makeReader: MakeFetcher? = nil) {
    (self.typed, self.makeFetcher, self.makeReader) = (typed, makeFetcher, makeReader)
  }

  /// The closure that makes the fetcher for `payload`; `nil` if there is none.
  func fetcher(of payload: Workload.Payload) -> MakeFetcher? {
    switch payload {
    case .bytes, .typed: nil
    case .fetched: makeFetcher
    case .kept: makeReader
    }
  }
}

/// Records of some type, such as pages of movies, for a benchmark to store and decode.
public struct TypedPayload: Sendable {
  /// The encoded record of the entry with the given number, from 0. The same number always gives the same record.
  public let encode: @Sendable (Int) throws(CacheError) -> [UInt8]

  /// Decodes the bytes of the entry with the given number, and says whether they are the record that was encoded. This
  /// work is measured: it should do little besides decoding.
  public let isRight: @Sendable (Int, Span<UInt8>) throws(CacheError) -> Bool

  /// The records that these functions encode and check.
  public init(
    encode: @escaping @Sendable (Int) throws(CacheError) -> [UInt8],
    isRight: @escaping @Sendable (Int, Span<UInt8>) throws(CacheError) -> Bool
  ) {
    (self.encode, self.isRight) = (encode, isRight)
  }
}

/// Fetches through a cache over one store.
public protocol BenchmarkFetcher: Sendable {
  /// Fetches the resource with the given number, from 0 up to the workload's number of entries: from the store if it is
  /// there, otherwise from its origin, and then stores it. Any number of tasks call it concurrently.
  ///
  /// - Returns: whether the answer was correct and came from the expected place.
  func fetch(_ number: Int, isStored: Bool) async throws(CacheError) -> Bool
}
