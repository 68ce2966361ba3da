import ChildProcesses
import Foundation
import LibraryStorage
import EngineAPI
import Synchronization

/// A folder of a test's own, which no other user may write to, removed with its last reference.
final class TemporaryFolder: Sendable {
  let path = NSTemporaryDirectory() + "library-" + UUID().uuidString

  init() throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  func setMode(_ mode: Int, of name: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
  }
}

struct FixedClock: WallClock {
  let now: Timestamp
}

struct CompilationFailure: Error {
  let output: String
}

/// Compiles C files of the folder Libraries, and C code.
enum Compiler {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let sources = tests.appendingPathComponent("Libraries").path
  private static let header = tests.appendingPathComponent("../../Sources/Storage/CCachectlPlugin/include").standardized
    .path

  /// The libraries made so far. Many tests use the same library, each a separate copy.
  private static let made = Mutex<[[String]: Data]>([:])

  /// Makes the library `file` out of the C file `source`, with the macros `macros`.
  static func build(
    _ source: String, _ macros: [String] = [], _ flags: [String] = [], in folder: TemporaryFolder, as file: String
  ) throws {
    let recipe = [source] + macros + flags
    if let library = made.withLock({ $0[recipe] }) {
      try library.write(to: URL(fileURLWithPath: folder.file(file)))
    } else {
      try compile(source, macros, flags, to: folder.file(file))
      let library = try Data(contentsOf: URL(fileURLWithPath: folder.file(file)))
      made.withLock { $0[recipe] = library }
    }
    try folder.setMode(0o755, of: file)
  }

  private static func compile(_ source: String, _ macros: [String], _ flags: [String], to path: String) throws {
    let process = try FinishedProcess(
      running: ["clang", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-shared", "-fPIC", "-pthread"]
        + ["-I", header, "-I", sources] + macros.map { "-D" + $0 } + flags
        + [sources + "/" + source, "-o", path])
    guard process.status == 0 else { throw CompilationFailure(output: process.errors) }
  }
}

/// A library of which a test has its own copy.
struct Library {
  let folder: TemporaryFolder
  let path: String

  init(_ source: String, _ macros: [String] = [], name: String = "tiny") throws {
    folder = try TemporaryFolder()
    try Compiler.build(source, macros, in: folder, as: "libcachectl-\(name).so")
    path = folder.file("libcachectl-\(name).so")
  }

  func plugin() throws -> LibraryPlugin { try LibraryPlugin(loading: path) }

  /// An open store of the library's.
  func open(
    _ values: [String: OptionValue] = [:], at time: Timestamp = Timestamp(milliseconds: 0)
  ) async throws -> any StorageEngine {
    let plugin = try plugin()
    return try await plugin.open(
      try EngineConfiguration(for: plugin.declaration, values: values, clock: FixedClock(now: time)))
  }
}

extension WriteBatch {
  /// A batch that stores `payload` under each of `keys`.
  static func put(_ keys: String..., payload: String = "some bytes") throws -> WriteBatch {
    var batch = WriteBatch()
    for key in keys { batch.put(try CacheKey(key), payload: Array(payload.utf8), metadata: .sample) }
    return batch
  }
}

extension EntryMetadata {
  static let sample = EntryMetadata(
    storedAt: Timestamp(milliseconds: 1_000), freshUntil: Timestamp(milliseconds: 5_000_000),
    retainUntil: Timestamp(milliseconds: 9_000_000), contentType: "application/json",
    attributes: ["etag": "\"1f\"", "vary": "Accept-Language, ümlaut"], payloadChecksum: 3,
    checksum: .max - 7)
}

/// The error that `body` throws; `nil` if it throws none of the storage boundary.
func cacheError(_ body: () async throws -> Void) async -> CacheError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? CacheError
  }
}
