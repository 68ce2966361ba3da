import Foundation
import LibraryStorage
import StorageConformance
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("The engine is the same as a shared library")
struct RedisLibraryTests {
  private static let server = Result { try RedisServer() }

  /// The engine in the library that the build puts beside the tests.
  static func plugin(_ name: String) throws -> any StoragePlugin {
    try LibraryPlugin(loading: BuiltProducts.path("libcachectl-\(name).so"))
  }

  @Test(arguments: RedisPlugin().checks)
  func keepsContract(_ check: ConformanceCheck) async throws {
    try await expectKept(check, try Self.plugin("redis"), url: try Self.server.get().url)
  }

  @Test(arguments: [RedisPlugin(), RedisPlugin(.cluster), RedisPlugin(.evictingServer)].map(\.declaration))
  func declaresTheSame(_ declaration: EngineDeclaration) throws {
    let loaded = try Self.plugin(declaration.name).declaration
    #expect(
      (loaded.name, loaded.version, loaded.summary) == (declaration.name, declaration.version, declaration.summary))
    #expect(loaded.capabilities == declaration.capabilities && loaded.options == declaration.options)
  }
}
