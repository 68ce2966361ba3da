import TestStorage
import EngineAPI
import EngineConformance
import FetchVocabulary
import Foundation
import PayloadTransforms
import SeededNumbers
import Synchronization
import Testing
@testable import CacheCore

/// An entry that was written through any transforms is read unchanged, even if other transforms are configured then.
struct RoundTripTests {
  private static let payloads: [[UInt8]] = [
    [], [0], Array("{}".utf8), Array(0...255), Array(repeating: UInt8(ascii: "a"), count: 100_000),
    Array(String(repeating: #"{"name":"Bern","country":"CH"},"#, count: 40).utf8), noise,
  ]
  private static let noise = {
    var generator = SeededGenerator(seed: 1)
    return (0..<5_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }()
  private static let attributes = ["etag": "\"1\"", "note": "private", "": "", "e\u{301}": "\n", ":status": "203"]

  @Test(arguments: TestedEngine.all, Transforms.chains)
  func entriesComeBackAsTheyWere(engine: TestedEngine, chain: [String]) async throws {
    let scratch = try await Scratch(engine)
    let transforms = try Transforms.named(chain)
    let metadata = scratch.metadata(Self.attributes)
    for (index, payload) in Self.payloads.enumerated() {
      try await scratch.store(transforms).write(CacheKey("notes/\(index)"), payload: payload, metadata: metadata)
    }
    for readers in Transforms.chains {
      let store = scratch.store(try Transforms.named(readers))
      for (index, payload) in Self.payloads.enumerated() {
        let key = try CacheKey("notes/\(index)")
        let found = try #require(try await store.payload(key), "\(chain), \(readers), \(index)")
        #expect(found.payload == payload, "\(chain), \(readers), \(index)")
        #expect(found.metadata.attributes == Self.attributes)
        #expect(found.metadata.checksum == (try await scratch.stored(key)).metadata.checksum)
      }
    }
    let total = try await scratch.engine.count().total()
    var stored = 0
    for index in Self.payloads.indices { stored += try await scratch.stored(CacheKey("notes/\(index)")).payload.count }
    #expect(total.payloadBytes == stored)
  }

  @Test func theMetadataNamesTheAppliedTransforms() async throws {
    let scratch = try await Scratch()
    let store = scratch.store(try Transforms.named(["zstd", "reversed"]))
    let cases: [(payload: [UInt8], transforms: String)] = [
      (Array(repeating: 1, count: 1_000), "zstd reversed:"), ([1, 2, 3], "reversed:3"), (Self.noise, "reversed:5000"),
    ]
    let key = try CacheKey("notes/a")
    for (payload, transforms) in cases {
      try await store.write(key, payload: payload, metadata: scratch.metadata())
      let text = try #require(try await scratch.stored(key).metadata.transforms)
      #expect(text.hasPrefix(transforms), "\(text)")
    }
  }

  /// Reading has one parameter for the payload and the attributes.
  @Test func attributesAreHiddenLikeTheirEntryOrNotAtAll() async throws {
    let scratch = try await Scratch()
    for transform in [ChangeableTransform(["a", "b"]), ChangeableTransform(["a", nil])] {
      let store = scratch.store(EntryTransforms([transform]))
      let error = await errorCode {
        try await store.write(CacheKey("notes/a"), payload: [1], metadata: scratch.metadata(["note": "private"]))
      }
      #expect(error == .failed)
    }
    #expect(try await scratch.engine.count().total().entries == 0)
    let store = scratch.store(EntryTransforms([ChangeableTransform(["a", "a"])]))
    try await store.write(CacheKey("notes/a"), payload: [1], metadata: scratch.metadata(["note": "private"]))
    #expect(try await store.payload(CacheKey("notes/a"))?.metadata.attributes == ["note": "private"])
  }

  @Test func limitsCountStoredBytes() async throws {
    let scratch = try await Scratch()
    let limits = StoreLimits(maxEntries: 10, maxBytes: 2_000)
    let payload = Array(repeating: UInt8(ascii: "a"), count: 10_000)
    let key = try CacheKey("notes/a")
    let plain = scratch.store(limits: limits)
    #expect(
      await errorCode {
        try await plain.write(key, payload: payload, metadata: scratch.metadata())
      } == .tooLarge)
    let compressed = scratch.store(try Transforms.named(["zstd"]), limits: limits)
    try await compressed.write(key, payload: payload, metadata: scratch.metadata())
    #expect(try await compressed.payload(key)?.payload == payload)
  }

  @Test func aTransformThatIsNotConfiguredIsAnErrorThatNamesIt() async throws {
    let scratch = try await Scratch()
    let key = try CacheKey("notes/a")
    try await scratch.store(try Transforms.named(["reversed"])).write(
      key, payload: [1, 2, 3], metadata: scratch.metadata())
    let error = await #expect(throws: CacheError.self) { try await scratch.store().payload(key) }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("'reversed'") == true)
    #expect(error?.key == key.text)
    #expect(try await scratch.administration().verify().issues.isEmpty)
  }

  @Test func anExpiredEntryIsAbsentEvenIfItCannotBeRead() async throws {
    let scratch = try await Scratch()
    let key = try CacheKey("notes/a")
    try await scratch.store(try Transforms.named(["sealed"])).write(
      key, payload: [1, 2, 3], metadata: scratch.metadata())
    scratch.clock.advance(by: .seconds(4_000))
    #expect(try await scratch.store().payload(key) == nil)
  }

  @Test func aDecodedValueIsUsedAgain() async throws {
    let scratch = try await Scratch()
    let (key, store) = (try CacheKey("notes/a"), scratch.store(try Transforms.named(["zstd", "sealed"])))
    let codec = PayloadCodec<Int>(
      "count", encode: { count throws(CacheError) in (Array(repeating: 1, count: count), "text/plain") },
      decode: { bytes, _, _ throws(CacheError) in bytes.count })
    for count in [1_000, 2_000] {
      try await store.update(key, codec) { _ throws(CacheError) in (count, .distantFuture) }
      for _ in 0..<3 { #expect(try await store.read(key, codec)?.value == count) }
    }
  }
}

/// It hides nothing in fact; its calls return these parameters in turn, or nothing.
private final class ChangeableTransform: PayloadTransform {
  private let parameters: Mutex<[String?]>

  init(_ parameters: [String?]) { self.parameters = Mutex(parameters) }

  var name: String { "changeable" }
  var hidesContent: Bool { true }

  func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? {
    let parameter = parameters.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    return parameter.map { (bytes.withUnsafeBufferPointer { Array($0) }, $0) }
  }

  func decode(
    _ bytes: Span<UInt8>, parameter: String, _ context: TransformContext
  ) throws(CacheError) -> [UInt8] { bytes.withUnsafeBufferPointer { Array($0) } }
}

/// Input from outside is checked: the record in an entry's metadata, and the names and parameters of transforms.
struct RecordTests {
  private static let records = [
    "", " ", "zstd ", " zstd", "zstd  sealed", "zstd:", "zstd@", ":x", "Zstd", "zstd zstd", "1zstd", "zstd:a-b",
    "zstd:a:b", "zstd@9f0c2d6b51e7a384", "zstd:../../../etc/passwd", "zstd:\u{0}", "z\u{e4}hlung",
    String(repeating: "z", count: 33), "zstd:" + String(repeating: "0", count: 65),
  ]

  @Test(arguments: records) func aRecordThatNoTransformWritesIsDamage(record: String) async throws {
    let (scratch, key) = (try await Scratch(), try CacheKey("notes/a"))
    try await scratch.replace(key, [1, 2, 3], scratch.metadata([":transforms": record]), isIntact: true)
    let store = scratch.store(try Transforms.named(["zstd"]))
    let error = await #expect(throws: CacheError.self) { try await store.payload(key) }
    #expect(error?.code == .damaged)
    #expect(error?.key == key.text)
    let issues = try await scratch.administration().verify().issues
    #expect(issues.map(\.key) == [key] && issues.map(\.kind) == [.undecodable])
    #expect(try await scratch.store().export(EntrySelection(), progress: { _, _ in }, to: { _ in }).written == 0)
    // It keeps nothing from being written.
    try await store.write(key, payload: [1, 2, 3], metadata: scratch.metadata())
    #expect(try await store.payload(key)?.payload == [1, 2, 3])
  }

  @Test(arguments: ["zstd", "zstd sealed:5d1a03c9", "a1:Zz09"]) func aRecordIsReadAsWritten(record: String) throws {
    var metadata = EntryMetadata(
      storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "")
    metadata.attributes[":transforms"] = record
    #expect(try #require(metadata.transformSteps).map(\.text).joined(separator: " ") == record)
  }

  @Test(arguments: [0, 20, -5, .max, .min]) func aLevelThatIsNoneIsAnError(level: Int) async {
    let error = #expect(throws: CacheError.self) { try ZstdTransform(level: level) }
    #expect(error?.code == .invalidOption)
    #expect(error?.hint == "give one from 1 to 19")
  }

  @Test(arguments: [
    (["reversed", "reversed"], "name each transform once"), (["Reversed"], "use at most 32 lowercase letters"),
    ([""], "use at most 32"), (["a b"], "use at most 32"), (["a:b"], "use at most 32"),
  ])
  func namesAreCheckedWhenACacheIsOpened(names: [String], hint: String) {
    let transforms = EntryTransforms(names.map { NamedTransform(name: $0, parameter: "") })
    let error = #expect(throws: CacheError.self) { try transforms.requireNames() }
    #expect(error?.code == .invalidOption)
    #expect(error?.hint.hasPrefix(hint) == true, "\(error?.hint ?? "")")
  }

  @Test(arguments: ["a b", "a:b", "a@b", "\u{e4}", String(repeating: "a", count: 65)])
  func aParameterThatCannotBeKeptEndsTheWrite(parameter: String) async throws {
    let (scratch, key) = (try await Scratch(), try CacheKey("notes/a"))
    let store = scratch.store(EntryTransforms([NamedTransform(name: "named", parameter: parameter)]))
    let error = await #expect(throws: CacheError.self) {
      try await store.write(key, payload: [1], metadata: scratch.metadata())
    }
    #expect(error?.code == .failed && error?.message.contains("'named'") == true)
    #expect(try await scratch.engine.count().total().entries == 0)
  }
}

/// A transform that changes nothing.
private struct NamedTransform: PayloadTransform {
  let name: String
  let parameter: String

  func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? {
    (bytes.withUnsafeBufferPointer { Array($0) }, parameter)
  }

  func decode(
    _ bytes: Span<UInt8>, parameter: String, _ context: TransformContext
  ) throws(CacheError) -> [UInt8] { bytes.withUnsafeBufferPointer { Array($0) } }
}

/// Histories made from a seed, on a store whose transforms change in between and on a model without any.
struct HistoryTests {
  private static let seed =
    ProcessInfo.processInfo.environment["TRANSFORM_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...UInt64.max)

  private struct Model {
    var payloads: [CacheKey: [UInt8]] = [:]
    var attributes: [CacheKey: [String: String]] = [:]
  }

  @Test(arguments: TestedEngine.all) func theStoreEqualsTheModel(engine: TestedEngine) async throws {
    for round in 0..<(Thoroughness.isFull ? 30 : 3) {
      let seed = Self.seed &+ UInt64(round)
      var generator = SeededGenerator(seed: seed)
      let scratch = try await Scratch(engine)
      var (model, store) = (Model(), scratch.store())
      for step in 0..<60 {
        let key = try CacheKey("notes/\(Int.random(in: 0..<8, using: &generator))")
        switch Int.random(in: 0..<9, using: &generator) {
        case ..<4:
          let payload = Self.payload(&generator)
          let attributes = generator.isOne(in: 2) ? ["note": "\(step)", "etag": "\"\(step)\""] : [:]
          try await store.write(key, payload: payload, metadata: scratch.metadata(attributes))
          (model.payloads[key], model.attributes[key]) = (payload, attributes)
        case ..<8:
          let found = try await store.payload(key)
          #expect(found?.payload == model.payloads[key], "seed \(seed), step \(step)")
          #expect(found?.metadata.attributes == model.attributes[key], "seed \(seed), step \(step)")
        default: store = scratch.store(try Transforms.named(generator.pick(Transforms.chains)))
        }
      }
      for (key, payload) in model.payloads { #expect(try await store.payload(key)?.payload == payload, "seed \(seed)") }
      #expect(try await StoreAdministration(store).verify().issues.isEmpty)
      try await scratch.engine.close()
    }
  }

  /// Lines that look alike, bytes that do not, or nearly nothing.
  private static func payload(_ generator: inout SeededGenerator) -> [UInt8] {
    let count = Int.random(in: 0..<60, using: &generator)
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    case 1: return (0..<count * 50).map { _ in UInt8.random(in: 0...255, using: &generator) }
    default:
      let lines = (0..<count).map { #"{"id":\#($0 * 7),"name":"\#(["Bern", "Thun", "Chur"][$0 % 3])","kind":"city"}"# }
      return Array(lines.joined(separator: ",").utf8)
    }
  }
}
