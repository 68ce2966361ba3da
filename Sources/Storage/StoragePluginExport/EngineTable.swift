internal import CCachectlPlugin
internal import StorageSPI

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
        try Inspecting.inspect(configuration, Visitor(visit, context))
      }
    }
    table.remove_store = { configuration, failure in
      reporting(to: failure) { () throws(CacheError) in try Removing.removeStore(configuration) }
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
