internal import CCachectlPlugin
internal import StorageSPI

/// An open store in the host's hands: the target of a `cachectl_store *`.
final class ExportedStore: Sendable {
  private let engine: any StorageEngine
  /// The engine, if its reads need no task.
  private let immediate: (any ImmediateReading)?
  /// The engine, if it follows changes.
  private let follower: (any ChangeFollowing)?
  private let host: HostCall

  private init(_ engine: any StorageEngine, _ host: HostCall) {
    self.engine = engine
    self.immediate = engine as? any ImmediateReading
    self.follower = engine.changeFollower
    self.host = host
  }

  /// Opens a store, which the host owns until `close`.
  static func open(
    _ configuration: UnsafePointer<cachectl_configuration>?, _ store: UnsafeMutablePointer<OpaquePointer?>?
  ) throws(CacheError) -> Int32 {
    let (plugin, host) = (try PluginExport.plugin(), HostCall(configuration))
    let configuration = try EngineConfiguration(configuration, for: plugin.declaration)
    let engine = try CallingThread.run(host) { () async throws(CacheError) in try await plugin.open(configuration) }
    store?.pointee = OpaquePointer(Unmanaged.passRetained(ExportedStore(engine, host)).toOpaque())
    return CACHECTL_OK.status
  }

  /// Inspects a store without opening it.
  static func inspect(
    _ configuration: UnsafePointer<cachectl_configuration>?, _ visitor: Visitor<cachectl_visit_inspection>
  ) throws(CacheError) -> Int32 {
    let plugin = try PluginExport.plugin()
    let host = HostCall(configuration)
    let configuration = try EngineConfiguration(configuration, for: plugin.declaration)
    let found = try CallingThread.run(host) { () async throws(CacheError) in try await plugin.inspect(configuration) }
    return found.lend { visitor.visit(visitor.context, $0) }
  }

  /// Removes a store, whatever its state, or moves it aside.
  static func remove(
    _ configuration: UnsafePointer<cachectl_configuration>?, _ suffix: UnsafePointer<CChar>?,
    _ visitor: Visitor<cachectl_visit_path>
  ) throws(CacheError) -> Int32 {
    let plugin = try PluginExport.plugin()
    let host = HostCall(configuration)
    let configuration = try EngineConfiguration(configuration, for: plugin.declaration)
    let suffix = suffix.map { String(cString: $0) }
    let moved = try CallingThread.run(host) { () async throws(CacheError) in
      try await plugin.removeStore(configuration, movingAside: suffix)
    }
    return firstFailure(moved) { $0.lend { visitor.visit(visitor.context, $0) } }
  }

  /// Closes a store and takes it back from the host.
  static func close(_ store: OpaquePointer?, _ failure: UnsafeMutablePointer<cachectl_failure>?) -> Int32 {
    defer { if let store { Unmanaged<ExportedStore>.fromOpaque(UnsafeRawPointer(store)).release() } }
    return call(store, failure) { store throws(CacheError) in
      let engine = store.engine
      try CallingThread.run(HostCall()) { () async throws(CacheError) in try await engine.close() }
      return CACHECTL_OK.status
    }
  }

  /// Calls `body` with the host's store, and reports its error. Counts no references.
  @inline(__always)
  static func call(
    _ store: OpaquePointer?, _ failure: UnsafeMutablePointer<cachectl_failure>?,
    _ body: (ExportedStore) throws(CacheError) -> Int32
  ) -> Int32 {
    guard let store else { return CacheError(.failed, "the store is missing").write(to: failure) }
    return Unmanaged<ExportedStore>.fromOpaque(UnsafeRawPointer(store))._withUnsafeGuaranteedRef { store in
      reporting(to: failure) { () throws(CacheError) in try body(store) }
    }
  }

  /// Reads an entry.
  static func read(
    _ store: OpaquePointer?, _ key: cachectl_bytes, _ visit: cachectl_visit_entry?, _ context: UnsafeMutableRawPointer?,
    _ failure: UnsafeMutablePointer<cachectl_failure>?
  ) -> Int32 {
    call(store, failure) { store throws(CacheError) in
      let visitor = try Visitor(visit, context)
      guard let immediate = store.immediate else { return try store.readWaiting(key, visitor) }
      var status = CACHECTL_OK.status
      _ = try immediate.readNow(keyBytes: key.buffer.span) { payload, metadata throws(CacheError) in
        status = payload.withUnsafeBufferPointer { visitor(key: key, payload: cachectl_bytes($0), metadata) }
      }
      return status
    }
  }

  /// Runs a call of the engine to its end.
  private func run<Output: Sendable>(
    _ call: @escaping @Sendable (any StorageEngine) async throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try CallingThread.run(host) { [engine] () async throws(CacheError) in try await call(engine) }
  }

  /// Reads in a task. It copies the entry: an engine may lend it on any thread, but the host wants it on this one.
  private func readWaiting(
    _ bytes: cachectl_bytes, _ visitor: Visitor<cachectl_visit_entry>
  ) throws(CacheError) -> Int32 {
    let key = CacheKey(trusting: bytes.buffer.span)
    let entry = try run { engine async throws(CacheError) in
      try await engine.read(key) { payload, metadata throws(CacheError) in
        (bytes: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      }
    }
    guard let entry else { return CACHECTL_OK.status }
    return entry.bytes.withUnsafeBufferPointer { visitor(key: bytes, payload: cachectl_bytes($0), entry.metadata) }
  }

  /// Reads several entries, one by one if the engine is not `BatchReading`.
  func read(
    _ keys: UnsafePointer<cachectl_bytes>?, _ count: Int, _ visitor: Visitor<cachectl_visit_one>
  ) throws(CacheError) -> Int32 {
    let keys = UnsafeBufferPointer(start: keys, count: keys == nil ? 0 : count).map {
      CacheKey(trusting: $0.buffer.span)
    }
    let results = try run { engine async throws(CacheError) in
      if let reader = engine.batchReader { return try await reader.read(keys) }
      return try await engine.readEach(keys)
    }
    return firstFailure(zip(keys, results).enumerated()) { index, found in
      visitor(index, key: found.0.text, found.1)
    }
  }

  /// What the engine knows of changes to an entry: 1 if there is a mark, 0 if there is none now, -1 if there never is.
  static func changeMark(
    _ store: OpaquePointer?, _ key: cachectl_bytes, _ number: UnsafeMutablePointer<UInt64>?,
    _ age: UnsafeMutablePointer<UInt64>?
  ) -> Int32 {
    guard let store else { return -1 }
    return Unmanaged<ExportedStore>.fromOpaque(UnsafeRawPointer(store))._withUnsafeGuaranteedRef { store in
      guard let follower = store.follower else { return -1 }
      guard key.length > 0, let mark = follower.changeMark(of: CacheKey(trusting: key.buffer.span)) else { return 0 }
      number?.pointee = mark.number
      // Rounded up: the engine must not seem to be sure of more than it is.
      age?.pointee = UInt64(clamping: (mark.age + .nanoseconds(999_999)).wholeMilliseconds)
      return 1
    }
  }

  /// Makes the changes of a batch.
  func apply(_ batch: UnsafePointer<cachectl_batch>?) throws(CacheError) -> Int32 {
    guard let batch else { throw CacheError(.failed, "the batch is missing") }
    let changes = try WriteBatch(batch.pointee)
    try run { engine async throws(CacheError) in try await engine.apply(changes) }
    return CACHECTL_OK.status
  }

  /// Makes the changes of a batch, and room for them by an order.
  func apply(
    _ batch: UnsafePointer<cachectl_batch>?, evicting order: UnsafePointer<CChar>?,
    _ evicted: UnsafeMutablePointer<UInt64>?
  ) throws(CacheError) -> Int32 {
    guard let batch, let order, let order = EvictionOrder(text: String(cString: order)) else {
      throw CacheError(.failed, "the batch is missing, or the order of eviction is unknown")
    }
    let (evictor, changes) = (try evictor(), try WriteBatch(batch.pointee))
    let count = try CallingThread.run(host) { () async throws(CacheError) in
      try await evictor.apply(changes, evicting: order)
    }
    evicted?.pointee = UInt64(clamping: count)
    return CACHECTL_OK.status
  }

  /// Adds uses to entries.
  func add(_ uses: UnsafePointer<cachectl_use>?, _ count: Int, _ size: Int) throws(CacheError) -> Int32 {
    var copies: [EntryUse] = []
    for index in 0..<count {
      // The host's uses may be longer than this version's.
      guard let use = UnsafeRawPointer(uses)?.advanced(by: index * size) else { break }
      let lent = use.assumingMemoryBound(to: cachectl_use.self).pointee
      copies.append(
        EntryUse(
          try CacheKey(lent.key.text), lastUsedAt: Timestamp(milliseconds: lent.last_used_at),
          count: Int64(clamping: lent.count)))
    }
    let (evictor, all) = (try evictor(), copies)
    try CallingThread.run(host) { () async throws(CacheError) in try await evictor.add(all) }
    return CACHECTL_OK.status
  }

  private func evictor() throws(CacheError) -> any Evicting {
    guard let evictor = engine.evictor else { throw CacheError(.unsupported, "the engine does not evict") }
    return evictor
  }

  /// Visits the entries of a range.
  func scan(
    _ range: UnsafePointer<cachectl_range>?, _ visitor: Visitor<cachectl_visit_entry>
  ) throws(CacheError) -> Int32 {
    guard let range else { throw CacheError(.failed, "the range is missing") }
    let keys = try KeyRange(range.pointee)
    let limit = Int(clamping: range.pointee.limit)
    let found = try run { engine async throws(CacheError) in try await engine.scan(keys, limit: limit) }
    return firstFailure(found) { entry in
      entry.key.text.lend { key in
        visitor(key: key, payload: cachectl_bytes(data: nil, length: entry.payloadBytes), entry.metadata)
      }
    }
  }

  /// Visits the slots of the store's tally.
  func statistics(
    _ visitor: Visitor<cachectl_visit_slot>, _ storageBytes: UnsafeMutablePointer<UInt64>?
  ) throws(CacheError) -> Int32 {
    let statistics = try run { engine async throws(CacheError) in try await engine.statistics() }
    storageBytes?.pointee = UInt64(clamping: statistics.storageBytes)
    return firstFailure(statistics.tally.slots) { slot, count in
      slot.namespace.lend { namespace in
        var lent = cachectl_slot(
          size: MemoryLayout<cachectl_slot>.size, name_space: namespace, fresh_slot: slot.freshSlot,
          retain_slot: slot.retainSlot, entries: UInt64(clamping: count.entries),
          payload_bytes: UInt64(clamping: count.payloadBytes))
        return visitor.visit(visitor.context, &lent)
      }
    }
  }

  /// Visits the issues with the store.
  func checkIntegrity(_ visitor: Visitor<cachectl_visit_issue>) throws(CacheError) -> Int32 {
    let issues = try run { engine async throws(CacheError) in try await engine.checkIntegrity() }
    return firstFailure(issues) { $0.lend { visitor.visit(visitor.context, $0) } }
  }

  /// Removes expired entries.
  func compact() throws(CacheError) -> Int32 {
    try run { engine async throws(CacheError) in try await engine.compact() }
    return CACHECTL_OK.status
  }

  /// Releases memory; the engine's own call cannot fail.
  func releaseMemory() throws(CacheError) -> Int32 {
    try run { engine async throws(CacheError) in await engine.releaseMemory() }
    return CACHECTL_OK.status
  }
}

extension StorageEngine {
  /// Copies of the entries under `keys`, read one after another.
  fileprivate func readEach(_ keys: [CacheKey]) async throws(CacheError) -> [Result<ReadEntry?, CacheError>] {
    var results: [Result<ReadEntry?, CacheError>] = []
    for key in keys {
      do throws(CacheError) {
        results.append(
          .success(
            try await read(key) { payload, metadata in
              ReadEntry(payload: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
            }))
      } catch {
        guard error.isUnreadableEntry else { throw error }
        results.append(.failure(error))
      }
    }
    return results
  }
}

/// Visits `elements` until a visit fails, and returns the result of that visit, or success.
func firstFailure<Elements: Sequence>(_ elements: Elements, _ visit: (Elements.Element) -> Int32) -> Int32 {
  for element in elements {
    let status = visit(element)
    if status != CACHECTL_OK.status { return status }
  }
  return CACHECTL_OK.status
}

extension IntegrityIssue {
  /// Lends the issue for the duration of the call.
  func lend(_ body: (UnsafePointer<cachectl_issue>) -> Int32) -> Int32 {
    (key?.text ?? "").lend { key in
      kind.rawValue.withCString { kind in
        message.withCString { message in
          var lent = cachectl_issue(
            size: MemoryLayout<cachectl_issue>.size, key: key, kind: kind, message: message)
          return withUnsafePointer(to: &lent, body)
        }
      }
    }
  }
}
