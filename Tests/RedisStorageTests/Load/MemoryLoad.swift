import CacheCore
import StorageSPI
import Synchronization

@testable import RedisStorage

/// Writers and readers of one store on a server with little memory, each with connections of its own.
final class MemoryLoad: Sendable {
  /// How often each thing happened.
  struct Counts: CustomStringConvertible {
    var (found, absent, put, removed) = (0, 0, 0, 0)
    var failedReads: [CacheError.Code: Int] = [:]
    var failedWrites: [CacheError.Code: Int] = [:]
    /// What readers got that cannot be, at first.
    var objections: [String] = []

    var description: String {
      let failures = [("reads", failedReads), ("writes", failedWrites)].map { name, failed in
        "failed \(name): \(failed.map { "\($0.value) \($0.key.rawValue)" }.sorted().joined(separator: ", "))"
      }
      return "\(put) put, \(removed) removed, \(found) found, \(absent) absent, \(failures.joined(separator: "; "))"
    }
  }

  private static let (writers, readers) = (4, 4)

  let ledger = LoadLedger(entries: 2_000, seed: Load.seed)
  private let server: RedisServer
  private let mayVanish: Bool
  private let counts = Mutex(Counts())
  private let isOver = Atomic(false)
  /// Odd while the server answers every read with an error.
  private let denials = Atomic(0)

  /// Load on `server`, which may drop entries if `mayVanish`.
  init(_ server: RedisServer, mayVanish: Bool) { (self.server, self.mayVanish) = (server, mayVanish) }

  /// The store as another process opens it, without limits.
  func open() async throws -> EntryStore {
    EntryStore(
      engine: try await RedisPlugin().open(server.url), clock: SystemClock(),
      capabilities: RedisPlugin().declaration.capabilities, decoded: .none)
  }

  /// Runs until each writer has made `changes` changes. After each tenth of them, the first one calls `disturb`.
  func run(changes: Int, _ disturb: @escaping @Sendable (MemoryLoad) async throws -> Void) async throws -> Counts {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Self.readers { group.addTask { try await self.read(number) } }
      try await withThrowingTaskGroup(of: Void.self) { writers in
        for number in 0..<Self.writers {
          writers.addTask { try await self.write(number, changes, number == 0 ? disturb : { _ in }) }
        }
        defer { isOver.store(true, ordering: .releasing) }
        try await writers.waitForAll()
      }
      try await group.waitForAll()
    }
    return counts.withLock { $0 }
  }

  /// Lets the server answer all reads with errors, until readers have met some.
  func denyReads() async throws {
    let before = counts.withLock { $0.failedReads.values.reduce(0, +) }
    try server.ask("ACL", "SETUSER", "default", "-@read")
    denials.add(1, ordering: .sequentiallyConsistent)
    try await until("readers meet errors") { hasFailed(since: before) }
    denials.add(1, ordering: .sequentiallyConsistent)
    try server.ask("ACL", "SETUSER", "default", "+@all")
  }

  /// Whether readers have met some errors more than `before`. What is wrong already need not go on.
  private func hasFailed(since before: Int) -> Bool {
    counts.withLock { !$0.objections.isEmpty || $0.failedReads.values.reduce(0, +) >= before + 20 }
  }

  private func write(_ number: Int, _ changes: Int, _ disturb: (MemoryLoad) async throws -> Void) async throws {
    let store = try await open()
    var random = SeededGenerator(seed: Load.seed &+ UInt64(number))
    for change in 1...changes {
      let entry = Int.random(in: 0..<ledger.entries / Self.writers, using: &random) * Self.writers + number
      let isRemoval = Int.random(in: 0..<10, using: &random) == 0
      // Without room, what takes nothing goes on.
      if try await !self.change(entry, isRemoval, store, &random), !isRemoval {
        _ = try await self.change(entry, true, store, &random)
      }
      if change % (changes / 10) == 0 { try await disturb(self) }
    }
    try await store.close()
  }

  /// Makes a change; `false` if it fails.
  private func change(
    _ entry: Int, _ isRemoval: Bool, _ store: EntryStore, _ random: inout SeededGenerator
  ) async throws -> Bool {
    let (key, change) = (try CacheKey("cities/\(entry)"), ledger.tries(entry, isRemoval: isRemoval))
    let now = SystemClock().now
    let end = now.advanced(by: .seconds(Int.random(in: 10_000..<100_000, using: &random)))
    do throws(CacheError) {
      if isRemoval {
        _ = try await StoreAdministration(store).change(.remove, keys: [key], dryRun: false)
      } else {
        let metadata = EntryMetadata(storedAt: now, freshUntil: end, retainUntil: end, contentType: "text/plain")
        try await store.write(key, payload: ledger.payload(entry, change), metadata: metadata)
      }
    } catch {
      counts.withLock { $0.failedWrites[error.code, default: 0] += 1 }
      return false
    }
    ledger.confirms(entry, change)
    counts.withLock { isRemoval ? ($0.removed += 1) : ($0.put += 1) }
    return true
  }

  private func read(_ number: Int) async throws {
    let store = try await open()
    var random = SeededGenerator(seed: Load.seed &+ 1_000 &+ UInt64(number))
    while !isOver.load(ordering: .acquiring) {
      try await read(entry: Int.random(in: 0..<ledger.entries, using: &random), store)
    }
    try await store.close()
  }

  /// Reads an entry, and judges what it gets.
  private func read(entry: Int, _ store: EntryStore) async throws {
    let (before, phase) = (ledger.account(of: entry), denials.load(ordering: .sequentiallyConsistent))
    let found: [UInt8]?
    do throws(CacheError) {
      found = try await store.read(try CacheKey("cities/\(entry)"), Self.copy)?.value
    } catch {
      counts.withLock { $0.failedReads[error.code, default: 0] += 1 }
      return
    }
    var objection = ledger.objection(entry, found, since: before, mayVanish: mayVanish)
    if phase % 2 == 1, denials.load(ordering: .sequentiallyConsistent) == phase {
      objection = "the server's error was read as \(found == nil ? "a miss" : "an entry")"
    }
    counts.withLock { counts in
      if let objection, counts.objections.count < 10 { counts.objections.append(objection) }
      if found == nil { counts.absent += 1 } else { counts.found += 1 }
    }
  }

  private static func copy(_ bytes: Span<UInt8>, _ metadata: EntryMetadata) throws(CacheError) -> [UInt8] {
    bytes.withUnsafeBufferPointer { Array($0) }
  }
}
