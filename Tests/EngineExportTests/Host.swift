import CCachectlPlugin
import CacheBase
import EngineAPI
import EngineExport
import Testing

/// The table of the scripted plugin, as a host sees it.
func table() throws -> cachectl_engine {
  let table = try #require(PluginExport.table(of: ScriptedPlugin(), 1))
  return table.assumingMemoryBound(to: cachectl_engine.self).pointee
}

/// The data that a callback gathers.
final class Gathered {
  var texts: [String] = []
  /// The result of the callback.
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
  init(_ texts: [String: String] = [:], numbers: [String: Int64] = [:]) throws {
    let (table, failure) = (try EngineExportTests.table(), Failure())
    var handle: OpaquePointer?
    let status = withConfiguration(texts, numbers) { table.open(&$0, &handle, failure.pointer) }
    try #require(status == 0, "\(failure.message)")
    self.table = table
    self.handle = handle
  }

  func close() -> Int32 { table.close(handle, nil) }

  func put(
    _ key: String, _ payload: String, retainUntil: Int64 = 3_000_000, kind: cachectl_operation_kind = CACHECTL_PUT,
    expected: UInt64 = 0, checksum: UInt64 = 99
  ) -> Int32 {
    key.lent { key in
      payload.lent { payload in
        "image/jpeg".lent { type in
          "\u{5}\0\0\0nàme\u{6}\0\0\0välue".lent { attributes in
            let entry = cachectl_entry(
              key: key, content_type: type, attributes: attributes, payload: payload, stored_at: 1, fresh_until: 2,
              retain_until: retainUntil, payload_checksum: 98, checksum: checksum)
            return apply([cachectl_operation(kind: kind.rawValue, expected: expected, entry: entry)])
          }
        }
      }
    }
  }

  /// Applies operations on `key` that need no entry: their kinds, and the checksums that they expect.
  func apply(
    _ key: String, _ operations: [(kind: UInt32, expected: UInt64)], _ failure: Failure = Failure()
  ) -> Int32 {
    key.lent { key in
      var entry = cachectl_entry()
      entry.key = key
      return apply(
        operations.map { cachectl_operation(kind: $0.kind, expected: $0.expected, entry: entry) }, failure: failure)
    }
  }

  func apply(
    _ operations: [cachectl_operation], maxEntries: UInt64? = nil, failure: Failure = Failure()
  ) -> Int32 {
    operations.withUnsafeBufferPointer { operations in
      var batch = cachectl_batch(
        operations: operations.baseAddress, operation_count: operations.count, has_bounds: maxEntries == nil ? 0 : 1,
        max_entries: maxEntries ?? 0, max_payload_bytes: .max, exempt: cachectl_bytes())
      return table.apply(handle, &batch, failure.pointer)
    }
  }

  /// Reads an entry. Returns the data that the callback got.
  func read(_ key: String, answer: Int32 = 0, _ failure: Failure = Failure()) -> (status: Int32, texts: [String]) {
    let gathered = Gathered()
    gathered.answer = answer
    let status = gathered.lend { context in
      key.lent { table.read(handle, $0, describeEntry, context, failure.pointer) }
    }
    return (status, gathered.texts)
  }

  /// Scans. Returns the data that the callback got for each entry, and the next position.
  func scan(
    prefix: String, after position: String = "", limit: Int, hasPayloads: Bool = false, isDescending: Bool = false,
    answer: Int32 = 0
  ) -> (status: Int32, texts: [String]) {
    let gathered = Gathered()
    gathered.answer = answer
    let status = gathered.lend { context in
      prefix.lent { prefix in
        position.lent { position in
          var request = cachectl_scan_request(
            prefix: prefix, position: position, limit: limit, has_payloads: hasPayloads ? 1 : 0,
            is_descending: isDescending ? 1 : 0)
          return table.scan(handle, &request, describeEntry, takeText, context, nil)
        }
      }
    }
    return (status, gathered.texts)
  }
}

/// Calls `body` with a configuration of the given values and a clock that says 1,000,000.
func withConfiguration<Output>(
  _ texts: [String: String], _ numbers: [String: Int64], _ body: (inout cachectl_configuration) throws -> Output
) rethrows -> Output {
  let given = texts.merging(numbers.mapValues { String($0) }) { first, _ in first }
  let values = ScriptedPlugin().declaration.options.map { option -> UnsafePointer<CChar>? in
    let text = given[option.name] ?? (option.name == "path" ? "/ünder/a" : nil)
    return text.flatMap { UnsafePointer(strdup($0)) }
  }
  defer { for value in values { free(UnsafeMutableRawPointer(mutating: value)) } }
  return try values.withUnsafeBufferPointer { values in
    var configuration = cachectl_configuration(values: values.baseAddress, now: { _ in 1_000_000 }, clock: nil)
    return try body(&configuration)
  }
}

private let describeEntry: cachectl_visit_entry = { context, entry in
  guard let gathered = Gathered.of(context), let entry = entry?.pointee else { return 1 }
  let payload = entry.payload.data == nil ? "\(entry.payload.length) bytes" : entry.payload.text
  gathered.texts.append(
    "\(entry.key.text) = \(payload), \(entry.content_type.text), \(entry.stored_at) "
      + "\(entry.fresh_until) \(entry.retain_until) \(entry.payload_checksum) \(entry.checksum)"
      + (entry.attributes.length == 0 ? "" : ", \(entry.attributes.text.debugDescription)"))
  return gathered.answer
}

/// Takes a position or a path.
let takeText: cachectl_visit_text = { context, text in
  Gathered.of(context)?.texts.append(text.text)
  return 0
}

/// A failure for a plugin to fill in.
final class Failure {
  let pointer = UnsafeMutablePointer<cachectl_failure>.allocate(capacity: 1)

  init() { UnsafeMutableRawPointer(pointer).initializeMemory(as: UInt8.self, repeating: 0xFF, count: 1024) }
  deinit { pointer.deallocate() }

  var message: String { Self.text(&pointer.pointee.message) }
  var hint: String { Self.text(&pointer.pointee.hint) }

  private static func text<Tuple>(_ tuple: inout Tuple) -> String {
    withUnsafeBytes(of: &tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
