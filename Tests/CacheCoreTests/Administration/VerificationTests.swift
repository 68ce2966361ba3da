import FetchVocabulary
import MemoryStorage
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

struct VerificationTests {
  /// A memory store with `count` intact entries in each of three namespaces, and a lease.
  private struct SoundStore {
    let clock = ManualClock(Timestamp(milliseconds: 1_000_000))
    let engine: any StorageEngine
    let keys: [CacheKey]

    init(_ count: Int) async throws {
      let plugin = MemoryPlugin()
      engine = try await plugin.open(EngineConfiguration(for: plugin.declaration, clock: clock))
      var (batch, keys) = (WriteBatch(), [CacheKey]())
      for namespace in ["cities", "movies", "posters"] {
        for number in 0..<count { keys.append(try CacheKey("\(namespace)/v1/page=\(100_000 + number)")) }
      }
      for key in keys + [try CacheKey("\(Lease.namespace)/held")] {
        let payload = Array(key.text.utf8)
        batch.put(key, payload: payload, metadata: Self.metadata(key, payload))
      }
      try await engine.apply(batch)
      self.keys = keys.sorted()
    }

    static func metadata(_ key: CacheKey, _ payload: [UInt8]) -> EntryMetadata {
      var metadata = EntryMetadata(
        storedAt: Timestamp(milliseconds: 5), freshUntil: Timestamp(milliseconds: 6), retainUntil: .distantFuture,
        contentType: "text/plain", attributes: ["etag": "\"1\""])
      metadata.setChecksums(key: key, payload: payload.span)
      return metadata
    }

    func verify(
      _ damage: Damage = Damage(), progress: (Int, Int?) -> Void = { _, _ in }
    ) async throws -> (report: VerificationReport, scans: Int) {
      let engine = FaultyEngine(over: engine, damage)
      return (try await administration(engine).verify(progress: progress), engine.scans)
    }

    func administration(_ engine: any StorageEngine) -> StoreAdministration {
      StoreAdministration(EntryStore(engine: engine, clock: clock))
    }
  }

  @Test(arguments: [0, 1, 333, 334, 700]) func anIntactStoreHasNoIssues(count: Int) async throws {
    let store = try await SoundStore(count)
    var steps: [Int] = []
    let (report, _) = try await store.verify { done, total in
      steps.append(done)
      #expect(total == 3 * count)
    }
    #expect(report.issues == [])
    #expect(report.entriesChecked == 3 * count, "leases are not entries of the user")
    #expect(steps.first == 0 && steps.last == 3 * count && steps == steps.sorted())
  }

  @Test func everyFlippedBitOfAnEntryIsFound() async throws {
    let store = try await SoundStore(1)
    let key = store.keys[1]
    let payload = Array(key.text.utf8)
    let sound = SoundStore.metadata(key, payload)
    var variants: [FaultyEngine.Entry] = payload.indices.flatMap { index in
      (0..<8).map { bit in
        var damaged = payload
        damaged[index] ^= 1 << bit
        return (key, damaged, sound)
      }
    }
    let changes: [(inout EntryMetadata) -> Void] = [
      { $0.storedAt = Timestamp(milliseconds: 4) }, { $0.freshUntil = Timestamp(milliseconds: 7) },
      { $0.retainUntil = Timestamp(milliseconds: 1) }, { $0.contentType = "text/plaio" }, { $0.attributes = [:] },
      { $0.attributes = ["etag": "\"0\""] }, { $0.checksum ^= 1 << 63 }, { $0.payloadChecksum ^= 1 },
    ]
    for change in changes {
      var metadata = sound
      change(&metadata)
      variants.append((key, payload, metadata))
    }
    variants.append((key, Array(payload.dropLast()), sound))
    for variant in variants {
      let engine = FaultyEngine(over: store.engine)
      engine.alter { $0.key == key ? variant : $0 }
      let report = try await store.administration(engine).verify()
      #expect(report.issues.map(\.key) == [key] && report.issues.map(\.kind) == [.checksumMismatch], "\(variant)")
      #expect(report.entriesChecked == 3)
    }
  }

  @Test(arguments: [CacheError.Code.damaged, .ioFailed, .failed, .unsupportedFormat])
  func entriesThatCannotBeReadAreIssuesAndStopNothing(code: CacheError.Code) async throws {
    let store = try await SoundStore(700)
    let bad = [0, 1, 2, 699, 700, 1_000, 2_099].map { store.keys[$0] }
    let (report, _) = try await store.verify(Damage(entries: Set(bad), isListed: true, code: code))
    #expect(report.issues.map(\.key) == bad && report.issues.allSatisfy { $0.kind == .undecodable })
    #expect(report.entriesChecked == 2_100)
  }

  /// The check of the structure, or else the scan, names an entry; if neither does, the check ends in front of it.
  @Test func anEntryThatTheEngineDoesNotNameEndsTheCheck() async throws {
    let store = try await SoundStore(700)
    let (report, _) = try await store.verify(Damage(entries: [store.keys[1_500]], isNamed: false))
    #expect(report.issues.map(\.key) == [nil] && report.issues.map(\.kind) == [.structure], "\(report.issues)")
    #expect(report.entriesChecked == 1_500)
  }

  @Test(arguments: ["cities/", "movies/", ""])
  func aNamespaceThatCannotBeListedIsNamedOnce(prefix: String) async throws {
    let store = try await SoundStore(40)
    let (report, _) = try await store.verify(Damage(prefixes: [prefix]))
    #expect(report.issues.map(\.message) == ["the file of \(prefix) is damaged"])
  }

  @Test func eachEntryIsReadOnce() async throws {
    let store = try await SoundStore(700)
    let engine = FaultyEngine(over: store.engine)
    #expect(try await store.administration(engine).verify().issues.isEmpty)
    #expect(engine.reads == 0 && engine.scans == 3 && engine.requests.allSatisfy(\.includesPayloads))
  }

  @Test func moreIssuesAreCountedThanKept() async throws {
    let store = try await SoundStore(3_500)
    let engine = FaultyEngine(over: store.engine)
    engine.alter { ($0.key, $0.payload + [0], $0.metadata) }
    let report = try await store.administration(engine).verify()
    #expect(report.issues.count == VerificationReport.maximumIssues)
    #expect(report.issueCount == 10_501, "the lease is checked too")
  }

  @Test(arguments: [CacheError.Code.busy, .closed, .permissionDenied, .unreachable])
  func aCheckThatCannotBeMadeIsAnError(code: CacheError.Code) async throws {
    let store = try await SoundStore(1)
    let damage = Damage(failure: CacheError(code, "no"))
    let administration = store.administration(FaultyEngine(over: store.engine, damage))
    let found = await errorCode { _ = try await administration.verify() }
    #expect(found?.rawValue == code.rawValue)
  }

  @Test func aTaskThatIsCancelledStopsChecking() async throws {
    let store = try await SoundStore(3)
    let administration = store.administration(store.engine)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await errorCode { _ = try await administration.verify() }
    }
    #expect(await task.value == .cancelled)
  }
}
