import CacheDomain
import Foundation
import CacheCore
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// What is wrong with a set-up, an origin or a store, and what the user sees of it.
struct FailureTests {
  private func code(_ body: () async throws -> Void) async throws -> String? {
    do {
      try await body()
      return nil
    } catch let error as CacheError {
      #expect(!error.message.isEmpty && !error.message.hasSuffix("."))
      return error.code.rawValue
    }
  }

  @Test func anUnknownBackendListsTheKnownNames() async throws {
    let home = try TestHome()
    let known = PluginCatalogue.builtIn.plugins.filter { $0.declaration.name != "plist" }
    let container = try home.container(#"{"backend": "plist"}"#, catalogue: PluginCatalogue(known))
    for open in [container.openStore, container.openStoreForFetching] {
      let error = await #expect(throws: CacheError.self) { _ = try await open() }
      #expect(error?.code.rawValue == "unknownBackend")
      #expect(error?.message == "there is no backend 'plist'")
      #expect(error?.hint == "use one of: " + known.map(\.declaration.name).joined(separator: ", "))
    }
  }

  @Test func everyPluginIsFoundByItsName() throws {
    #expect(Set(Backends.all).count == Backends.all.count)
    for name in Backends.all { #expect(try PluginCatalogue.builtIn.plugin(named: name).declaration.name == name) }
    #expect(throws: CacheError.self) { _ = try PluginCatalogue.builtIn.plugin(named: "") }
  }

  /// What a store's files are overwritten with.
  enum Garbage: CaseIterable, Sendable {
    case text, sameSize

    func bytes(size: Int) -> Data {
      switch self {
      case .text: Data("this is no store\n".utf8)
      case .sameSize: Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) })
      }
    }
  }

  @Test(arguments: Backends.persistent, Garbage.allCases)
  func aDamagedStoreKeepsNoAnswerFromTheUser(backend: String, garbage: Garbage) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    let filled = try await container.openStore()
    _ = try await fetchCities(container, filled)
    try await filled.close()
    for file in try home.storeFiles() {
      let url = URL(filePath: "\(home.home)/\(file)")
      let size = try Data(contentsOf: url).count
      try garbage.bytes(size: size).write(to: url)
    }
    let damaged = try home.storeFiles().map { try Data(contentsOf: URL(filePath: "\(home.home)/\($0)")) }

    let store = try await container.openStoreForFetching()
    let snapshots = try await fetchCities(container, store)
    #expect(snapshots.map(\.source) == [.origin])
    #expect(snapshots.map(\.value.cities.count) == [25])
    let warnings = Set(snapshots.flatMap(\.warnings).map(\.code.rawValue))
    #expect(!warnings.isEmpty && warnings.isSubset(of: ["damaged", "unsupportedFormat"]), "\(warnings)")
    try await store.close()

    // An engine may read its files only when they are asked for.
    let code = try await code { _ = try await container.openStore().administration.statistics() }
    #expect(["damaged", "unsupportedFormat"].contains(code), "\(code ?? "no error")")
    #expect(try home.storeFiles().map { try Data(contentsOf: URL(filePath: "\(home.home)/\($0)")) } == damaged)
  }

  @Test(arguments: Backends.persistent)
  func aFailedRepairClosesTheNewStoreAndAMissingStoreIsBusy(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    let repair = {
      _ = try await container.repairStore(isDryRun: false, progress: { _ in }) { _, _ throws(CacheError) in
        UnreadableStore()
      }
    }
    #expect(try await code(repair) == "busy")
    for _ in 0..<2 {
      // Plist makes no file for an empty store.
      let filled = try await container.openStore()
      _ = try await fetchCities(container, filled)
      try await filled.close()
      #expect(try await code(repair) == "unreachable")
    }
  }

  private struct UnreadableStore: DamagedStoreReader {
    func begin(_ request: ScanRequest) throws(CacheError) { throw CacheError(.unreachable, "no process") }
    func next() async throws(CacheError) -> DamagedStoreItem { .end }
  }

  @Test(arguments: Backends.persistent)
  func aStoreThatCannotBeCreatedIsAnError(backend: String) async throws {
    let home = try TestHome()
    let file = home.folder + "/file"
    try Data("a file".utf8).write(to: URL(filePath: file))
    let inHome = try home.container(#"{"backend": "\#(backend)"}"#, home: file + "/home")
    let elsewhere = try home.container(
      #"{"backend": "\#(backend)", "backends": {"\#(backend)": {"path": "\#(file)/store"}}}"#)
    for container in [inHome, elsewhere] {
      #expect(try await code { _ = try await container.openStore() } == "cannotCreate")
      #expect(try await code { _ = try await container.openStoreForFetching() } == "cannotCreate")
    }
    #expect(try Data(contentsOf: URL(filePath: file)) == Data("a file".utf8))
  }
}
