import CacheDomain
import Foundation
import CacheCore
import EngineConformance
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// The file next to a store that says how it is used.
struct UseFileTests {
  /// Returns the counts of the container's store, after a fetch if `fetching` is true.
  private func usage(_ container: AppDIContainer, fetching: Bool = false) async throws -> OperationCounts {
    let store = try await container.openStore()
    if fetching { _ = try await fetchCities(container, store) }
    try await store.close()
    let again = try await container.openStore()
    let counts = try await again.administration.statistics().operations
    try await again.close()
    return counts
  }

  @Test(arguments: Backends.persistent) func twoStoresOfOneEngineInOneHomeCountApart(backend: String) async throws {
    let home = try TestHome()
    let first = try home.container(backend: backend)
    #expect(try await usage(first, fetching: true) == OperationCounts(misses: 1))
    #expect(try await usage(first, fetching: true) == OperationCounts(hits: 1, misses: 1))
    let other = try home.container(#"{"backend": "\#(backend)", "backends": {"\#(backend)": {"path": "other"}}}"#)
    #expect(try await usage(other) == OperationCounts())
    #expect(try await usage(other, fetching: true) == OperationCounts(misses: 1))
    #expect(try await usage(first) == OperationCounts(hits: 1, misses: 1))
  }

  /// The path of the file of a store in its usual place.
  private func path(_ home: TestHome, _ backend: String) -> String {
    home.home + (backend == "sqlite" ? "/cache.sqlite.uses" : "/\(backend)/store.uses")
  }

  /// Nothing but the store and the file next to it.
  @Test func thereIsOneFileNextToAStore() async throws {
    let home = try TestHome()
    let container = try home.container(#"{"backend": "sqlite", "cache": {"maxEntries": 1}}"#)
    _ = try await usage(container, fetching: true)
    let own = ["cache.sqlite", "cache.sqlite-shm", "cache.sqlite-wal"]
    let names = try FileManager.default.contentsOfDirectory(atPath: home.home).filter { !own.contains($0) }
    #expect(names == ["cache.sqlite.uses"])
  }

  /// Another mark shows that the store is ours. A foreign file at the place of the use file is neither read nor
  /// changed.
  @Test(arguments: Backends.persistent) func aForeignFileOfThatNameIsNotChanged(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    #expect(try await usage(container, fetching: true) == OperationCounts(misses: 1))
    let foreign = URL(fileURLWithPath: path(home, backend))
    try Data("mine".utf8).write(to: foreign)
    let store = try await container.openStore()
    #expect(try await fetchCities(container, store).map(\.source) == [.cache])
    #expect(try await store.administration.statistics().operations == OperationCounts(hits: 1))
    // In a directory the uses go next to it.
    if backend == "sqlite" {
      let error = await #expect(throws: CacheError.self) { try await store.close() }
      #expect(error?.code == .cannotCreate && error?.message.contains("cache.sqlite.uses") == true)
    } else {
      try await store.close()
    }
    let (plugin, options) = try container.engine(backend)
    _ = try await plugin.removeStore(options, movingAside: ".damaged-1")
    #expect(try Data(contentsOf: foreign) == Data("mine".utf8))
  }

  /// The mark was not on disk when the power failed. The store is one by its other mark, and gets this one again.
  @Test(arguments: Backends.persistent) func anEmptyFileBecomesTheMarkAgain(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    _ = try await usage(container, fetching: true)
    let file = path(home, backend)
    try Data().write(to: URL(fileURLWithPath: file))
    #expect(try await usage(container, fetching: true) == OperationCounts(hits: 1))
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)).prefix(8) == Data("cahuses2".utf8))
    let files = try FileManager.default.subpathsOfDirectory(atPath: home.home).filter { $0.hasSuffix(".uses") }
    #expect(files.count == 1, "\(files)")
  }

  /// The use file must not become a mark of someone else's files.
  @Test(arguments: Backends.persistent) func aStoreThatCannotBeOpenedGetsNoFile(backend: String) async throws {
    let home = try TestHome()
    let store = home.home + (backend == "sqlite" ? "/cache.sqlite" : "/\(backend)")
    try FileManager.default.createDirectory(atPath: home.home, withIntermediateDirectories: true)
    if backend == "sqlite" { try Data("mine".utf8).write(to: URL(fileURLWithPath: store)) }
    if backend != "sqlite" { try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true) }
    if backend != "sqlite" { try Data("mine".utf8).write(to: URL(fileURLWithPath: store + "/notes")) }
    let before = try FileManager.default.subpathsOfDirectory(atPath: home.home)
    let container = try home.container(backend: backend)
    await #expect(throws: CacheError.self) { _ = try await container.openStore() }
    // A damaged store of ours: fetches continue without it.
    let damaged = try home.container(#"{"backend": "\#(backend)", "backends": {"\#(backend)": {"path": "d"}}}"#)
    _ = try await usage(damaged, fetching: true)
    let data = home.home + (backend == "sqlite" ? "/d" : backend == "lmdb" ? "/d/data.mdb" : "/d/cities.json")
    try Data("damage".utf8).write(to: URL(fileURLWithPath: data))
    let file = home.home + (backend == "sqlite" ? "/d.uses" : "/d/store.uses")
    try FileManager.default.removeItem(atPath: file)
    // The mark inside the format is removed as well, except the plist engine's, which is in the directory.
    let open = try? await damaged.openStoreForFetching()
    if let open {
      _ = try await fetchCities(damaged, open)
      try? await open.close()
      #expect(!FileManager.default.fileExists(atPath: file) || backend == "plist")
    }
    #expect(Set(try FileManager.default.subpathsOfDirectory(atPath: home.home)).isSuperset(of: before))
    #expect(!FileManager.default.fileExists(atPath: path(home, backend)))
  }

  /// The layer `readonly` and the process that reads a damaged store write nothing.
  @Test(arguments: Backends.persistent) func aStoreThatIsOnlyReadKeepsItsFile(backend: String) async throws {
    let home = try TestHome()
    _ = try await usage(try home.container(backend: backend), fetching: true)
    let before = try Data(contentsOf: URL(fileURLWithPath: path(home, backend)))
    let readOnly = try home.container(#"{"backend": "\#(backend)", "cache": {"layers": ["readonly"]}}"#)
    for isForRepair in [false, true] {
      let store =
        isForRepair ? try await home.container(backend: backend).openDamagedStore() : try await readOnly.openStore()
      let key = try #require(
        try await store.administration.list(EntrySelection(), after: nil, limit: 1).entries.first?.key)
      for _ in 0..<10_000 {
        home.clock.advance(by: .seconds(1))
        store.entries.countLookUp(key)
      }
      try await store.close()
      #expect(try Data(contentsOf: URL(fileURLWithPath: path(home, backend))) == before)
    }
  }

  @Test func aStoreThatEndsWithTheProcessLeavesNoFile() async throws {
    let home = try TestHome()
    #expect(try await usage(home.container(backend: "memory"), fetching: true) == OperationCounts())
    #expect(!FileManager.default.fileExists(atPath: home.home))
  }

  /// The uses are in the file with the mark of a store, inside a store that is a folder.
  @Test(arguments: Backends.persistent) func theUsesAreInTheFileWithTheMark(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    _ = try await usage(container, fetching: true)
    let made = try FileManager.default.subpathsOfDirectory(atPath: home.home).filter { $0.hasSuffix(".uses") }
    #expect(made == [backend == "sqlite" ? "cache.sqlite.uses" : "\(backend)/store.uses"])
    let first = try Data(contentsOf: URL(fileURLWithPath: "\(home.home)/\(made[0])"))
    _ = try await usage(container, fetching: true)
    let second = try Data(contentsOf: URL(fileURLWithPath: "\(home.home)/\(made[0])"))
    #expect(second.count >= 2 * 4_096 && second != first && second.prefix(8) == first.prefix(8))
  }

  /// A mark next to the link would be one for any file that the link is replaced by.
  @Test func theUsesOfALinkedStoreAreNextToItsFile() async throws {
    let home = try TestHome()
    let (link, target) = (home.home + "/cache.sqlite", home.folder + "/target.sqlite")
    try FileManager.default.createDirectory(atPath: home.home, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: target))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    _ = try await usage(try home.container(backend: "sqlite"), fetching: true)
    #expect(FileManager.default.fileExists(atPath: target + ".uses"))
    #expect(!FileManager.default.fileExists(atPath: link + ".uses"))
  }

  @Test func aSymbolicLinkIsNotFollowed() async throws {
    let home = try TestHome()
    let container = try home.container(backend: "sqlite")
    let (link, target) = (home.home + "/cache.sqlite.uses", home.folder + "/precious")
    try await container.openStore().close()
    try? FileManager.default.removeItem(atPath: link)
    try Data("precious".utf8).write(to: URL(fileURLWithPath: target))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    let store = try await container.openStore()
    for source in [Snapshot<CitiesPage>.Source.origin, .cache] {
      #expect(try await fetchCities(container, store).map(\.source) == [source])
    }
    let error = await #expect(throws: CacheError.self) { try await store.close() }
    #expect(error?.message.hasPrefix("cannot create \(link)") == true, "\(error?.message ?? "")")
    #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("precious".utf8))
  }
}
