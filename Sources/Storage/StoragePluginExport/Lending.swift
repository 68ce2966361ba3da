internal import CCachectlPlugin
internal import Platform
internal import StorageSPI

/// The result of a call that succeeded, as C returns it.
let succeeded = Int32(CACHECTL_OK.rawValue)

extension cachectl_bytes {
  @inline(__always)
  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.init(data: bytes.baseAddress, length: bytes.count) }

  /// The bytes, in place.
  @inline(__always)
  var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: data, count: data == nil ? 0 : length) }

  /// A copy as text, with invalid UTF-8 replaced.
  var text: String { String(decoding: buffer, as: UTF8.self) }
}

extension String {
  /// Lends the text's bytes for the duration of the call, without copying them.
  @inline(__always)
  func lend<Output>(_ body: (cachectl_bytes) -> Output) -> Output {
    var text = self
    return text.withUTF8 { body(cachectl_bytes($0)) }
  }

  /// Calls the host with the text.
  func lend(to visit: cachectl_visit_text?, _ context: UnsafeMutableRawPointer?) -> Int32 {
    lend { text in withUnsafePointer(to: text) { visit?(context, $0) ?? succeeded } }
  }
}

extension ScannedEntry {
  /// Calls the host with the entry.
  func lend(to visit: cachectl_visit_entry?, _ context: UnsafeMutableRawPointer?) -> Int32 {
    key.text.lend { key in
      guard let payload else {
        return metadata.lend(key, cachectl_bytes(data: nil, length: payloadBytes), to: visit, context)
      }
      return payload.withUnsafeBufferPointer { metadata.lend(key, cachectl_bytes($0), to: visit, context) }
    }
  }
}

extension IntegrityIssue {
  /// Calls the host with the issue.
  func lend(to visit: cachectl_visit_issue?, _ context: UnsafeMutableRawPointer?) -> Int32 {
    (key?.text ?? "").lend { key in
      kind.rawValue.withCString { kind in
        message.withCString { message in
          var issue = cachectl_issue(key: key, kind: kind, message: message)
          return visit?(context, &issue) ?? succeeded
        }
      }
    }
  }
}

/// Lends copies of `texts` for the duration of the call.
func lend<Output>(_ texts: [String], _ body: (UnsafeBufferPointer<cachectl_bytes>) -> Output) -> Output {
  let bytes = texts.flatMap(\.utf8)
  return bytes.withUnsafeBufferPointer { buffer in
    var start = 0
    let lent = texts.map { text in
      defer { start += text.utf8.count }
      return cachectl_bytes(UnsafeBufferPointer(rebasing: buffer[start..<start + text.utf8.count]))
    }
    return lent.withUnsafeBufferPointer(body)
  }
}

/// Visits `elements` until a visit fails, and returns the result of that visit, or success.
func visitAll<Elements: Sequence>(_ elements: Elements, _ visit: (Elements.Element) -> Int32) -> Int32 {
  for element in elements {
    let status = visit(element)
    if status != succeeded { return status }
  }
  return succeeded
}

extension EntryMetadata {
  /// Calls the host with the entry with this metadata. It allocates nothing if there are no attributes.
  @inline(__always)
  func lend(
    _ key: cachectl_bytes, _ payload: cachectl_bytes, to visit: cachectl_visit_entry?,
    _ context: UnsafeMutableRawPointer?
  ) -> Int32 {
    contentType.lend { contentType in
      var entry = cachectl_entry(
        key: key, payload: payload, stored_at: storedAt.milliseconds, fresh_until: freshUntil.milliseconds,
        retain_until: retainUntil.milliseconds, payload_checksum: payloadChecksum, checksum: checksum,
        content_type: contentType, attributes: nil, attribute_count: attributes.count)
      if attributes.isEmpty { return visit?(context, &entry) ?? succeeded }
      return StoragePluginExport.lend(attributes.flatMap { [$0.key, $0.value] }) { texts in
        // An attribute is two texts, one after the other.
        entry.attributes = UnsafeRawPointer(texts.baseAddress)?.assumingMemoryBound(to: cachectl_attribute.self)
        return visit?(context, &entry) ?? succeeded
      }
    }
  }

  /// Copies the metadata of an entry that the host lends.
  init(_ entry: cachectl_entry) {
    let attributes = UnsafeBufferPointer(start: entry.attributes, count: entry.attribute_count)
    self.init(
      storedAt: Timestamp(milliseconds: entry.stored_at), freshUntil: Timestamp(milliseconds: entry.fresh_until),
      retainUntil: Timestamp(milliseconds: entry.retain_until), contentType: entry.content_type.text,
      attributes: Dictionary(attributes.map { ($0.name.text, $0.value.text) }) { _, last in last },
      payloadChecksum: entry.payload_checksum, checksum: entry.checksum)
  }
}

extension WriteBatch {
  /// Copies the batch that the host lends.
  ///
  /// - Throws: `CacheError`: `unsupported` if an operation is unknown, `invalidKey`.
  init(_ batch: cachectl_batch) throws(CacheError) {
    self.init()
    for operation in UnsafeBufferPointer(start: batch.operations, count: batch.operation_count) { try add(operation) }
    if batch.has_bounds != 0 {
      bounds = StoreBounds(
        maxEntries: Int(clamping: batch.max_entries), maxPayloadBytes: Int(clamping: batch.max_payload_bytes),
        exemptNamespace: batch.exempt.length == 0 ? nil : batch.exempt.text)
    }
  }

  private mutating func add(_ operation: cachectl_operation) throws(CacheError) {
    let entry = operation.entry
    let key = try CacheKey(entry.key.text)
    switch cachectl_operation_kind(operation.kind) {
    case CACHECTL_PUT: put(key, payload: Array(entry.payload.buffer), metadata: EntryMetadata(entry))
    case CACHECTL_UPDATE: update(key, metadata: EntryMetadata(entry), from: operation.expected)
    case CACHECTL_REMOVE: remove(key)
    case CACHECTL_REQUIRE_ABSENT: require(key, .absent)
    case CACHECTL_REQUIRE_CHECKSUM: require(key, .checksum(operation.expected))
    default: throw CacheError(.unsupported, "operations of kind \(operation.kind) are unknown to this version")
    }
  }
}

extension ScanRequest {
  /// Copies the request that the host lends.
  init(_ request: cachectl_scan_request) {
    self.init(
      prefix: request.prefix.text, after: request.position.length == 0 ? nil : request.position.text,
      limit: request.limit, includesPayloads: request.has_payloads != 0, isDescending: request.is_descending != 0)
  }
}

extension EngineConfiguration {
  /// The configuration that the host passes, for the engine that `declaration` describes.
  ///
  /// - Throws: `CacheError` with the code `invalidOption`.
  init(_ configuration: cachectl_configuration, for declaration: EngineDeclaration) throws(CacheError) {
    var values: [String: OptionValue] = [:]
    for value in UnsafeBufferPointer(start: configuration.values, count: configuration.value_count) {
      let name = String(cString: value.name)
      if let text = value.text {
        values[name] = .text(String(cString: text))
      } else {
        let isBoolean = declaration.options.contains { $0.name == name && $0.kind == .boolean }
        values[name] = isBoolean ? .boolean(value.number != 0) : .integer(value.number)
      }
    }
    try self.init(
      for: declaration, values: values, clock: HostClock(now: configuration.now, clock: configuration.clock))
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

extension CacheError {
  /// Writes the message and the hint, and returns the code.
  @inline(never)
  func write(to failure: Failure?) -> Int32 {
    if let failure {
      withUnsafeMutableBytes(of: &failure.pointee.message) { Self.write(message, to: $0) }
      withUnsafeMutableBytes(of: &failure.pointee.hint) { Self.write(hint, to: $0) }
    }
    // A failure without a number of its own becomes the unnamed one, with its message.
    return Int32(Self.codes.firstIndex(of: code) ?? 0) + 1
  }

  /// The codes in the order of their numbers in the header, from 1.
  private static let codes: [Code] = [
    .failed, .invalidOption, .damaged, .unsupportedFormat, .cannotCreate, .permissionDenied, .noSpace, .ioFailed, .busy,
    .unreachable, .conflict, .tooLarge, .overBounds, .unsupported,
  ]

  /// Copies as much of `text` as fits before a zero byte, in whole UTF-8 characters.
  private static func write(_ text: String, to room: UnsafeMutableRawBufferPointer) {
    let bytes = Array(text.utf8)
    var count = min(bytes.count, room.count - 1)
    while count > 0, count < bytes.count, bytes[count] & 0xC0 == 0x80 { count -= 1 }
    room.copyBytes(from: bytes[..<count])
    room[count] = 0
  }
}
