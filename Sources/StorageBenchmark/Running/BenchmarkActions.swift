public import StorageSPI

/// What workloads need that this layer cannot know: how records are decoded, and how the cache fetches.
public struct BenchmarkActions: Sendable {
  /// Makes what fetches through a cache over a store that has just been opened, and is used until it is closed.
  public typealias MakeFetcher = @Sendable (any StorageEngine) async throws(StorageError) -> any BenchmarkFetcher

  /// The records of workloads whose payload is `typed`; without them such workloads are skipped.
  public var typed: TypedPayload?
  /// For workloads whose payload is `fetched`; without it such workloads are skipped.
  public var makeFetcher: MakeFetcher?
  /// For workloads whose payload is `kept`; without it such workloads are skipped.
  public var makeReader: MakeFetcher?

  /// Actions as given.
  public init(typed: TypedPayload? = nil, makeFetcher: MakeFetcher? = nil, makeReader: MakeFetcher? = nil) {
    (self.typed, self.makeFetcher, self.makeReader) = (typed, makeFetcher, makeReader)
  }

  /// What makes the fetcher of workloads whose payload is `payload`; `nil` if there is none.
  func fetcher(of payload: Workload.Payload) -> MakeFetcher? {
    switch payload {
    case .bytes, .typed: nil
    case .fetched: makeFetcher
    case .kept: makeReader
    }
  }
}

/// Records of some type, such as pages of movies, that a benchmark stores and decodes.
public struct TypedPayload: Sendable {
  /// The encoded record of the entry with the given number, from 0; always the same for the same number.
  public let encode: @Sendable (Int) throws(StorageError) -> [UInt8]

  /// Decodes the bytes of the entry with the given number, and says whether the record is what was encoded. It is the
  /// work that is measured: what it does besides decoding should be little.
  public let isRight: @Sendable (Int, Span<UInt8>) throws(StorageError) -> Bool

  /// Records as given.
  public init(
    encode: @escaping @Sendable (Int) throws(StorageError) -> [UInt8],
    isRight: @escaping @Sendable (Int, Span<UInt8>) throws(StorageError) -> Bool
  ) {
    (self.encode, self.isRight) = (encode, isRight)
  }
}

/// Fetches through a cache over one store.
public protocol BenchmarkFetcher: Sendable {
  /// Fetches the resource with the given number, from 0 up to the workload's entries: out of the store where it is
  /// there, else from its origin, and then stores it. Any number of tasks call it at once.
  ///
  /// - Returns: whether the answer was right, and came from where it had to.
  func fetch(_ number: Int, isStored: Bool) async throws(StorageError) -> Bool
}
