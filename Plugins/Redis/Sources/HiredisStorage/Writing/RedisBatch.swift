internal import StorageSPI
internal import Synchronization

/// A batch in the server's form: the state that must hold before, and the state to reach, with each key once.
///
/// It resolves here what an operation requires of earlier operations in the batch.
struct RedisBatch: Sendable {
  enum Change: Sendable {
    case put(payload: [UInt8], EntryMetadata)
    case remove

    /// The size of the payload to store.
    var payloadBytes: Int {
      if case .put(let payload, _) = self { payload.count } else { 0 }
    }
  }

  private(set) var requirements: [(key: CacheKey, expectation: WriteBatch.Expectation)] = []
  private(set) var changes: [CacheKey: Change] = [:]
  let bounds: StoreBounds?

  /// The most that a batch may store: a server accepts 1 GiB per command, including everything else in it.
  static let maximumBatchBytes = 960 << 20

  /// - Parameter kept: the entries whose metadata is to be updated. Their payloads are put again, if they are still the same
  ///   then.
  /// - Throws: `CacheError`: `conflict` if a requirement can never hold, whatever the server contains; `tooLarge`.
  init(_ batch: WriteBatch, keeping kept: [CacheKey: RedisStoredEntry] = [:]) throws(CacheError) {
    bounds = batch.bounds
    for operation in batch.operations {
      switch operation {
      case .put(let key, let payload, let metadata):
        guard payload.count <= RedisEntry.maximumLength else { throw .tooLarge(key) }
        changes[key] = .put(payload: payload, metadata)
      case .update(let key, let metadata, let checksum):
        try require(key, .checksum(checksum))
        if case .put(let payload, _)? = changes[key] {
          changes[key] = .put(payload: payload, metadata)
          continue
        }
        guard let found = kept[key], found.metadata.checksum == checksum else { throw .conflict(on: key) }
        changes[key] = .put(payload: found.payload, metadata)
      case .remove(let key): changes[key] = .remove
      case .require(let key, let expectation): try require(key, expectation)
      }
    }
    guard payloadBytes <= Self.maximumBatchBytes else { throw .batchTooLarge(payloadBytes) }
  }

  /// The size of all payloads to store.
  var payloadBytes: Int { changes.values.reduce(0) { $0 + $1.payloadBytes } }

  /// An empty batch without bounds.
  init() { bounds = nil }

  /// A batch that removes an entry with this checksum.
  init(removing key: CacheKey, withChecksum checksum: UInt64) {
    self.init()
    requirements = [(key, .checksum(checksum))]
    changes[key] = .remove
  }

  /// Splits the batch by the store's parts, each without bounds. Cost: computes the slot of each key once.
  func parts(_ layout: RedisLayout) -> [Int: RedisBatch] {
    var parts: [Int: RedisBatch] = [:]
    for requirement in requirements {
      parts[layout.part(of: requirement.key), default: RedisBatch()].requirements.append(requirement)
    }
    for (key, change) in changes { parts[layout.part(of: key), default: RedisBatch()].changes[key] = change }
    return parts
  }

  /// The part that all of the batch is about; `nil` if it is about several.
  func part(_ layout: RedisLayout) -> Int? {
    if !layout.isSpread { return 0 }
    let parts = Set(requirements.map { layout.part(of: $0.key) } + changes.keys.map { layout.part(of: $0) })
    return parts.count == 1 ? parts.first : nil
  }

  private mutating func require(_ key: CacheKey, _ expectation: WriteBatch.Expectation) throws(CacheError) {
    switch changes[key] {
    case nil: requirements.append((key, expectation))
    case .remove: if !expectation.isMet(by: nil) { throw .conflict(on: key) }
    case .put(_, let metadata): if !expectation.isMet(by: metadata) { throw .conflict(on: key) }
    }
  }

  var isEmpty: Bool { requirements.isEmpty && changes.isEmpty }

  /// The most by which the batch can make a store grow outside the namespace `exempt`.
  func growth(except exempt: String?) -> SlotTally.Count {
    changes.reduce(SlotTally.Count()) { sum, change in
      guard case .put = change.value, change.key.namespace != exempt else { return sum }
      return sum + SlotTally.Count(entries: 1, payloadBytes: change.value.payloadBytes)
    }
  }
}

extension CacheError {
  /// The error for an entry that no server takes.
  static func tooLarge(_ key: CacheKey) -> CacheError {
    CacheError(
      .tooLarge, "entry \(key) is larger than the 512 MiB that a Redis server takes", hint: "do not cache it")
  }

  fileprivate static func batchTooLarge(_ size: Int) -> CacheError {
    CacheError(
      .tooLarge, "a batch of \(size) bytes is larger than what a Redis server takes at once",
      hint: "put the entries in several batches")
  }
}

/// The name of a batch: a writer, which has one batch under way, and the number of that.
struct RedisBatchName: Sendable {
  let writer: String
  let number: UInt64
}

/// The writers of this handle without a batch under way. A server remembers the latest batch of each writer, so that it
/// remembers one for each concurrent call rather than one for each batch.
///
/// The writer of a batch with an unknown outcome never comes back: the server may still get the batch.
final class RedisWriters: Sendable {
  private let names = Mutex<[RedisBatchName]>([])

  /// A name for the next batch.
  func next() -> RedisBatchName {
    let former = names.withLock { $0.popLast() }
    return RedisBatchName(
      writer: former?.writer ?? String(UInt64.random(in: 0 ... .max), radix: 36), number: (former?.number ?? 0) + 1)
  }

  /// Records that the server has answered `application`, and that it will not get a copy of it any more.
  func settle(_ application: RedisApplication) {
    if let name = application.name { names.withLock { $0.append(name) } }
  }
}
