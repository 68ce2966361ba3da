internal import CCachectlPlugin
internal import StorageSPI

extension EngineConfiguration {
  /// The configuration that the host passes to open, inspect or repair a store of the engine that `declaration`
  /// describes.
  ///
  /// - Throws: `CacheError` with the code `invalidOption`.
  init(
    _ configuration: UnsafePointer<cachectl_configuration>?, for declaration: EngineDeclaration
  ) throws(CacheError) {
    guard let configuration = configuration.map({ copy(of: $0, cachectl_configuration()) }), let now = configuration.now
    else {
      throw CacheError(.failed, "the configuration is missing, or has no clock")
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
    let configuration = configuration.map { copy(of: $0, cachectl_configuration()) }
    (function, context) = (configuration?.is_cancelled, configuration?.clock)
  }

  /// Whether the host can cancel calls: an older one cannot.
  var canBeCancelled: Bool { function != nil }

  /// Whether the caller has stopped waiting.
  var isCancelled: Bool { function.map { $0(context) != 0 } ?? false }
}

/// Copies the structure at `pointer`, which starts with its size, as far as the host knows its fields; the rest comes
/// from `empty`.
func copy<Structure>(of pointer: UnsafePointer<Structure>, _ empty: Structure) -> Structure {
  let size = UnsafeRawPointer(pointer).loadUnaligned(as: Int.self)
  var copy = empty
  withUnsafeMutableBytes(of: &copy) { room in
    room.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: max(0, min(size, room.count))))
  }
  return copy
}

/// Inspects a store without opening it.
enum Inspecting {
  static func inspect(
    _ configuration: UnsafePointer<cachectl_configuration>?, _ visitor: Visitor<cachectl_visit_inspection>
  ) throws(CacheError) -> Int32 {
    let (plugin, host) = (try PluginExport.plugin(), HostCall(configuration))
    let configuration = try EngineConfiguration(configuration, for: plugin.declaration)
    let found = try CallingThread.run(host) { _ async throws(CacheError) in try await plugin.inspect(configuration) }
    return found.lend { visitor.visit(visitor.context, $0) }
  }
}

extension StoreInspection {
  /// Lends the inspection for the duration of the call.
  fileprivate func lend(_ body: (UnsafePointer<cachectl_inspection>) -> Int32) -> Int32 {
    path.lend { path in
      StoragePluginExport.lend(files) { files in
        (hiddenDamage ?? "").lend { damage in
          (caution ?? "").lend { caution in
            files.withUnsafeBufferPointer { files in
              var lent = cachectl_inspection(
                size: MemoryLayout<cachectl_inspection>.size, path: path, files: files.baseAddress,
                file_count: files.count, format: Int64(format ?? -1), current_format: Int64(currentFormat),
                presence: (exists ? CACHECTL_PRESENT : CACHECTL_ABSENT).rawValue, hidden_damage: damage,
                caution: caution)
              return withUnsafePointer(to: &lent, body)
            }
          }
        }
      }
    }
  }
}
