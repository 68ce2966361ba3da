internal import CCachectlPlugin
public import StorageSPI
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

  /// The table of `plugin`, as `cachectl_plugin.h` describes it; `nil` if the host asks for another version.
  ///
  /// The first call creates it, and it lives as long as the process; later calls return the same table.
  ///
  /// - Parameters:
  ///   - plugin: the plugin; only the first call evaluates it.
  ///   - abi: the version of the interface that the host passes.
  ///   - readsWait: whether a read may wait for a disk or a network. If so, the host calls it on a separate thread,
  ///     which costs some 20 microseconds. Pass `false` if the engine is `ImmediateReading`.
  public static func table(
    of plugin: @autoclosure () -> any StoragePlugin, _ abi: UInt32, readsWait: Bool = true
  ) -> UnsafeRawPointer? {
    guard abi == CACHECTL_PLUGIN_ABI else { return nil }
    let current = exported.withLock { exported in
      let current = exported ?? ExportedPlugin(plugin(), readsWait: readsWait)
      exported = current
      return current
    }
    return UnsafeRawPointer(current.table)
  }

  /// The library's plugin.
  ///
  /// - Throws: `CacheError` with the code `failed` before the first call of `table(of:_:readsWait:)`.
  static func plugin() throws(CacheError) -> any StoragePlugin {
    guard let exported = exported.withLock({ $0 }) else { throw CacheError(.failed, "the library has no plugin yet") }
    return exported.plugin
  }
}

/// A plugin and its table.
///
/// `@unchecked Sendable`: nothing writes to the table after its creation, and nothing frees it.
private struct ExportedPlugin: @unchecked Sendable {
  let plugin: any StoragePlugin
  let table: UnsafePointer<cachectl_engine>

  init(_ plugin: any StoragePlugin, readsWait: Bool) {
    self.plugin = plugin
    self.table = EngineTable.make(plugin.declaration, readsWait: readsWait)
  }
}

/// Builds an engine's table. Nothing that it points to is ever freed: a library stays loaded until the process ends.
enum EngineTable {
  /// The table of an engine with the declaration `declaration`.
  static func make(_ declaration: EngineDeclaration, readsWait: Bool) -> UnsafePointer<cachectl_engine> {
    var table = cachectl_engine()
    table.size = MemoryLayout<cachectl_engine>.size
    table.abi = CACHECTL_PLUGIN_ABI
    table.flags = readsWait ? CACHECTL_READS_WAIT : 0
    declare(declaration, in: &table)
    setStoreFunctions(&table)
    if readsWait {
      setBatchReading(&table)
    }
    if declaration.capabilities.contains(.eviction) { setEvictionFunctions(&table) }
    setPluginFunctions(&table)
    return Immortal.copy(of: [table])
  }

  private static func declare(_ declaration: EngineDeclaration, in table: inout cachectl_engine) {
    table.name = Immortal.text(declaration.name)
    table.version = Immortal.text(declaration.version)
    table.summary = Immortal.text(declaration.summary)
    table.capabilities = Immortal.list(declaration.capabilities.map(\.rawValue).sorted())
    table.options = Immortal.copy(of: declaration.options.map(option))
    table.option_count = declaration.options.count
    table.option_size = MemoryLayout<cachectl_option>.stride
  }

  private static func option(_ option: EngineOption) -> cachectl_option {
    let kind = kind(of: option.kind)
    return cachectl_option(
      name: Immortal.text(option.name), kind: kind.code.rawValue, is_required: option.isRequired ? 1 : 0,
      is_secret: option.isSecret ? 1 : 0, help: Immortal.text(option.help), minimum: kind.range.lowerBound,
      maximum: kind.range.upperBound, choices: kind.choices.map(Immortal.list),
      default_value: option.defaultValue.map { Immortal.text(text(of: $0)) })
  }

  private static func kind(
    of kind: EngineOption.Kind
  ) -> (code: cachectl_option_kind, range: ClosedRange<Int64>, choices: [String]?) {
    switch kind {
    case .text: (CACHECTL_TEXT, 0...0, nil)
    case .path: (CACHECTL_PATH, 0...0, nil)
    case .integer(let range): (CACHECTL_INTEGER, range, nil)
    case .size(let range): (CACHECTL_SIZE, range, nil)
    case .duration(let range): (CACHECTL_DURATION, range, nil)
    case .boolean: (CACHECTL_BOOLEAN, 0...1, nil)
    case .choice(let names): (CACHECTL_CHOICE, 0...0, names)
    case .storeName: (CACHECTL_STORE_NAME, 0...0, nil)
    }
  }

  private static func text(of value: OptionValue) -> String {
    switch value {
    case .text(let text): text
    case .integer(let number): String(number)
    case .boolean(let flag): flag ? "true" : "false"
    }
  }

  private static func setBatchReading(_ table: inout cachectl_engine) {
    table.read_all = { store, keys, count, visit, context, failure in
      ExportedStore.call(store, failure) { store throws(CacheError) in
        try store.read(keys, count, Visitor(visit, context))
      }
    }
  }

  private static func setEvictionFunctions(_ table: inout cachectl_engine) {
    table.apply_evicting = { store, batch, order, evicted, failure in
      ExportedStore.call(store, failure) { store throws(CacheError) in
        try store.apply(batch, evicting: order, evicted)
      }
    }
    table.add_uses = { store, uses, count, size, failure in
      ExportedStore.call(store, failure) { store throws(CacheError) in try store.add(uses, count, size) }
    }
  }

  private static func setStoreFunctions(_ table: inout cachectl_engine) {
    table.close = { ExportedStore.close($0, $1) }
    table.read = { ExportedStore.read($0, $1, $2, $3, $4) }
    table.apply = { store, batch, failure in
      ExportedStore.call(store, failure) { store throws(CacheError) in try store.apply(batch) }
    }
    table.scan = { store, range, visit, context, failure in
      ExportedStore.call(store, failure) { store throws(CacheError) in
        try store.scan(range, Visitor(visit, context))
      }
    }
    table.statistics = { store, visit, context, storageBytes, failure in
      ExportedStore.call(store, failure) { store throws(CacheError) in
        try store.statistics(Visitor(visit, context), storageBytes)
      }
    }
    table.check_integrity = { store, visit, context, failure in
      ExportedStore.call(store, failure) { store throws(CacheError) in
        try store.checkIntegrity(Visitor(visit, context))
      }
    }
    table.compact = { store, failure in
      ExportedStore.call(store, failure) { store throws(CacheError) in try store.compact() }
    }
    table.change_mark = { ExportedStore.changeMark($0, $1, $2, $3) }
    table.release_memory = { store in
      _ = ExportedStore.call(store, nil) { store throws(CacheError) in try store.releaseMemory() }
    }
  }

  private static func setPluginFunctions(_ table: inout cachectl_engine) {
    table.open = { configuration, store, failure in
      reporting(to: failure) { () throws(CacheError) in try ExportedStore.open(configuration, store) }
    }
    table.inspect = { configuration, visit, context, failure in
      reporting(to: failure) { () throws(CacheError) in
        try ExportedStore.inspect(configuration, Visitor(visit, context))
      }
    }
    table.remove = { configuration, suffix, moved, context, failure in
      reporting(to: failure) { () throws(CacheError) in
        try ExportedStore.remove(configuration, suffix, Visitor(moved, context))
      }
    }
  }
}

/// Copies that are never freed, for everything that a table points to.
enum Immortal {
  /// A copy of `elements`, in one block.
  static func copy<Element>(of elements: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
    copy.initialize(from: elements, count: elements.count)
    return UnsafePointer(copy)
  }

  /// A zero-terminated copy of `text`.
  static func text(_ text: String) -> UnsafePointer<CChar> { copy(of: Array(text.utf8CString)) }

  /// A copy of `texts`, terminated by a null pointer.
  static func list(_ texts: [String]) -> UnsafePointer<UnsafePointer<CChar>?> {
    copy(of: texts.map { Optional(text($0)) } + [nil])
  }
}
