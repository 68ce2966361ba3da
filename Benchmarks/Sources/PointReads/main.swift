internal import Glibc
internal import LMDBStorage
internal import LibraryStorage
internal import SQLiteStorage
internal import StorageSPI

// Arguments: fill|read, sqlite|lmdb or the path of a library, the store's path, the number of entries, then the bytes of
// a payload (fill) or the number of reads (read).

let arguments = CommandLine.arguments
guard arguments.count == 6, let entries = Int(arguments[4]), let number = Int(arguments[5]) else { exit(64) }

/// The engine of that name which is linked in, or the one in the library at that path.
func namedPlugin(_ name: String) throws -> any StoragePlugin {
  if name.contains("/") { return try LibraryPlugin(loading: name) }
  let plugins: [any StoragePlugin] = [SQLitePlugin(), LMDBPlugin()]
  guard let plugin = plugins.first(where: { $0.declaration.name == name }) else { exit(64) }
  return plugin
}

let plugin = try namedPlugin(arguments[2])

let configuration = try EngineConfiguration(
  for: plugin.declaration, values: ["path": .text(arguments[3])], clock: FixedClock())
let engine = try await plugin.open(configuration)
switch arguments[1] {
case "fill": try await fill(engine, entries: entries, payloadBytes: number)
case "read": try await measure(engine, entries: entries, reads: number)
default: exit(64)
}
try await engine.close()
