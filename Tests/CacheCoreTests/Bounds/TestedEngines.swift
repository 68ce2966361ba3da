import Foundation
import LMDBStorage
import MemoryStorage
import PlistStorage
import SQLiteStorage
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

/// An engine over which bounds must hold, as a test's argument.
struct TestedEngine: Sendable, CustomTestStringConvertible {
  let plugin: any StoragePlugin

  var testDescription: String { plugin.declaration.name }

  /// Every engine that checks the bounds of a batch. A new one is one line here.
  static let all: [TestedEngine] = [
    TestedEngine(plugin: MemoryPlugin()),
    TestedEngine(plugin: PlistPlugin()),
    TestedEngine(plugin: SQLitePlugin()),
    TestedEngine(plugin: LMDBPlugin()),
  ]
}

/// A store of one test's own, removed when the test lets it go, and handles on it.
final class Scratch: Sendable {
  let clock = ManualClock(Timestamp(milliseconds: 1_700_000_000_000))
  private let plugin: any StoragePlugin
  private let folder: String

  init(_ engine: TestedEngine) throws {
    plugin = engine.plugin
    folder = NSTemporaryDirectory() + "bounds-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// What another process knows of the use of the store.
  var uses: StoreUse { StoreUse(UseTable(path: folder + "/uses", capacity: 10_000)) }

  /// `count` handles on the store, which are one and the same where the engine does not share its store.
  func open(_ count: Int = 1) async throws -> [any StorageEngine] {
    let isShared = plugin.declaration.capabilities.contains(.shared)
    var engines: [any StorageEngine] = []
    for _ in 0..<(isShared ? count : 1) { engines.append(try await plugin.open(try configuration)) }
    return (0..<count).map { engines[$0 % engines.count] }
  }

  private var configuration: EngineConfiguration {
    get throws {
      var values: [String: OptionValue] = [:]
      for option in plugin.declaration.options {
        if option.kind == .path { values[option.name] = .text("\(folder)/store") }
        // A writer that waits long for the others, on a busy machine, is no failure.
        if option == .busyTimeout { values[option.name] = .integer(3_600_000) }
        // A test needs no more than a crash of the process would leave.
        if option.name == EngineOption.durability.name { values[option.name] = .text(Durability.relaxed.rawValue) }
      }
      return try EngineConfiguration(for: plugin.declaration, values: values, clock: clock)
    }
  }
}

/// All entries of a store, in the order of their keys.
func allEntries(_ engine: any StorageEngine) async throws -> [ScannedEntry] {
  var request = ScanRequest(limit: 500)
  var entries: [ScannedEntry] = []
  repeat {
    let page = try await engine.scan(request)
    entries += page.entries
    request.position = page.next
  } while request.position != nil
  return entries
}

extension WriteBatch {
  /// How many entries it removes.
  var removals: Int {
    operations.count { operation in
      if case .remove = operation { true } else { false }
    }
  }
}
