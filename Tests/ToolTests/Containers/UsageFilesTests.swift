import CacheDomain
import Foundation
import CacheCore
import StorageSPI
import Testing

@testable import CacheComposition
@testable import ProgramConfiguration

/// The files that tell of the use of stores: whose they are, and where.
struct UsageFilesTests {
  /// The counts of the store of the container, after a fetch where that is asked for.
  private func usage(_ container: AppDIContainer, fetching: Bool = false) async throws -> OperationCounts {
    let store = try await container.openStore()
    if fetching { _ = try await fetchCities(container, store) }
    try await store.close()
    let again = try await container.openStore()
    let counts = try await again.administration.statistics().operations
    try await again.close()
    return counts
  }

  @Test(arguments: Backends.persistent)
  func twoStoresOfOneEngineInOneHomeCountApart(backend: String) async throws {
    let home = try TestHome()
    let first = try home.container(backend: backend)
    #expect(try await usage(first, fetching: true) == OperationCounts(misses: 1))
    #expect(try await usage(first, fetching: true) == OperationCounts(hits: 1, misses: 1))
    let other = try home.container(#"{"backend": "\#(backend)", "backends": {"\#(backend)": {"path": "other"}}}"#)
    #expect(try await usage(other) == OperationCounts())
    #expect(try await usage(other, fetching: true) == OperationCounts(misses: 1))
    #expect(try await usage(first) == OperationCounts(hits: 1, misses: 1))
    #expect(FileManager.default.fileExists(atPath: home.home + "/other.usage"))
  }

  /// The address and the name identify a store on a server; the login does not.
  @Test func storesOnServersCountApart() {
    let engine = EngineDeclaration(
      name: "server", version: "1", summary: "for tests", capabilities: [.persistent],
      options: [
        EngineOption("url", .text, default: .text("redis://127.0.0.1"), help: "where"),
        EngineOption("user", .text, default: .text(""), help: "who"),
        EngineOption("prefix", .storeName, default: .text("cachectl"), help: "which"),
      ])
    func path(_ values: [String: OptionValue]) -> String {
      let files = UsageFiles(of: engine, values, home: "/home")
      #expect(files.accesses.path == files.operations.path.dropLast(3) + "es")
      return files.operations.path
    }
    let usual: [String: OptionValue] = ["url": .text("redis://127.0.0.1"), "prefix": .text("cachectl")]
    #expect(path(usual) == "/home/server.usage" && path([:]) == path(usual))
    #expect(path(usual.merging(["user": .text("ada")]) { $1 }) == path(usual))
    let others: [[String: OptionValue]] = [
      ["url": .text("redis://10.0.0.1")], ["url": .text("redis://127.0.0.1/2")], ["prefix": .text("other")],
      ["url": .text("redis://10.0.0.1"), "prefix": .text("other")],
    ]
    let paths = others.map { path(usual.merging($0) { $1 }) }
    #expect(Set(paths + [path(usual)]).count == 5)
    for path in paths {
      let name = String(path.dropFirst("/home/".count).dropLast(".usage".count))
      #expect(UsageFiles.mayBeOnServer(name, "server") && !UsageFiles.mayBeOnServer(name, "serve"))
    }
  }

  @Test func whatDoesNotOutliveTheProcessLeavesNoFile() async throws {
    let home = try TestHome()
    #expect(try await usage(home.container(backend: "memory"), fetching: true) == OperationCounts())
    #expect(!FileManager.default.fileExists(atPath: home.home))
  }

  /// The uses are in the file with the mark of a store, inside a store that is a folder.
  @Test(arguments: Backends.persistent)
  func theUsesAreInTheFileWithTheMark(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    _ = try await usage(container, fetching: true)
    let made = try FileManager.default.subpathsOfDirectory(atPath: home.home).filter { $0.hasSuffix(".uses") }
    #expect(made == [backend == "sqlite" ? "cache.sqlite.uses" : "\(backend)/store.uses"])
    let empty = try Data(contentsOf: URL(fileURLWithPath: "\(home.home)/\(made[0])")).count
    _ = try await usage(container, fetching: true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(home.home)/\(made[0])")).count > max(empty, 32))
  }

  /// A mark beside the link would be one for any file that the link is replaced by.
  @Test func theUsesOfALinkedStoreAreBesideItsFile() async throws {
    let home = try TestHome()
    let (link, target) = (home.home + "/cache.sqlite", home.folder + "/target.sqlite")
    try FileManager.default.createDirectory(atPath: home.home, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: target))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    _ = try await usage(try home.container(backend: "sqlite"), fetching: true)
    #expect(FileManager.default.fileExists(atPath: target + ".uses"))
    #expect(!FileManager.default.fileExists(atPath: link + ".uses"))
  }

  @Test(arguments: [".usage", ".uses"])
  func aSymbolicLinkIsNotFollowed(suffix: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: "sqlite")
    let (link, target) = (home.home + "/cache.sqlite" + suffix, home.folder + "/precious")
    try await container.openStore().close()
    try? FileManager.default.removeItem(atPath: link)
    try Data("precious".utf8).write(to: URL(fileURLWithPath: target))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    let store = try await container.openStore()
    for source in [Snapshot<CitiesPage>.Source.origin, .cache] {
      #expect(try await fetchCities(container, store).map(\.source) == [source])
    }
    let error = await #expect(throws: CacheError.self) { try await store.close() }
    #expect(error?.message == "\(link) is a symbolic link, which is not followed")
    #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("precious".utf8))
  }
}
