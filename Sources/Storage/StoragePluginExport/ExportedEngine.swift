internal import CCachectlPlugin
internal import Platform
internal import PluginInterface
internal import StorageSPI

typealias Failure = UnsafeMutablePointer<cachectl_failure>
typealias Context = UnsafeMutableRawPointer

extension cachectl_engine {
  /// Sets the functions that open, inspect and remove stores.
  mutating func setPluginFunctions() {
    open = { configuration, store, failure in
      run(PluginExport.target(configuration), failure) { target async throws(CacheError) in
        try await target.plugin.open(target.configuration)
      } lend: { engine, _ in
        let opened = OpenStore.allocate(capacity: 1)
        opened.initialize(to: engine)
        store?.pointee = OpaquePointer(opened)
        return succeeded
      }
    }
    inspect = { configuration, visit, context, failure in
      run(PluginExport.target(configuration), failure) { target async throws(CacheError) in
        try await target.plugin.inspect(target.configuration)
      } lend: { found, arena in
        lend(
          cachectl_inspection(
            path: arena.bytes(found.path), exists: found.exists ? 1 : 0,
            files: arena.array(found.files.map { arena.bytes($0) }), file_count: found.files.count,
            format: Int64(found.format ?? -1), current_format: Int64(found.currentFormat),
            caution: arena.bytes(found.caution ?? ""))
        ) { visit?(context, $0) }
      }
    }
    remove = { configuration, suffix, moved, context, failure in
      let ending = suffix.map { String(cString: $0) }
      return run(PluginExport.target(configuration), failure) { target async throws(CacheError) in
        try await target.plugin.removeStore(target.configuration, movingAside: ending)
      } lend: { paths, arena in
        lendAll(paths) { path in lend(arena.bytes(path)) { moved?(context, $0) } }
      }
    }
  }

  /// Sets the functions of an open store; the optional ones if the engine has the capability.
  mutating func setStoreFunctions(_ capabilities: Set<EngineCapability>) {
    close = { store, failure in
      defer {
        let opened = store.map { OpenStore($0) }
        opened?.deinitialize(count: 1)
        opened?.deallocate()
      }
      return run(engine(store), failure) { engine async throws(CacheError) in try await engine.close() }
    }
    read = { store, key, visit, context, failure in
      reporting(to: failure) { () throws(CacheError) in try readEntry(try opened(store), key, visit, context) }
    }
    apply = { store, batch, failure in
      run(engine(store, taking: { () throws(CacheError) in try WriteBatch(checking: batch) }), failure) {
        target async throws(CacheError) in
        try await target.0.apply(target.1)
      }
    }
    scan = { store, request, visit, next, context, failure in
      run(engine(store, taking: { () throws(CacheError) in try ScanRequest(checking: request) }), failure) {
        target async throws(CacheError) in
        try await target.0.scan(target.1)
      } lend: { page, arena in
        let status = lendAll(page.entries) { entry in
          (entry.payload ?? []).withUnsafeBufferPointer { payload in
            let data = entry.payload == nil ? nil : payload.baseAddress
            let bytes = cachectl_bytes(data: data, length: entry.payloadBytes)
            return lend(arena.entry(arena.bytes(entry.key.text), bytes, entry.metadata)) { visit?(context, $0) }
          }
        }
        guard status == succeeded, let position = page.next else { return status }
        return lend(arena.bytes(position)) { next?(context, $0) }
      }
    }
    count = { store, visit, context, storageBytes, failure in
      run(engine(store), failure) { engine async throws(CacheError) in
        try await engine.count()
      } lend: { count, arena in
        storageBytes?.pointee = UInt64(clamping: count.storageBytes)
        return lendAll(count.namespaces) { namespace, part in
          lend(
            cachectl_count(
              name_space: arena.bytes(namespace), entries: UInt64(clamping: part.entries),
              payload_bytes: UInt64(clamping: part.payloadBytes), earliest_expiry: part.earliestExpiry.milliseconds)
          ) { visit?(context, $0) }
        }
      }
    }
    check = { store, visit, context, failure in
      run(engine(store), failure) { engine async throws(CacheError) in
        try await engine.check()
      } lend: { issues, arena in
        lendAll(issues) { issue in
          lend(
            cachectl_issue(
              key: arena.bytes(issue.key?.text ?? ""), kind: arena.text(issue.kind.rawValue),
              message: arena.text(issue.message))
          ) { visit?(context, $0) }
        }
      }
    }
    compact = { store, failure in
      run(engine(store), failure) { engine async throws(CacheError) in try await engine.compact() }
    }
    if capabilities.contains(.countsChanges) {
      change_count = { store, number in
        guard let count = try? opened(store).changeCount() else { return 0 }
        number?.pointee = count
        return 1
      }
    }
    guard capabilities.contains(.followsChanges) else { return }
    change_mark = { store, key, number, age in
      guard let engine = try? opened(store), let key = try? key.checked("key"),
        let mark = engine.changeMark(of: CacheKey(trusting: key.span))
      else { return 0 }
      number?.pointee = mark.number
      // Rounded up: the engine must not seem to be sure of more than it is.
      age?.pointee = UInt64(clamping: (mark.age + .nanoseconds(999_999)).wholeMilliseconds)
      return 1
    }
  }
}

/// An open store in the host's hands: the target of a `cachectl_store *`.
private typealias OpenStore = UnsafeMutablePointer<any StorageEngine>

/// The engine of the host's store.
@inline(__always)
private func opened(_ store: OpaquePointer?) throws(CacheError) -> any StorageEngine {
  guard let store else { throw .defect("gave no store") }
  return OpenStore(store).pointee
}

private func engine(_ store: OpaquePointer?) -> Result<any StorageEngine, CacheError> {
  Result { () throws(CacheError) in try opened(store) }
}

/// The engine of the host's store, and what it is to work on.
private func engine<Input>(
  _ store: OpaquePointer?, taking input: () throws(CacheError) -> Input
) -> Result<(any StorageEngine, Input), CacheError> {
  Result { () throws(CacheError) in (try opened(store), try input()) }
}

/// Runs `call` with `target` to its end on this thread, and lends the result to the host.
private func run<Target: Sendable, Output: Sendable>(
  _ target: Result<Target, CacheError>, _ failure: Failure?,
  _ call: @escaping @Sendable (Target) async throws(CacheError) -> Output,
  lend: (Output, Arena) -> Int32 = { _, _ in succeeded }
) -> Int32 {
  reporting(to: failure) { () throws(CacheError) in
    let target = try target.get()
    return lend(try CallingThread.run { () async throws(CacheError) in try await call(target) }, Arena())
  }
}

/// Reads at once if the engine can.
@inline(__always)
private func readEntry(
  _ engine: any StorageEngine, _ key: cachectl_bytes, _ visit: cachectl_visit_entry?, _ context: Context?
) throws(CacheError) -> Int32 {
  let bytes = try key.checked("key").span
  var status = succeeded
  let isFound = try engine.readNow(bytes) { payload, metadata in
    status = payload.withUnsafeBufferPointer { lend(key, cachectl_bytes($0), metadata, to: visit, context) }
  }
  if isFound != nil { return status }
  // The engine lends an entry on any thread, but the host wants it on this one: it is copied.
  let ownKey = CacheKey(trusting: bytes)
  let entry = try CallingThread.run { () async throws(CacheError) in
    try await engine.read(ownKey) { payload, metadata in
      (payload: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
  }
  guard let entry else { return succeeded }
  return entry.payload.withUnsafeBufferPointer { lend(key, cachectl_bytes($0), entry.metadata, to: visit, context) }
}

/// The result of a call that succeeded, as C returns it.
private let succeeded = Int32(CACHECTL_OK.rawValue)

/// Calls `body` and returns its code; if it throws, writes the error to `failure` and returns the error's code.
@inline(__always)
private func reporting(to failure: Failure?, _ body: () throws(CacheError) -> Int32) -> Int32 {
  do throws(CacheError) { return try body() } catch { return error.write(to: failure) }
}

extension CacheError {
  /// Writes the message and the hint, and returns the code.
  @inline(never)
  fileprivate func write(to failure: Failure?) -> Int32 {
    if let failure {
      let message = cause is InterfaceDefect ? "the host \(message)" : message
      withUnsafeMutableBytes(of: &failure.pointee.message) { Self.write(message, to: $0) }
      withUnsafeMutableBytes(of: &failure.pointee.hint) { Self.write(hint, to: $0) }
    }
    // A code without a number becomes the unnamed one, with its message.
    return Int32(Self.interfaceCodes.firstIndex(of: code) ?? 0) + 1
  }

  /// Copies as much of `text` as fits before a zero byte, in whole UTF-8 characters.
  private static func write(_ text: String, to room: UnsafeMutableRawBufferPointer) {
    let bytes = Array(text.utf8)
    var count = min(bytes.count, room.count - 1)
    while count > 0, count < bytes.count, bytes[count] & 0xC0 == 0x80 { count -= 1 }
    room.copyBytes(from: bytes[..<count])
    room[count] = 0
  }
}

/// Passes `value` to `visit`, which calls the host's function if there is one, and returns the result.
///
/// The host's function itself is not a parameter, because as a closure of Swift it would be allocated with each call.
@inline(__always)
private func lend<Value>(_ value: Value, _ visit: (UnsafePointer<Value>) -> Int32?) -> Int32 {
  withUnsafePointer(to: value) { visit($0) ?? succeeded }
}

/// Lends `elements` until the host stops, and returns the last result.
private func lendAll<Elements: Sequence>(_ elements: Elements, _ lend: (Elements.Element) -> Int32) -> Int32 {
  for element in elements {
    let status = lend(element)
    if status != succeeded { return status }
  }
  return succeeded
}

/// Calls the host with an entry that was read. Allocates nothing if it has no attributes.
@inline(__always)
private func lend(
  _ key: cachectl_bytes, _ payload: cachectl_bytes, _ metadata: EntryMetadata, to visit: cachectl_visit_entry?,
  _ context: Context?
) -> Int32 {
  let arena = metadata.attributes.isEmpty ? nil : Arena()
  defer { withExtendedLifetime(arena) {} }
  var contentType = metadata.contentType
  return contentType.withUTF8 { contentType in
    let attributes = arena?.attributes(metadata.attributes)
    return lend(cachectl_entry(key, payload, metadata, cachectl_bytes(contentType), attributes)) { visit?(context, $0) }
  }
}

extension WriteBatch {
  /// Copies the batch that the host lends.
  ///
  /// - Throws: `CacheError`: `unsupported` if an operation is unknown, `failed` if anything in it is impossible.
  fileprivate init(checking batch: UnsafePointer<cachectl_batch>?) throws(CacheError) {
    self.init()
    guard let batch = batch?.pointee else { throw .defect("gave no batch") }
    for operation in UnsafeBufferPointer(start: batch.operations, count: batch.operation_count) {
      let key = try CacheKey(checking: operation.entry.key)
      switch cachectl_operation_kind(operation.kind) {
      case CACHECTL_PUT:
        let payload = try operation.entry.payload.checked("payload")
        put(key, payload: Array(payload), metadata: try EntryMetadata(checking: operation.entry))
      case CACHECTL_UPDATE:
        update(key, metadata: try EntryMetadata(checking: operation.entry), from: operation.expected)
      case CACHECTL_REMOVE: remove(key)
      case CACHECTL_REQUIRE_ABSENT: require(key, .absent)
      case CACHECTL_REQUIRE_CHECKSUM: require(key, .checksum(operation.expected))
      default: throw CacheError(.unsupported, "operations of kind \(operation.kind) are unknown to this version")
      }
    }
    if batch.has_bounds == 0 { return }
    bounds = StoreBounds(
      maxEntries: Int(clamping: batch.max_entries), maxPayloadBytes: Int(clamping: batch.max_payload_bytes),
      exemptNamespace: batch.exempt.length == 0 ? nil : try batch.exempt.text("namespace"))
  }
}

extension ScanRequest {
  /// Copies the request that the host lends.
  fileprivate init(checking request: UnsafePointer<cachectl_scan_request>?) throws(CacheError) {
    guard let request = request?.pointee else { throw .defect("gave no request") }
    self.init(
      prefix: try request.prefix.text("prefix"),
      after: request.position.length == 0 ? nil : try request.position.text("position"), limit: request.limit,
      includesPayloads: request.has_payloads != 0, isDescending: request.is_descending != 0)
  }
}
