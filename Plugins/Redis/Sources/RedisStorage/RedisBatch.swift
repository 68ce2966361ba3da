internal import StorageSPI

/// A batch as a server takes it: what must be so before, and what is to be there afterwards, each key once.
///
/// What operations of the batch require of earlier ones is judged here.
struct RedisBatch: Sendable {
  enum Change: Sendable {
    case put(payload: [UInt8], EntryMetadata)
    case remove

    /// The size of the payload that is put.
    var payloadBytes: Int {
      if case .put(let payload, _) = self { payload.count } else { 0 }
    }
  }

  private(set) var requirements: [(key: CacheKey, expectation: WriteBatch.Expectation)] = []
  private(set) var changes: [CacheKey: Change] = [:]
  let bounds: StoreBounds?

  /// The largest payload: what a server takes as one string, unless it is told otherwise.
  static let maximumPayloadBytes = 512 << 20
  /// The most that a batch may put: a server takes 1 GiB in one command, all else of it included.
  static let maximumBatchBytes = 960 << 20

  /// - Throws: `StorageError`: `conflict` where a requirement does not hold whatever is on the server, `tooLarge`.
  init(_ batch: WriteBatch) throws(StorageError) {
    bounds = batch.bounds
    for operation in batch.operations {
      switch operation {
      case .put(let key, let payload, let metadata):
        guard payload.count <= Self.maximumPayloadBytes else { throw .tooLarge(key) }
        changes[key] = .put(payload: payload, metadata)
      case .remove(let key): changes[key] = .remove
      case .require(let key, let expectation): try require(key, expectation)
      }
    }
    let size = changes.values.reduce(0) { $0 + $1.payloadBytes }
    guard size <= Self.maximumBatchBytes else { throw .batchTooLarge(size) }
  }

  /// A batch without bounds that changes nothing.
  private init() { bounds = nil }

  /// The batch by the parts of the store that it concerns, each without bounds. Cost: the slot of each key is computed
  /// once.
  func parts(_ layout: RedisLayout) -> [Int: RedisBatch] {
    var parts: [Int: RedisBatch] = [:]
    for requirement in requirements {
      parts[layout.part(of: requirement.key), default: RedisBatch()].requirements.append(requirement)
    }
    for (key, change) in changes { parts[layout.part(of: key), default: RedisBatch()].changes[key] = change }
    return parts
  }

  private mutating func require(_ key: CacheKey, _ expectation: WriteBatch.Expectation) throws(StorageError) {
    switch changes[key] {
    case nil: requirements.append((key, expectation))
    case .remove: if !expectation.isMet(by: nil) { throw .conflict(on: key) }
    case .put(_, let metadata): if !expectation.isMet(by: metadata) { throw .conflict(on: key) }
    }
  }

  var isEmpty: Bool { requirements.isEmpty && changes.isEmpty }
}

extension StorageError {
  fileprivate static func tooLarge(_ key: CacheKey) -> StorageError {
    StorageError(
      .tooLarge, "entry \(key) is larger than the 512 MiB that a Redis server takes", hint: "do not cache it")
  }

  fileprivate static func batchTooLarge(_ size: Int) -> StorageError {
    StorageError(
      .tooLarge, "a batch of \(size) bytes is larger than what a Redis server takes at once",
      hint: "put the entries in several batches")
  }
}
