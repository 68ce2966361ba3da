internal import CacheBase
internal import CCachectlPlugin
internal import EngineAPI

typealias Failure = UnsafeMutablePointer<cachectl_failure>
typealias Context = UnsafeMutableRawPointer

extension cachectl_engine {
  mutating func setFunctions() {
    open = { configuration, store, failure in
      run(PluginExport.target(configuration), failure) { target async throws(CacheError) in
        try await target.plugin.open(target.configuration)
      } lend: { engine in
        store?.pointee = OpaquePointer(Unmanaged.passRetained(OpenStore(engine)).toOpaque())
        return succeeded
      }
    }
    inspect = { configuration, visit, context, inspection, failure in
      run(PluginExport.target(configuration), failure) { target async throws(CacheError) in
        try await target.plugin.inspect(target.configuration)
      } lend: { found in
        inspection?.pointee = cachectl_inspection(
          exists: found.exists ? 1 : 0, format: Int64(found.format ?? -1), current_format: Int64(found.currentFormat))
        return lendAll([found.path] + found.files) { path in lend(path) { visit?(context, $0) } }
      }
    }
    remove = { configuration, suffix, moved, context, failure in
      let ending = suffix.map { String(cString: $0) }
      return run(PluginExport.target(configuration), failure) { target async throws(CacheError) in
        try await target.plugin.removeStore(target.configuration, movingAside: ending)
      } lend: { paths in
        lendAll(paths) { path in lend(path) { moved?(context, $0) } }
      }
    }
    close = { store, failure in
      defer { store.map { OpenStore.at($0).release() } }
      return run(engine(store), failure) { engine async throws(CacheError) in try await engine.close() }
    }
    read = { store, key, visit, context, failure in
      guard let store else { return CacheError.noStore.write(to: failure) }
      return OpenStore.at(store)._withUnsafeGuaranteedRef { store in
        do throws(CacheError) {
          return try store.read(key, visit, context)
        } catch {
          return error.write(to: failure)
        }
      }
    }
    apply = { store, batch, failure in
      let batch = Result { () throws(CacheError) in try WriteBatch(copying: batch) }
      return run(engine(store), failure) { engine async throws(CacheError) in
        try await engine.apply(try batch.get())
      }
    }
    scan = { store, request, visit, next, context, failure in
      let request = ScanRequest(copying: request)
      return run(engine(store), failure) { engine async throws(CacheError) in
        try await engine.scan(request)
      } lend: { page in
        let status = lendAll(page.entries) { entry in
          (entry.payload ?? []).withUnsafeBufferPointer { payload in
            let data = entry.payload == nil ? nil : payload.baseAddress
            return lend(entry.key.text) { key in
              lend(key, cachectl_bytes(data: data, length: entry.payloadBytes), entry.metadata, to: visit, context)
            }
          }
        }
        guard status == succeeded, let position = page.next else { return status }
        return lend(position) { next?(context, $0) }
      }
    }
    count = { store, visit, context, storageBytes, failure in
      run(engine(store), failure) { engine async throws(CacheError) in
        try await engine.count()
      } lend: { count in
        storageBytes?.pointee = UInt64(clamping: count.storageBytes)
        return lendAll(count.namespaces) { namespace, part in
          lend(namespace) { namespace in
            var count = cachectl_count(
              name_space: namespace, entries: UInt64(clamping: part.entries),
              payload_bytes: UInt64(clamping: part.payloadBytes), earliest_expiry: part.earliestExpiry.milliseconds)
            return visit?(context, &count)
          }
        }
      }
    }
    check = { store, failure in
      run(engine(store), failure) { engine async throws(CacheError) in
        guard let issue = try await engine.check().first else { return }
        throw CacheError(.damaged, issue.key.map { "entry \($0): \(issue.message)" } ?? issue.message)
      }
    }
    compact = { store, failure in
      run(engine(store), failure) { engine async throws(CacheError) in try await engine.compact() }
    }
    change_count = { store, number in
      guard let count = try? engine(store).get().changeCount() else { return 0 }
      number?.pointee = count
      return 1
    }
  }
}

/// An open store in the host's hands: the target of a `cachectl_store *`.
private final class OpenStore: Sendable {
  let engine: any StorageEngine

  init(_ engine: any StorageEngine) { self.engine = engine }

  @inline(__always)
  static func at(_ store: OpaquePointer) -> Unmanaged<OpenStore> { .fromOpaque(UnsafeRawPointer(store)) }

  /// Reads at once if the engine can.
  @inline(__always)
  func read(
    _ key: cachectl_bytes, _ visit: cachectl_visit_entry?, _ context: Context?
  ) throws(CacheError) -> Int32 {
    var status = succeeded
    let isFound = try engine.readNow(key.bytes.span) { payload, metadata in
      status = payload.withUnsafeBufferPointer { lend(key, cachectl_bytes($0), metadata, to: visit, context) }
    }
    if isFound != nil { return status }
    // The engine lends an entry on any thread, but the host wants it on this one: it is copied.
    let ownKey = CacheKey(trusting: key.bytes.span)
    let entry = try CallingThread.run { [engine] () async throws(CacheError) in
      try await engine.read(ownKey) { payload, metadata in
        (payload: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      }
    }
    guard let entry else { return succeeded }
    return entry.payload.withUnsafeBufferPointer { lend(key, cachectl_bytes($0), entry.metadata, to: visit, context) }
  }
}

private func engine(_ store: OpaquePointer?) -> Result<any StorageEngine, CacheError> {
  store.map { .success(OpenStore.at($0).takeUnretainedValue().engine) } ?? .failure(.noStore)
}

/// Runs `call` with `target` to its end on this thread, and lends the result to the host.
private func run<Target: Sendable, Output: Sendable>(
  _ target: Result<Target, CacheError>, _ failure: Failure?,
  _ call: @escaping @Sendable (Target) async throws(CacheError) -> Output,
  lend: (Output) -> Int32 = { _ in succeeded }
) -> Int32 {
  do throws(CacheError) {
    let target = try target.get()
    return lend(try CallingThread.run { () async throws(CacheError) in try await call(target) })
  } catch {
    return error.write(to: failure)
  }
}

/// The result of a call that succeeded, as C returns it.
private let succeeded: Int32 = 0

extension CacheError {
  fileprivate static var noStore: CacheError { CacheError(.failed, "the host gave no store") }

  /// Writes the message and the hint, cut to what fits, and returns the code.
  @inline(never)
  fileprivate func write(to failure: Failure?) -> Int32 {
    if let failure {
      withUnsafeMutableBytes(of: &failure.pointee.message) { Self.write(message, to: $0) }
      withUnsafeMutableBytes(of: &failure.pointee.hint) { Self.write(hint, to: $0) }
    }
    // A code without a number becomes the unnamed one, with its message.
    return Int32(Self.interfaceCodes.firstIndex(of: code) ?? 0) + 1
  }

  private static func write(_ text: String, to room: UnsafeMutableRawBufferPointer) {
    let bytes = Array(text.utf8.prefix(room.count - 1))
    room.copyBytes(from: bytes)
    room[bytes.count] = 0
  }
}

/// Lends `text` to `visit`, which calls the host's function if there is one, and returns the result.
///
/// The host's function itself is not a parameter, because a generic function cannot have one of C.
private func lend(_ text: String, _ visit: (cachectl_bytes) -> Int32?) -> Int32 {
  var text = text
  return text.withUTF8 { visit(cachectl_bytes($0)) ?? succeeded }
}

/// Lends `elements` until the host stops, and returns the last result.
private func lendAll<Elements: Sequence>(_ elements: Elements, _ lend: (Elements.Element) -> Int32) -> Int32 {
  for element in elements {
    let status = lend(element)
    if status != succeeded { return status }
  }
  return succeeded
}

/// Calls the host with an entry. Allocates nothing.
@inline(__always)
private func lend(
  _ key: cachectl_bytes, _ payload: cachectl_bytes, _ metadata: borrowing EntryMetadata,
  to visit: cachectl_visit_entry?, _ context: Context?
) -> Int32 {
  var entry = cachectl_entry(metadata)
  entry.key = key
  entry.payload = payload
  return metadata.contentType.utf8Span.span.withUnsafeBufferPointer { contentType in
    entry.content_type = cachectl_bytes(contentType)
    return metadata.encodedAttributes.withUnsafeBufferPointer { attributes in
      entry.attributes = cachectl_bytes(attributes)
      return visit?(context, &entry) ?? succeeded
    }
  }
}

extension WriteBatch {
  /// Copies the batch that the host lends.
  ///
  /// - Throws: `CacheError`: `unsupported` if an operation is unknown.
  fileprivate init(copying batch: UnsafePointer<cachectl_batch>?) throws(CacheError) {
    guard let batch = batch?.pointee else {
      self.init()
      return
    }
    let operations = UnsafeBufferPointer(start: batch.operations, count: batch.operation_count)
    self.init(try operations.map { operation throws(CacheError) in try Operation(copying: operation) })
    if batch.has_bounds == 0 { return }
    bounds = StoreBounds(
      maxEntries: Int(clamping: batch.max_entries), maxPayloadBytes: Int(clamping: batch.max_payload_bytes),
      exemptNamespace: batch.exempt.length == 0 ? nil : batch.exempt.text)
  }
}

extension WriteBatch.Operation {
  fileprivate init(copying operation: cachectl_operation) throws(CacheError) {
    var entry = operation.entry
    let key = CacheKey(trusting: entry.key.bytes.span)
    var metadata = EntryMetadata(withoutAttributes: &entry)
    if entry.attributes.length > 0, !metadata.setAttributes(&entry) {
      throw CacheError(.failed, "the attributes of \(key) are not encoded")
    }
    switch cachectl_operation_kind(operation.kind) {
    case CACHECTL_PUT: self = .put(key, payload: Array(entry.payload.bytes), metadata)
    case CACHECTL_UPDATE: self = .update(key, metadata, from: operation.expected)
    case CACHECTL_REMOVE: self = .remove(key)
    case CACHECTL_REQUIRE_ABSENT: self = .require(key, .absent)
    case CACHECTL_REQUIRE_CHECKSUM: self = .require(key, .checksum(operation.expected))
    default: throw CacheError(.unsupported, "operations of kind \(operation.kind) are unknown to this version")
    }
  }
}

extension ScanRequest {
  /// Copies the request that the host lends.
  fileprivate init(copying request: UnsafePointer<cachectl_scan_request>?) {
    self.init()
    guard let request = request?.pointee else { return }
    self.init(
      prefix: request.prefix.text, after: request.position.length == 0 ? nil : request.position.text,
      limit: request.limit, includesPayloads: request.has_payloads != 0, isDescending: request.is_descending != 0)
  }
}
