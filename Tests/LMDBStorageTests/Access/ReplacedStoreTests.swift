import Foundation
import CacheBase
import EngineAPI
import Testing

@testable import LMDBStorage

/// Data files that replace an open one. The file of locks remains the previous one.
@Suite struct ReplacedStoreTests {
  private static let keys = (0..<9).map { "cities/\($0)" }

  /// Puts a store with `keys` in the place of `store`.
  private static func replace(_ store: TestStore) async throws {
    let other = try TestStore()
    let engine = try await other.open()
    for key in keys { try await engine.put(key) }
    try await engine.close()
    #expect(rename(other.dataFile, store.dataFile) == 0)
  }

  private static func expectKeys(_ store: TestStore) async throws {
    let engine = try await store.open()
    #expect(try await engine.keys() == keys)
    try await engine.close()
  }

  @Test func isRefusedWhileAnotherProcessHasTheOneBefore() async throws {
    let store = try await DamageTests.makeStore()
    let process = try NativeToolTests.open(store)
    try await Self.replace(store)
    #expect(await code { _ = try await store.open() } == .busy)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try await Self.expectKeys(store)
  }

  @Test func isRefusedWhileThisProcessHasTheOneBefore() async throws {
    let store = try await DamageTests.makeStore()
    let before = try await store.open()
    let count = try await before.keys().count
    try await Self.replace(store)
    #expect(await code { _ = try await store.open() } == .busy)
    try await before.put("cities/new")
    #expect(try await before.keys().count == count + 1)
    try await before.close()
    try await Self.expectKeys(store)
  }
}
