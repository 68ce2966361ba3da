import CCachectlPlugin
import StoragePluginExport
import Testing

/// The table of the scripted plugin, as a host sees it.
func table() throws -> cachectl_engine {
  let table = try #require(PluginExport.table(of: ScriptedPlugin(), 1))
  return table.assumingMemoryBound(to: cachectl_engine.self).pointee
}

/// What a callback gathers.
final class Gathered {
  var texts: [String] = []
  /// What the callback returns.
  var answer: Int32 = 0

  static func of(_ context: UnsafeMutableRawPointer?) -> Gathered? {
    context.map { Unmanaged<Gathered>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Lends itself as the context of a callback.
  func lend<Output>(_ body: (UnsafeMutableRawPointer) throws -> Output) rethrows -> Output {
    try withExtendedLifetime(self) { try body(Unmanaged.passUnretained(self).toOpaque()) }
  }
}

extension cachectl_bytes {
  var text: String { String(decoding: UnsafeBufferPointer(start: data, count: length), as: UTF8.self) }
}

extension String {
  /// Lends the text as the interface has it.
  func lent<Output>(_ body: (cachectl_bytes) throws -> Output) rethrows -> Output {
    try Array(utf8).withUnsafeBufferPointer { try body(cachectl_bytes(data: $0.baseAddress, length: $0.count)) }
  }
}

/// A store that is open through the table.
///
/// `@unchecked Sendable`: the interface allows any thread to use a store.
struct Store: @unchecked Sendable {
  let table: cachectl_engine
  let handle: OpaquePointer?

  /// Opens a store whose clock says 1,000,000, with the given values.
  ///
  /// - Parameter isCancelled: what the host says of the calls.
  init(
    _ texts: [String: String] = [:], numbers: [String: Int64] = [:],
    isCancelled: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { _ in 0 }
  ) throws {
    let (table, failure) = (try StoragePluginExportTests.table(), Failure())
    var handle: OpaquePointer?
    let status = withConfiguration(texts, numbers) { configuration in
      configuration.is_cancelled = isCancelled
      return table.open(&configuration, &handle, failure.pointer)
    }
    try #require(status == 0, "\(failure.message)")
    self.table = table
    self.handle = handle
  }

  func close() -> Int32 { table.close(handle, nil) }

  func put(_ key: String, _ payload: String, retainUntil: Int64 = 3_000_000, stride extra: Int = 0) -> Int32 {
    key.lent { key in
      payload.lent { payload in
        "image/jpeg".lent { type in
          "nàme".lent { name in
            "välue".lent { value in
              var attribute = cachectl_attribute(name: name, value: value)
              return withUnsafePointer(to: &attribute) { attribute in
                let metadata = cachectl_metadata(
                  stored_at: 1, fresh_until: 2, retain_until: retainUntil, checksum: 99, content_type: type,
                  attributes: attribute, attribute_count: 1)
                return apply([(CACHECTL_PUT.rawValue, key, payload, metadata)], stride: extra)
              }
            }
          }
        }
      }
    }
  }

  /// Applies operations that lie `extra` bytes further apart than they are long, as those of a later version do.
  func apply(
    _ operations: [(kind: UInt32, key: cachectl_bytes, payload: cachectl_bytes, cachectl_metadata)],
    stride extra: Int = 0, maxEntries: UInt64? = nil, _ failure: Failure = Failure()
  ) -> Int32 {
    let size = MemoryLayout<cachectl_operation>.stride + extra
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size * operations.count, alignment: 8)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0xFF, count: size * operations.count)
    for (index, operation) in operations.enumerated() {
      let entry = cachectl_entry(
        size: MemoryLayout<cachectl_entry>.size, key: operation.key, payload: operation.payload, metadata: operation.3)
      (memory + index * size).storeBytes(
        of: cachectl_operation(kind: operation.kind, entry: entry), as: cachectl_operation.self)
    }
    var batch = cachectl_batch(
      size: MemoryLayout<cachectl_batch>.size, operations: memory.assumingMemoryBound(to: cachectl_operation.self),
      operation_count: operations.count, operation_size: size, has_bounds: maxEntries == nil ? 0 : 1,
      max_entries: maxEntries ?? 0, max_payload_bytes: .max, exempt: cachectl_bytes())
    return table.apply(handle, &batch, failure.pointer)
  }

  /// Reads an entry: what the callback saw of it.
  func read(_ key: String, answer: Int32 = 0, _ failure: Failure = Failure()) -> (status: Int32, texts: [String]) {
    let gathered = Gathered()
    gathered.answer = answer
    let status = gathered.lend { context in
      key.lent { table.read(handle, $0, describeEntry, context, failure.pointer) }
    }
    return (status, gathered.texts)
  }

  /// Reads several entries: the place of each that the callback saw, and its key.
  func read(_ keys: [String], answer: Int32 = 0) -> (status: Int32, texts: [String]) {
    let (gathered, bytes) = (Gathered(), keys.map { Array($0.utf8) })
    gathered.answer = answer
    let lent = bytes.map { text in
      let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: text.count)
      copy.initialize(from: text, count: text.count)
      return cachectl_bytes(data: copy, length: text.count)
    }
    defer { for key in lent { key.data?.deallocate() } }
    let status = gathered.lend { context in
      table.read_all(handle, lent, lent.count, describePlace, context, nil)
    }
    return (status, gathered.texts)
  }

  /// What the plugin knows of changes to an entry: its answer, the number and the age.
  func changeMark(_ key: String) -> [Int64] {
    var (number, age) = (UInt64(0), UInt64(0))
    let answer = key.lent { table.change_mark(handle, $0, &number, &age) }
    return [Int64(answer), Int64(number), Int64(age)]
  }

  /// Scans: what the callback saw of each entry.
  func scan(
    prefix: String, limit: Int, isDescending: Bool = false, answer: Int32 = 0
  ) -> (status: Int32, texts: [String]) {
    let gathered = Gathered()
    gathered.answer = answer
    let status = gathered.lend { context in
      prefix.lent { prefix in
        var range = cachectl_range(
          size: MemoryLayout<cachectl_range>.size, prefix: prefix, after: cachectl_bytes(), limit: limit,
          is_descending: isDescending ? 1 : 0)
        return table.scan(handle, &range, describeEntry, context, nil)
      }
    }
    return (status, gathered.texts)
  }
}

/// Calls `body` with a configuration of the given values and a clock that says 1,000,000.
func withConfiguration<Output>(
  _ texts: [String: String], _ numbers: [String: Int64], _ body: (inout cachectl_configuration) throws -> Output
) rethrows -> Output {
  var values: [cachectl_value] = []
  var copies: [UnsafeMutablePointer<CChar>?] = []
  defer { for copy in copies { copy?.deallocate() } }
  func copy(_ text: String) -> UnsafePointer<CChar>? {
    let bytes = text.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    copy.initialize(from: Array(bytes), count: bytes.count)
    copies.append(copy)
    return UnsafePointer(copy)
  }
  for (name, text) in texts.merging(["path": "/ünder/a"], uniquingKeysWith: { first, _ in first }) {
    values.append(cachectl_value(name: copy(name), text: copy(text), number: 0))
  }
  for (name, number) in numbers { values.append(cachectl_value(name: copy(name), text: nil, number: number)) }
  return try values.withUnsafeBufferPointer { values in
    var configuration = cachectl_configuration(
      size: MemoryLayout<cachectl_configuration>.size, values: values.baseAddress, value_count: values.count,
      value_size: MemoryLayout<cachectl_value>.stride, now: { _ in 1_000_000 }, clock: nil,
      is_cancelled: { _ in 0 })
    return try body(&configuration)
  }
}

private let describeEntry: cachectl_visit_entry = { context, entry in
  guard let gathered = Gathered.of(context), let entry = entry?.pointee else { return 1 }
  let attributes = UnsafeBufferPointer(start: entry.metadata.attributes, count: entry.metadata.attribute_count)
  let payload = entry.payload.data == nil ? "\(entry.payload.length) bytes" : entry.payload.text
  gathered.texts.append(
    "\(entry.key.text) = \(payload), \(entry.metadata.content_type.text), \(entry.metadata.stored_at) "
      + "\(entry.metadata.fresh_until) \(entry.metadata.retain_until) \(entry.metadata.checksum)"
      + attributes.map { ", \($0.name.text): \($0.value.text)" }.joined())
  return gathered.answer
}

private let describePlace: cachectl_visit_one = { context, index, entry in
  guard let gathered = Gathered.of(context) else { return 1 }
  gathered.texts.append(
    "\(index): " + (entry.map { "\($0.pointee.key.text) = \($0.pointee.payload.text)" } ?? "unreadable"))
  return gathered.answer
}

/// A failure for a plugin to fill in.
final class Failure {
  let pointer = UnsafeMutablePointer<cachectl_failure>.allocate(capacity: 1)

  init() { UnsafeMutableRawPointer(pointer).initializeMemory(as: UInt8.self, repeating: 0xFF, count: 1536) }
  deinit { pointer.deallocate() }

  var message: String { Self.text(&pointer.pointee.message) }
  var hint: String { Self.text(&pointer.pointee.hint) }

  private static func text<Tuple>(_ tuple: inout Tuple) -> String {
    withUnsafeBytes(of: &tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
