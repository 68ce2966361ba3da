import FetchVocabulary
import SeededNumbers
import EngineConformance
import EngineAPI
import Synchronization
import Testing

@testable import CacheCore

/// What is written through any transforms is read as it was, whatever transforms are configured then.
struct RoundTripTests {
  private static let payloads: [[UInt8]] = [
    [], [0], Array("{}".utf8), Array(0...255), Array(repeating: UInt8(ascii: "a"), count: 100_000),
    Array(String(repeating: #"{"name":"Bern","country":"CH"},"#, count: 40).utf8),
    noise,
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
      try await scratch.store(transforms).write(
        CacheKey("notes/\(index)"), payload: payload, metadata: metadata)
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

  @Test func theMetadataNamesWhatWasApplied() async throws {
    let scratch = try await Scratch()
    let store = scratch.store(try Transforms.named(["zstd", "reversed"]))
    let cases: [(payload: [UInt8], transforms: String)] = [
      (Array(repeating: 1, count: 1_000), "zstd reversed:"), ([1, 2, 3], "reversed:3"),
      (Self.noise, "reversed:5000"),
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
      let error = await code { () async throws(CacheError) in
        try await store.write(
          CacheKey("notes/a"), payload: [1], metadata: scratch.metadata(["note": "private"]))
      }
      #expect(error == .failed)
    }
    #expect(try await scratch.engine.count().total().entries == 0)
    let store = scratch.store(EntryTransforms([ChangeableTransform(["a", "a"])]))
    try await store.write(CacheKey("notes/a"), payload: [1], metadata: scratch.metadata(["note": "private"]))
    #expect(try await store.payload(CacheKey("notes/a"))?.metadata.attributes == ["note": "private"])
  }

  @Test func limitsCountWhatIsStored() async throws {
    let scratch = try await Scratch()
    let limits = StoreLimits(maxEntries: 10, maxBytes: 2_000)
    let payload = Array(repeating: UInt8(ascii: "a"), count: 10_000)
    let key = try CacheKey("notes/a")
    let plain = scratch.store(limits: limits)
    #expect(
      await code { () async throws(CacheError) in
        try await plain.write(key, payload: payload, metadata: scratch.metadata())
      } == .tooLarge)
    let compressed = scratch.store(try Transforms.named(["zstd"]), limits: limits)
    try await compressed.write(key, payload: payload, metadata: scratch.metadata())
    #expect(try await compressed.payload(key)?.payload == payload)
  }

  @Test func aTransformThatIsNotSetUpIsAnErrorThatNamesIt() async throws {
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

/// Hides nothing in truth; its calls answer with these parameters in turn, or with nothing.
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
