internal import CCachectlPlugin
internal import Platform
internal import StorageSPI
internal import Synchronization

/// The libraries that the process has loaded. They are never unloaded, because pointers into them are everywhere.
enum LibraryRegistry {
  private static let tables = Mutex<[LibraryFile: LibraryTable]>([:])

  /// The table of `file`, which is loaded first if necessary.
  ///
  /// - Throws: `CacheError` with the code `invalidPlugin`.
  static func table(of file: LibraryFile) throws(CacheError) -> LibraryTable {
    try tables.withLock { tables throws(CacheError) in
      if let known = tables[file] { return known }
      let table = try LibraryTable(try engine(of: file), file)
      tables[file] = table
      return table
    }
  }

  /// Counts a callback that came with `context` while no call was in progress, if that is one of our contexts.
  static func countStray(_ context: UnsafeMutableRawPointer) {
    tables.withLock { tables in
      tables.values.first { $0.context == context }?.countStray()
    }
  }

  private static func engine(of file: LibraryFile) throws(CacheError) -> UnsafeRawPointer {
    guard let library = dlopen(file.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
      throw CacheError(
        .invalidPlugin, "library \(file.path) cannot be loaded: \(lastError(file))",
        hint: "build it for this system, with all that it needs")
    }
    guard let symbol = dlsym(library, CACHECTL_PLUGIN_SYMBOL) else {
      throw CacheError(
        .invalidPlugin, "library \(file.path) has no function \(CACHECTL_PLUGIN_SYMBOL)",
        hint: "define it as cachectl_plugin.h describes")
    }
    let function = unsafeBitCast(symbol, to: (@convention(c) (UInt32) -> UnsafeRawPointer?).self)
    guard let engine = function(CACHECTL_PLUGIN_ABI) else {
      throw CacheError(
        .invalidPlugin, "library \(file.path) does not work with version \(CACHECTL_PLUGIN_ABI) of the interface",
        hint: "get one that is built for this version of cachectl")
    }
    return engine
  }

  /// The loader's message, without the path at its start.
  private static func lastError(_ file: LibraryFile) -> String {
    guard let message = dlerror() else { return "for an unknown reason" }
    let text = LibraryText.cleaned(UnsafeRawBufferPointer(start: message, count: strlen(message)))
    let prefix = file.path + ": "
    return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
  }
}
