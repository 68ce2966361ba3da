import EngineAPI
import EngineConformance
import FetchVocabulary
import Foundation
import LMDBStorage
import MemoryStorage
import PlistStorage
import SQLiteStorage
import TestStorage
import Testing
@testable import CacheCore

struct ConcurrencyTests {
  private static let writers = 6

  @Test(arguments: Effort.pairs(EvictionPolicy.standard.filter { $0 != .none }))
  func boundsHoldAtEveryInstantWithConcurrentWriters(engine: TestedEngine, policy: EvictionPolicy) async throws {
    let scratch = try Scratch(engine)
    let engines = try await scratch.open(Self.writers + 1)
    let limits = StoreLimits(maxEntries: 9, maxBytes: 900, eviction: policy)
    // A look after each write, not as many as possible: they would keep a writer from the lock until it gives up.
    let (written, progress) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let looks = try await withThrowingTaskGroup(of: Int.self) { group in
      for writer in 0..<Self.writers {
        let store = EntryStore(engine: engines[writer], clock: scratch.clock, limits: limits)
        group.addTask { try await write(to: store, as: writer, progress) }
      }
      let observer = engines[Self.writers]
      group.addTask {
        var looks = 0
        for await _ in written {
          let total = try await observer.count().total(except: "leases")
          #expect(total.entries <= limits.maxEntries && total.payloadBytes <= limits.maxBytes, "\(total)")
          looks += 1
        }
        return -looks
      }
      var stored = 0
      for _ in 0..<Self.writers { stored += try await group.next() ?? 0 }
      progress.finish()
      let looks = -(try await group.next() ?? 0)
      #expect(stored == Self.writers * writesOfEach)
      return looks
    }
    #expect(looks > 0)
    let total = try await engines[0].count().total()
    #expect(total.entries > 0 && total.entries <= limits.maxEntries)
    for engine in engines { try await engine.close() }
  }
}

private let writesOfEach = 60

/// Writes, and says how much was stored. None must fail: that others are faster is not a failure.
private func write(to store: EntryStore, as writer: Int, _ progress: AsyncStream<Void>.Continuation) async throws -> Int
{
  for number in 0..<writesOfEach {
    let now = store.clock.now
    let metadata = EntryMetadata(storedAt: now)
    let key = try CacheKey("url/v1/\(writer)-\(number)")
    try await store.write(key, payload: [UInt8](repeating: 0, count: number * 7 % 200), metadata: metadata)
    progress.yield()
    await Task.yield()
  }
  return writesOfEach
}

/// An engine over which bounds must hold, as a test's argument.
struct TestedEngine: Sendable, CustomTestStringConvertible {
  let plugin: any StoragePlugin

  var testDescription: String { plugin.declaration.name }

  /// For decisions of the core, which do not depend on the engine.
  static let memory = TestedEngine(plugin: MemoryPlugin())
  /// Every engine that checks the bounds of a batch. A new one is one line here.
  static let all: [TestedEngine] = [
    memory, TestedEngine(plugin: PlistPlugin()), TestedEngine(plugin: SQLitePlugin()),
    TestedEngine(plugin: LMDBPlugin()),
  ]
}

/// A store of one test's own, removed when the test lets it go, and handles on it.
final class Scratch: Sendable {
  let clock = ManualClock(Timestamp(milliseconds: 1_700_000_000_000))
  private let plugin: any StoragePlugin
  private let folder: TestFolder

  init(_ engine: TestedEngine) throws {
    plugin = engine.plugin
    folder = try TestFolder()
  }

  /// The uses of the store that another process knows.
  var uses: StoreUse { StoreUse(UseTable(path: folder.path + "/uses", capacity: 10_000)) }

  /// Returns `count` handles on the store. If the engine does not share its store, all of them are the same handle.
  func open(_ count: Int = 1) async throws -> [any StorageEngine] {
    let isShared = plugin.declaration.capabilities.contains(.shared)
    var engines: [any StorageEngine] = []
    for _ in 0..<(isShared ? count : 1) {
      engines.append(try await plugin.open(try plugin.configuration(in: folder, clock: clock)))
    }
    return (0..<count).map { engines[$0 % engines.count] }
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
  var removals: Int { operations.count { operation in if case .remove = operation { true } else { false } } }
}
