internal import CCachectlPlugin
internal import StorageSPI

extension EngineConfiguration {
  /// The configuration that the host passes to open, inspect or remove a store of the engine that `declaration`
  /// describes.
  ///
  /// - Throws: `CacheError` with the code `invalidOption`.
  init(
    _ configuration: UnsafePointer<cachectl_configuration>?, for declaration: EngineDeclaration
  ) throws(CacheError) {
    guard let configuration = configuration?.pointee, let now = configuration.now,
      configuration.size >= MemoryLayout<cachectl_configuration>.size
    else {
      throw CacheError(.failed, "the configuration is missing or too small, or has no clock")
    }
    var values: [String: OptionValue] = [:]
    for index in 0..<configuration.value_count {
      guard let value = Self.value(index, of: configuration), let name = value.name else { continue }
      values[String(cString: name)] = Self.optionValue(value, for: String(cString: name), in: declaration)
    }
    try self.init(for: declaration, values: values, clock: HostClock(now: now, clock: configuration.clock))
  }

  /// One value; the host's structure may be larger than this version's.
  private static func value(_ index: Int, of configuration: cachectl_configuration) -> cachectl_value? {
    UnsafeRawPointer(configuration.values)?.advanced(by: index * configuration.value_size)
      .assumingMemoryBound(to: cachectl_value.self).pointee
  }

  private static func optionValue(
    _ value: cachectl_value, for name: String, in declaration: EngineDeclaration
  ) -> OptionValue {
    if let text = value.text { return .text(String(cString: text)) }
    let option = declaration.options.first { $0.name == name }
    return option?.kind == .boolean ? .boolean(value.number != 0) : .integer(value.number)
  }
}

/// The host's clock.
///
/// `@unchecked Sendable`: any thread may call the host's function until the store is closed.
private struct HostClock: WallClock, @unchecked Sendable {
  let function: @convention(c) (UnsafeMutableRawPointer?) -> Int64
  let clock: UnsafeMutableRawPointer?

  init(now: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Int64, clock: UnsafeMutableRawPointer?) {
    self.function = now
    self.clock = clock
  }

  var now: Timestamp { Timestamp(milliseconds: function(clock)) }
}

/// The host's view of the call in progress on this thread.
///
/// `@unchecked Sendable`: the thread of each call may call the host's function until the store is closed.
struct HostCall: @unchecked Sendable {
  private let function: (@convention(c) (UnsafeMutableRawPointer?) -> Int32)?
  private let context: UnsafeMutableRawPointer?

  /// From the host that made `configuration`; `nil` for a call that nothing can cancel.
  init(_ configuration: UnsafePointer<cachectl_configuration>? = nil) {
    function = configuration?.pointee.is_cancelled
    context = configuration?.pointee.clock
  }

  /// Whether the host can cancel the call.
  var canBeCancelled: Bool { function != nil }

  /// Whether the caller has stopped waiting.
  var isCancelled: Bool { function.map { $0(context) != 0 } ?? false }
}

extension StoreInspection {
  /// Lends the inspection for the duration of the call.
  func lend(_ body: (UnsafePointer<cachectl_inspection>) -> Int32) -> Int32 {
    path.lend { path in
      StoragePluginExport.lend(files) { files in
        (caution ?? "").lend { caution in
          files.withUnsafeBufferPointer { files in
            var lent = cachectl_inspection(
              size: MemoryLayout<cachectl_inspection>.size, path: path, files: files.baseAddress,
              file_count: files.count, format: Int64(format ?? -1), current_format: Int64(currentFormat),
              presence: (exists ? CACHECTL_PRESENT : CACHECTL_ABSENT).rawValue, caution: caution)
            return withUnsafePointer(to: &lent, body)
          }
        }
      }
    }
  }
}

extension WriteBatch {
  /// Copies the batch that the host passes.
  ///
  /// - Throws: `CacheError`: `unsupported` if an operation belongs to a later version of the interface, `invalidKey`.
  init(_ batch: cachectl_batch) throws(CacheError) {
    self.init()
    let start = UnsafeRawPointer(batch.operations)
    for index in 0..<batch.operation_count {
      // The host's operations may be longer than this version's.
      guard let operation = start?.advanced(by: index * batch.operation_size) else { break }
      try add(operation.assumingMemoryBound(to: cachectl_operation.self).pointee)
    }
    if batch.has_bounds != 0 {
      bounds = StoreBounds(
        maxEntries: Int(clamping: batch.max_entries), maxPayloadBytes: Int(clamping: batch.max_payload_bytes),
        exemptNamespace: batch.exempt.length == 0 ? nil : batch.exempt.text)
    }
  }

  private mutating func add(_ operation: cachectl_operation) throws(CacheError) {
    let (entry, key) = (operation.entry, try CacheKey(operation.entry.key.text))
    switch cachectl_operation_kind(operation.kind) {
    case CACHECTL_PUT: put(key, payload: Array(entry.payload.buffer), metadata: EntryMetadata(entry.metadata))
    case CACHECTL_REMOVE: remove(key)
    case CACHECTL_REQUIRE_ABSENT: require(key, .absent)
    case CACHECTL_REQUIRE_CHECKSUM: require(key, .checksum(entry.metadata.checksum))
    default: throw CacheError(.unsupported, "operations of kind \(operation.kind) are unknown to this version")
    }
  }
}

extension EntryMetadata {
  /// Copies the metadata that the host passes.
  init(_ metadata: cachectl_metadata) {
    let attributes = UnsafeBufferPointer(start: metadata.attributes, count: metadata.attribute_count)
    self.init(
      storedAt: Timestamp(milliseconds: metadata.stored_at), freshUntil: Timestamp(milliseconds: metadata.fresh_until),
      retainUntil: Timestamp(milliseconds: metadata.retain_until), contentType: metadata.content_type.text,
      attributes: Dictionary(attributes.map { ($0.name.text, $0.value.text) }) { _, last in last },
      checksum: metadata.checksum)
  }
}

extension KeyRange {
  /// Copies the range that the host passes.
  ///
  /// - Throws: `CacheError` with the code `invalidKey` if `after` is not a valid key.
  init(_ range: cachectl_range) throws(CacheError) {
    self.init(prefix: range.prefix.text, isDescending: range.is_descending != 0)
    if range.after.length > 0 { after = try CacheKey(range.after.text) }
  }
}
