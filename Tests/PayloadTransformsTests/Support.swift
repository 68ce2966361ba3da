import TestStorage
import CacheBase
import FetchVocabulary
import Foundation
import LMDBStorage
import MemoryStorage
import PlistStorage
import SQLiteStorage
import PayloadTransforms
import EngineConformance
import EngineAPI
import Testing

@testable import CacheCore

/// An engine under the transforms, as a test's argument. Transforms must not depend on it.
struct TestedEngine: Sendable, CustomTestStringConvertible {
  let plugin: any StoragePlugin

  var testDescription: String { plugin.declaration.name }

  /// The engines. A new one is one line here.
  static let all = [
    TestedEngine(plugin: MemoryPlugin()), TestedEngine(plugin: PlistPlugin()), TestedEngine(plugin: SQLitePlugin()),
    TestedEngine(plugin: LMDBPlugin()),
  ]

  /// The engines whose stores outlive their processes.
  static let persistent = Array(all.dropFirst())
}

/// A store of one test's own, removed when the test lets it go.
final class Scratch: Sendable {
  let clock = ManualClock(Timestamp(milliseconds: 1_700_000_000_000))
  let plugin: any StoragePlugin
  let configuration: EngineConfiguration
  let engine: any StorageEngine
  private let folder: TestFolder

  init(_ tested: TestedEngine = TestedEngine(plugin: MemoryPlugin())) async throws {
    plugin = tested.plugin
    folder = try TestFolder()
    configuration = try plugin.configuration(in: folder, clock: clock)
    engine = try await plugin.open(configuration)
  }

  /// A store over the engine as another process has it: with nothing loaded.
  func store(_ transforms: EntryTransforms = .none, limits: StoreLimits? = nil) -> EntryStore {
    EntryStore(engine: engine, clock: clock, limits: limits, transforms: transforms)
  }

  func administration(_ transforms: EntryTransforms = .none) -> StoreAdministration {
    StoreAdministration(store(transforms))
  }

  /// Metadata of an entry stored now, fresh for a minute and kept for an hour.
  func metadata(_ attributes: [String: String] = [:]) -> EntryMetadata {
    let now = clock.now
    return EntryMetadata(
      storedAt: now, freshUntil: now.advanced(by: .seconds(60)), retainUntil: now.advanced(by: .seconds(3_600)),
      contentType: "application/json", attributes: attributes)
  }

  /// The payload and metadata in the engine under `key`.
  func stored(_ key: CacheKey) async throws -> (payload: [UInt8], metadata: EntryMetadata) {
    let found = try await engine.read(key) { bytes, metadata in
      EntryAsStored(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
    let entry = try #require(found)
    return (entry.payload, entry.metadata)
  }

  /// Replaces the payload and metadata in the engine under `key`, with the right checksum or the present one.
  func replace(_ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata, isIntact: Bool) async throws {
    var metadata = metadata
    if isIntact { metadata.setChecksums(key: key, payload: payload.span) }
    try await engine.put(key, payload, metadata)
  }
}

struct EntryAsStored: Sendable {
  let payload: [UInt8]
  let metadata: EntryMetadata
}

extension EntryStore {
  /// The payload under `key`, and the metadata.
  func payload(_ key: CacheKey) async throws(CacheError) -> (payload: [UInt8], metadata: EntryMetadata)? {
    try await read(key) { bytes, _ in bytes.withUnsafeBufferPointer { Array($0) } }.map { ($0.value, $0.metadata) }
  }
}

/// The transforms that tests combine.
enum Transforms {
  static let secret = [UInt8](repeating: 7, count: 32)
  static let otherSecret = [UInt8](repeating: 8, count: 32)

  /// Seals with the first of `secrets`, and opens entries that were sealed with any of them.
  static func sealed(_ secrets: [[UInt8]] = [secret], required: Bool = true) throws -> SealedTransform {
    try SealedTransform(keys: secrets.map { String(decoding: Base64.encoded($0), as: UTF8.self) }, required: required)
  }

  /// The transforms called `names`, in this order, for writing; and all of them for reading.
  static func named(
    _ names: [String], secrets: [[UInt8]] = [secret], required: Bool = false, maxEntryBytes: Int = 1 << 30
  ) throws -> EntryTransforms {
    let all: [any PayloadTransform] = [ZstdTransform(), try sealed(secrets, required: required), ReversedTransform()]
    let written = names.compactMap { name in all.first { $0.name == name } }
    return EntryTransforms(written, maxEntryBytes: maxEntryBytes) { name in all.first { $0.name == name } }
  }

  /// Every order that makes a difference.
  static let chains: [[String]] = [
    [], ["zstd"], ["sealed"], ["reversed"], ["zstd", "sealed"], ["sealed", "zstd"], ["zstd", "reversed", "sealed"],
  ]
}

/// A transform as a program adds one: it reverses the bytes, and says how many there are.
struct ReversedTransform: PayloadTransform {
  var name: String { "reversed" }

  func encode(_ bytes: Span<UInt8>, _ context: TransformContext) throws(CacheError) -> (
    bytes: [UInt8], parameter: String
  )? { (bytes.withUnsafeBufferPointer { $0.reversed() }, String(bytes.count)) }

  func decode(_ bytes: Span<UInt8>, parameter: String, _ context: TransformContext) throws(CacheError) -> [UInt8] {
    guard Int(parameter) == bytes.count else { throw CacheError(.damaged, "another length") }
    return bytes.withUnsafeBufferPointer { $0.reversed() }
  }
}
