import EngineAPI
import Synchronization

struct ListPlugin: StoragePlugin {
  let declaration = EngineDeclaration(
    name: "list", version: "1", summary: "an array in memory, gone when the process ends",
    capabilities: [.ordered, .bounded, .atomicBatches], options: [])

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    ListEngine(configuration.clock)
  }
}

final class ListEngine: StorageEngine {
  struct Record {
    let key: CacheKey
    var payload: [UInt8]
    var metadata: EntryMetadata
  }

  /// The records in the order of their keys; `nil` once the engine is closed.
  private let records = Mutex<[Record]?>([])
  private let clock: any WallClock

  init(_ clock: any WallClock) { self.clock = clock }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    guard let record = try open().first(where: { $0.key == key }) else { return nil }
    return try body(record.payload.span, record.metadata)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try records.withLock { records throws(CacheError) in
      guard var changed = records else { throw .storeClosed }
      for operation in batch.operations {
        switch operation {
        case .put(let key, let payload, let metadata):
          changed.removeAll { $0.key == key }
          changed.append(Record(key: key, payload: payload, metadata: metadata))
        case .update(let key, let metadata, let checksum):
          guard let place = changed.firstIndex(where: { $0.key == key && $0.metadata.checksum == checksum }) else {
            throw .conflict(on: key)
          }
          changed[place].metadata = metadata
        case .remove(let key): changed.removeAll { $0.key == key }
        case .require(let key, let expectation):
          let metadata = changed.first { $0.key == key }?.metadata
          guard expectation.isMet(byChecksum: metadata?.checksum) else { throw .conflict(on: key) }
        }
      }
      try batch.bounds?.require(count(changed))
      // Only now: a batch that fails changes nothing.
      records = changed.sorted { $0.key < $1.key }
    }
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    let all = try open()
    return try ScanPage(request) { page throws(CacheError) in
      for record in request.isDescending ? all.reversed() : all where request.contains(record.key) {
        let size = record.payload.count
        guard page.add(record.key, record.metadata, payloadBytes: size, payload: record.payload) else { return }
      }
    }
  }

  func count() async throws(CacheError) -> StoreCount {
    var count = count(try open())
    count.storageBytes = count.payloadBytes
    return count
  }

  func check() async throws(CacheError) -> [IntegrityIssue] {
    _ = try open()
    return []
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try records.withLock { records throws(CacheError) in
      guard let all = records else { throw .storeClosed }
      records = all.filter { $0.metadata.state(at: now) != .expired }
    }
  }

  func close() async throws(CacheError) { records.withLock { $0 = nil } }

  private func open() throws(CacheError) -> [Record] {
    guard let records = records.withLock({ $0 }) else { throw .storeClosed }
    return records
  }

  /// A real engine keeps the count in each batch's transaction, instead of counting.
  private func count(_ records: [Record]) -> StoreCount {
    var count = StoreCount()
    for record in records {
      count[record.key.namespace].add(
        payloadBytes: record.payload.count, retainUntil: record.metadata.retainUntil)
    }
    return count
  }
}
