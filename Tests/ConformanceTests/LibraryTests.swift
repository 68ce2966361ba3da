import ChildProcesses
import Foundation
import LibraryStorage
import StorageConformance
import StorageSPI
import Testing

/// The engines as shared libraries, which the build puts beside the tests.
enum Libraries {
  static let names = ["memory", "plist", "sqlite", "lmdb"]

  /// The path of an engine's library.
  static func path(_ name: String) -> String { folder.appendingPathComponent("libcachectl-\(name).so").path }

  /// The engine in a library.
  static func plugin(_ name: String) throws -> any StoragePlugin { try LibraryPlugin(loading: path(name)) }

  private static var folder: URL {
    // The test bundle is the first argument that SwiftPM gives to the runner of tests, or the runner itself.
    let arguments = CommandLine.arguments
    let bundle = arguments.first { $0.hasSuffix(".xctest") } ?? arguments[0]
    return URL(fileURLWithPath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
  }

  /// The engine of that name which is linked in.
  static func linked(_ name: String) throws -> any StoragePlugin {
    try #require(TestedEngines.all.first { $0.declaration.name == name })
  }
}

/// A library and a check, as a test's argument.
struct LibraryCase: Sendable, CustomTestStringConvertible {
  let name: String
  let check: ConformanceCheck

  var testDescription: String { "\(name): \(check.name)" }

  /// Every check over every library, without the checks that its engine does not claim to pass.
  static let all: [LibraryCase] = Case.all.filter { Libraries.names.contains($0.plugin.declaration.name) }
    .map { LibraryCase(name: $0.plugin.declaration.name, check: $0.check) }
}

@Suite("Every engine is the same as a shared library")
struct LibraryTests {
  @Test(arguments: LibraryCase.all)
  func passesThroughTheInterface(_ testCase: LibraryCase) async throws {
    let report = try await run(try Libraries.plugin(testCase.name), only: [testCase.check])
    let outcome = try #require(report.outcomes.first)
    #expect(outcome.result == .passed, "\(testCase.check.summary); seed \(report.seed): \(outcome.message)")
  }

  @Test(arguments: Libraries.names)
  func declaresTheSame(_ name: String) throws {
    let (library, linked) = (try Libraries.plugin(name).declaration, try Libraries.linked(name).declaration)
    #expect(library.name == linked.name && library.version == linked.version && library.summary == linked.summary)
    #expect(library.capabilities == linked.capabilities && library.options == linked.options)
  }

  /// Whatever else a library exported could be taken for the host's own, and the other way round.
  @Test(arguments: Libraries.names)
  func exportsOneNameOnly(_ name: String) throws {
    let process = try FinishedProcess(
      running: ["nm", "--dynamic", "--defined-only", "--extern-only", Libraries.path(name)])
    let names = process.output.split(separator: "\n").compactMap { $0.split(separator: " ").last }
    #expect(process.status == 0 && names == ["cachectl_plugin"], "\(process.output)")
  }

  /// The same store, written by the engine that is linked in and read by the one in the library, and then the other way
  /// round.
  @Test(arguments: ["plist", "sqlite", "lmdb"])
  func sharesItsStoresWithTheEngineThatIsLinkedIn(_ name: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("libraries-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let plugins = [try Libraries.linked(name), try Libraries.plugin(name)]
    for (writer, reader) in [(plugins[0], plugins[1]), (plugins[1], plugins[0])] {
      try await Self.write(with: writer, in: folder.path)
      let found = try await Self.read(with: reader, in: folder.path)
      #expect(found == ["cities/v1/a=%C3%A4", writer.declaration.version])
    }
  }

  private static func open(_ plugin: any StoragePlugin, in folder: String) async throws -> any StorageEngine {
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["path": .text("\(folder)/store")],
      clock: ManualClock(Timestamp(milliseconds: 1_000_000)))
    return try await plugin.open(configuration)
  }

  private static func write(with plugin: any StoragePlugin, in folder: String) async throws {
    let engine = try await open(plugin, in: folder)
    var batch = WriteBatch()
    batch.put(
      try CacheKey("cities/v1/a=%C3%A4"), payload: Array(plugin.declaration.version.utf8),
      metadata: EntryMetadata(
        storedAt: Timestamp(milliseconds: 1), freshUntil: .distantFuture, retainUntil: .distantFuture,
        contentType: "text/plain", attributes: ["etag": "\"ä\""], checksum: .max))
    try await engine.apply(batch)
    try await engine.close()
  }

  private static func read(with plugin: any StoragePlugin, in folder: String) async throws -> [String] {
    let engine = try await open(plugin, in: folder)
    let summaries = try await engine.scan(KeyRange(), limit: 10)
    let key = try #require(summaries.first?.key)
    let text = try await engine.read(key) { payload, metadata throws(CacheError) in
      guard metadata.attributes == ["etag": "\"ä\""] else { return "" }
      return payload.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
    try await engine.close()
    return summaries.map(\.key.text) + [text ?? ""]
  }
}
