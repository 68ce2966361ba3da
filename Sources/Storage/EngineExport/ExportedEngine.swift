internal import CCachectlPlugin
internal import CacheBase
internal import EngineAPI

typealias Failure = UnsafeMutablePointer<cachectl_failure>
typealias Context = UnsafeMutableRawPointer

extension cachectl_engine {
  /// Sets the functions that open, inspect and remove stores.
  mutating func setPluginFunctions() {
    open = { configuration, store, failure in
      run(PluginExport.target(configuration), failure) { target async throws(CacheError) in
        try await target.plugin.open(target.configuration)
      } lend: { engine in
        store?.pointee = OpaquePointer(Unmanaged.passRetained(OpenStore(engine)).toOpaque())
        return succeeded
      }
    }
    inspect = { configuration, file, visit, context, failure in
      run(PluginExport.target(configuration), failure) { target async throws(CacheError) in
        try await target.plugin.inspect(target.configuration)
      } lend: { found in
        let status = lendAll(found.files) { path in lend(path) { file?(context, $0) } }
        if status != succeeded { return status }
        return found.path.withCString { path in
          (found.caution ?? "").withCString { caution in
            let inspection = cachectl_inspection(
              path: path, caution: found.caution == nil ? nil : caution, exists: found.exists ? 1 : 0,
              format: Int64(found.format ?? -1), current_format: Int64(found.currentFormat))
            return lend(inspection) { visit?(context, $0) }
          }
        }
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
  }

  /// Sets the functions of an open store; the optional ones if the engine has the capability.
  mutating func setStoreFunctions(_ capabilities: Set<EngineCapability>) {
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
            var key = entry.key.text
            return key.withUTF8 { key in
              lend(
                cachectl_bytes(key), cachectl_bytes(data: data, length: entry.payloadBytes), entry.metadata, to: visit,
                context)
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
            let count = cachectl_count(
              name_space: namespace.pointee, entries: UInt64(clamping: part.entries),
              payload_bytes: UInt64(clamping: part.payloadBytes), earliest_expiry: part.earliestExpiry.milliseconds)
            return lend(count) { visit?(context, $0) }
          }
        }
      }
    }
    check = { store, visit, context, failure in
      run(engine(store), failure) { engine async throws(CacheError) in
        try await engine.check()
      } lend: { issues in
        lendAll(issues) { issue in
          lend(issue.key?.text ?? "") { key in
            issue.kind.rawValue.withCString { kind in
              issue.message.withCString { message in
                lend(cachectl_issue(key: key.pointee, kind: kind, message: message)) { visit?(context, $0) }
              }
            }
          }
        }
      }
    }
    compact = { store, failure in
      run(engine(store), failure) { engine async throws(CacheError) in try await engine.compact() }
    }
    if capabilities.contains(.countsChanges) {
      change_count = { store, number in
        guard let count = try? engine(store).get().changeCount() else { return 0 }
        number?.pointee = count
        return 1
      }
    }
    guard capabilities.contains(.followsChanges) else { return }
    change_mark = { store, key, number, age in
      guard let mark = try? engine(store).get().changeMark(of: CacheKey(trusting: key.trusted.span)) else {
        return 0
      }
      number?.pointee = mark.number
      // Rounded up: the engine must not seem to be sure of more than it is.
      age?.pointee = UInt64(clamping: (mark.age + .nanoseconds(999_999)).wholeMilliseconds)
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
    let isFound = try engine.readNow(key.trusted.span) { payload, metadata in
      status = payload.withUnsafeBufferPointer { lend(key, cachectl_bytes($0), metadata, to: visit, context) }
    }
    if isFound != nil { return status }
    // The engine lends an entry on any thread, but the host wants it on this one: it is copied.
    let ownKey = CacheKey(trusting: key.trusted.span)
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

  /// Writes the message and the hint, and returns the code.
  @inline(never)
  fileprivate func write(to failure: Failure?) -> Int32 {
    if let failure {
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
/// The host's function itself is not a parameter, because a generic function cannot have one of C.
private func lend<Value>(_ value: Value, _ visit: (UnsafePointer<Value>) -> Int32?) -> Int32 {
  withUnsafePointer(to: value) { visit($0) ?? succeeded }
}

private func lend(_ text: String, _ visit: (UnsafePointer<cachectl_bytes>) -> Int32?) -> Int32 {
  var text = text
  return text.withUTF8 { lend(cachectl_bytes($0), visit) }
}

/// Lends `elements` until the host stops, and returns the last result.
private func lendAll<Elements: Sequence>(_ elements: Elements, _ lend: (Elements.Element) -> Int32) -> Int32 {
  for element in elements {
    let status = lend(element)
    if status != succeeded { return status }
  }
  return succeeded
}

/// Calls the host with an entry. Allocates nothing if it has no attributes.
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
    if metadata.attributes.isEmpty { return visit?(context, &entry) ?? succeeded }
    return metadata.encodedAttributes(isSorted: false).withUnsafeBufferPointer { attributes in
      entry.attributes = cachectl_bytes(attributes)
      return visit?(context, &entry) ?? succeeded
    }
  }
}

extension cachectl_bytes {
  /// The bytes that the host lends: it is trusted.
  fileprivate var trusted: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: data, count: length) }

  fileprivate var text: String { String(decoding: trusted, as: UTF8.self) }
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
    let key = CacheKey(trusting: operation.entry.key.trusted.span)
    switch cachectl_operation_kind(operation.kind) {
    case CACHECTL_PUT:
      let payload = Array(operation.entry.payload.trusted)
      self = .put(key, payload: payload, try EntryMetadata(checking: operation.entry))
    case CACHECTL_UPDATE: self = .update(key, try EntryMetadata(checking: operation.entry), from: operation.expected)
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
