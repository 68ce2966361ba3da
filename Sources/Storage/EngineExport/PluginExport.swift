internal import CCachectlPlugin
internal import CacheBase
public import EngineAPI
internal import Synchronization

/// Turns a Swift engine into a shared library that cachectl can load, in one line:
///
///     @c public func cachectl_plugin(_ abi: UInt32) -> UnsafeRawPointer? { PluginExport.table(of: MyPlugin(), abi) }
///
/// A library has one plugin. The functions in its table run each asynchronous call to its end on the host's calling
/// thread; they need no thread pool.
public enum PluginExport {
  /// The library's plugin and its table. C functions can only reach global state.
  private static let exported = Mutex<ExportedPlugin?>(nil)

  /// The table of `plugin`, as `cachectl_plugin.h` describes it; `nil` if the host requests another version.
  ///
  /// The first call creates it, and it lives as long as the process; later calls return the same table.
  ///
  /// - Parameters:
  ///   - plugin: the plugin; only the first call evaluates it.
  ///   - abi: the version of the interface that the host passes.
  ///   - readsWait: whether a read can wait for a disk or a network. If so, the host calls it on a separate thread,
  ///     which costs about 20 microseconds. Pass `false` if the engine implements `readNow`.
  ///   - changesWait: the same for `apply`. Pass `false` if it returns without being suspended.
  public static func table(
    of plugin: @autoclosure () -> any StoragePlugin, _ abi: UInt32, readsWait: Bool = true,
    changesWait: Bool = true
  ) -> UnsafeRawPointer? {
    guard abi == CACHECTL_PLUGIN_ABI else { return nil }
    return exported.withLock { exported in
      let current = exported ?? ExportedPlugin(plugin(), readsWait, changesWait)
      exported = current
      return UnsafeRawPointer(current.table)
    }
  }

  /// The library's plugin, and the configuration that the host passes; the error `invalidOption` if that is wrong.
  static func target(
    _ configuration: UnsafePointer<cachectl_configuration>?
  ) -> Result<(plugin: any StoragePlugin, configuration: EngineConfiguration), CacheError> {
    Result { () throws(CacheError) in
      guard let configuration, let plugin = exported.withLock({ $0?.plugin }) else {
        throw CacheError(.failed, "the host gave no configuration")
      }
      return (plugin, try EngineConfiguration(configuration.pointee, for: plugin.declaration))
    }
  }
}

/// A plugin and its table, which nothing frees.
///
/// `@unchecked Sendable`: nothing writes to the table after its creation.
private struct ExportedPlugin: @unchecked Sendable {
  let plugin: any StoragePlugin
  let table: UnsafePointer<cachectl_engine>

  init(_ plugin: any StoragePlugin, _ readsWait: Bool, _ changesWait: Bool) {
    let declaration = plugin.declaration
    var table = cachectl_engine()
    table.abi = CACHECTL_PLUGIN_ABI
    table.reads_wait = readsWait ? 1 : 0
    table.changes_wait = changesWait ? 1 : 0
    table.name = permanent(declaration.name)
    table.version = permanent(declaration.version)
    table.summary = permanent(declaration.summary)
    // No function of the interface tells what others change.
    table.capabilities = permanent(declaration.capabilities.subtracting([.followsChanges]).map(\.rawValue).sorted())
    table.options = permanent(declaration.options.map { cachectl_option($0) })
    table.option_count = declaration.options.count
    table.setFunctions()
    if !declaration.capabilities.contains(.countsChanges) { table.change_count = nil }
    self.plugin = plugin
    self.table = permanent([table])
  }
}

private func permanent(_ text: String) -> UnsafePointer<CChar>? { UnsafePointer(strdup(text)) }

private func permanent<Value>(_ values: [Value]) -> UnsafePointer<Value> {
  let copy = UnsafeMutablePointer<Value>.allocate(capacity: values.count)
  copy.initialize(from: values, count: values.count)
  return UnsafePointer(copy)
}

private func permanent(_ texts: [String]) -> UnsafePointer<UnsafePointer<CChar>?> {
  permanent(texts.map { permanent($0) } + [nil])
}

extension cachectl_option {
  fileprivate init(_ option: EngineOption) {
    self.init()
    name = permanent(option.name)
    help = permanent(option.help)
    is_required = option.isRequired ? 1 : 0
    is_secret = option.isSecret ? 1 : 0
    default_value = option.defaultValue.flatMap { permanent($0.text) }
    switch option.kind {
    case .text: set(CACHECTL_TEXT)
    case .path: set(CACHECTL_PATH)
    case .integer(let range): set(CACHECTL_INTEGER, range)
    case .size(let range): set(CACHECTL_SIZE, range)
    case .duration(let range): set(CACHECTL_DURATION, range)
    case .boolean: set(CACHECTL_BOOLEAN)
    case .storeName: set(CACHECTL_STORE_NAME)
    case .choice(let names):
      set(CACHECTL_CHOICE)
      choices = permanent(names)
    }
  }

  private mutating func set(_ code: cachectl_option_kind, _ range: ClosedRange<Int64> = 0...0) {
    kind = code.rawValue
    minimum = range.lowerBound
    maximum = range.upperBound
  }
}

extension EngineConfiguration {
  /// The configuration that the host passes, for the engine that `declaration` describes.
  ///
  /// - Throws: `CacheError` with the code `invalidOption`.
  fileprivate init(_ configuration: cachectl_configuration, for declaration: EngineDeclaration) throws(CacheError) {
    var values: [String: OptionValue] = [:]
    for (index, option) in declaration.options.enumerated() {
      guard let text = configuration.values?[index] else { continue }
      values[option.name] = OptionValue(String(cString: text), option.kind)
    }
    try self.init(for: declaration, values: values, clock: HostClock(configuration: configuration))
  }
}

/// The host's clock.
///
/// `@unchecked Sendable`: any thread can call the host's function until the store is closed.
private struct HostClock: WallClock, @unchecked Sendable {
  let configuration: cachectl_configuration

  var now: Timestamp { Timestamp(milliseconds: configuration.now(configuration.clock)) }
}
