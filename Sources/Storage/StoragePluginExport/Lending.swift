internal import CCachectlPlugin
internal import StorageSPI

/// A callback of the host, with its context.
///
/// `@unchecked Sendable`: it is used only on the thread of the call that received it, before that call returns.
struct Visitor<Function>: @unchecked Sendable {
  let visit: Function
  let context: UnsafeMutableRawPointer?

  /// Takes the host's callback.
  ///
  /// - Throws: `CacheError` with the code `failed` if the host passed no function.
  init(_ visit: Function?, _ context: UnsafeMutableRawPointer?) throws(CacheError) {
    guard let visit else { throw CacheError(.failed, "a function to call back is missing") }
    self.visit = visit
    self.context = context
  }
}

extension String {
  /// Lends the text's bytes for the duration of the call, without copying them.
  @inline(__always)
  func lend<Output>(_ body: (cachectl_bytes) -> Output) -> Output {
    var text = self
    return text.withUTF8 { body(cachectl_bytes($0)) }
  }
}

extension cachectl_bytes {
  @inline(__always)
  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.init(data: bytes.baseAddress, length: bytes.count) }

  /// The bytes, in place.
  @inline(__always)
  var buffer: UnsafeBufferPointer<UInt8> {
    data.map { UnsafeBufferPointer(start: $0, count: length) } ?? UnsafeBufferPointer(start: nil, count: 0)
  }

  /// A copy as text, with invalid UTF-8 replaced.
  var text: String { String(decoding: buffer, as: UTF8.self) }
}

/// Lends copies of `texts` for the duration of the call. Cost: two allocations.
func lend<Output>(_ texts: [String], _ body: ([cachectl_bytes]) -> Output) -> Output {
  let bytes = texts.flatMap(\.utf8)
  return bytes.withUnsafeBufferPointer { buffer in
    var start = 0
    return body(
      texts.map { text in
        defer { start += text.utf8.count }
        return cachectl_bytes(UnsafeBufferPointer(rebasing: buffer[start..<start + text.utf8.count]))
      })
  }
}

extension EntryMetadata {
  /// Lends the metadata for the duration of the call. It costs nothing if there are no attributes.
  @inline(__always)
  func lend<Output>(_ body: (cachectl_metadata) -> Output) -> Output {
    contentType.lend { contentType in
      if attributes.isEmpty { return body(withParts(contentType, nil, 0)) }
      return lendAttributes { body(withParts(contentType, $0.baseAddress, $0.count)) }
    }
  }

  /// Lends the entry with this metadata for the duration of the call.
  @inline(__always)
  func lendEntry(
    _ key: cachectl_bytes, _ payload: cachectl_bytes, _ body: (UnsafePointer<cachectl_entry>) -> Int32
  ) -> Int32 {
    lend { metadata in
      var entry = cachectl_entry(
        size: MemoryLayout<cachectl_entry>.size, key: key, payload: payload, metadata: metadata)
      return withUnsafePointer(to: &entry, body)
    }
  }

  private func lendAttributes<Output>(_ body: (UnsafeBufferPointer<cachectl_attribute>) -> Output) -> Output {
    StoragePluginExport.lend(attributes.flatMap { [$0.key, $0.value] }) { texts in
      let lent = stride(from: 0, to: texts.count, by: 2).map { index in
        cachectl_attribute(name: texts[index], value: texts[index + 1])
      }
      return lent.withUnsafeBufferPointer(body)
    }
  }

  @inline(__always)
  private func withParts(
    _ contentType: cachectl_bytes, _ attributes: UnsafePointer<cachectl_attribute>?, _ count: Int
  ) -> cachectl_metadata {
    cachectl_metadata(
      stored_at: storedAt.milliseconds, fresh_until: freshUntil.milliseconds, retain_until: retainUntil.milliseconds,
      checksum: checksum, content_type: contentType, attributes: attributes, attribute_count: count)
  }
}

extension Visitor where Function == @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<cachectl_entry>?) -> Int32 {
  /// Calls the host with an entry.
  @inline(__always)
  func callAsFunction(key: cachectl_bytes, payload: cachectl_bytes, _ metadata: EntryMetadata) -> Int32 {
    metadata.lendEntry(key, payload) { visit(context, $0) }
  }
}

extension Visitor
where Function == @convention(c) (UnsafeMutableRawPointer?, Int, UnsafePointer<cachectl_entry>?) -> Int32 {
  /// Calls the host with what was found under `key`, the key at `index` in the host's list.
  func callAsFunction(_ index: Int, key: String, _ found: Result<ReadEntry?, CacheError>) -> Int32 {
    guard case .success(let entry) = found else { return visit(context, index, nil) }
    guard let entry else { return CACHECTL_OK.status }
    return key.lend { key in
      entry.payload.withUnsafeBufferPointer { payload in
        entry.metadata.lendEntry(key, cachectl_bytes(payload)) { visit(context, index, $0) }
      }
    }
  }
}

/// Calls `body` and returns its code; if it throws, writes the error to `failure` and returns the error's code.
@inline(__always)
func reporting(
  to failure: UnsafeMutablePointer<cachectl_failure>?, _ body: () throws(CacheError) -> Int32
) -> Int32 {
  do throws(CacheError) { return try body() } catch { return error.write(to: failure) }
}

extension cachectl_code {
  /// The code as a function result.
  var status: Int32 { Int32(bitPattern: rawValue) }
}

extension CacheError {
  /// Writes the message and the hint, and returns the code.
  @inline(never)
  func write(to failure: UnsafeMutablePointer<cachectl_failure>?) -> Int32 {
    if let failure {
      withUnsafeMutableBytes(of: &failure.pointee.message) { Self.write(message, to: $0) }
      withUnsafeMutableBytes(of: &failure.pointee.hint) { Self.write(hint, to: $0) }
    }
    return (Self.codes[code] ?? CACHECTL_FAILED).status
  }

  /// The codes that the interface defines. Every other failure becomes the unnamed one, with its message.
  private static let codes: [Code: cachectl_code] = [
    .invalidOption: CACHECTL_INVALID_OPTION, .damaged: CACHECTL_DAMAGED,
    .unsupportedFormat: CACHECTL_UNSUPPORTED_FORMAT, .cannotCreate: CACHECTL_CANNOT_CREATE,
    .permissionDenied: CACHECTL_PERMISSION_DENIED, .noSpace: CACHECTL_NO_SPACE, .ioFailed: CACHECTL_IO_FAILED,
    .busy: CACHECTL_BUSY, .unreachable: CACHECTL_UNREACHABLE, .conflict: CACHECTL_CONFLICT,
    .tooLarge: CACHECTL_TOO_LARGE, .overBounds: CACHECTL_OVER_BOUNDS, .unsupported: CACHECTL_UNSUPPORTED,
    .cancelled: CACHECTL_CANCELLED,
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
