import FetchVocabulary
import EngineConformance
import EngineAPI
import Testing
import PayloadTransforms

@testable import CacheCore

/// What comes from outside is checked: the record in an entry's metadata, and the names and parameters of transforms.
struct RecordTests {
  private static let records = [
    "", " ", "zstd ", " zstd", "zstd  sealed", "zstd:", "zstd@", ":x", "Zstd", "zstd zstd", "1zstd",
    "zstd:a-b", "zstd:a:b", "zstd@9f0c2d6b51e7a384", "zstd:../../../etc/passwd", "zstd:\u{0}", "z\u{e4}hlung",
    String(repeating: "z", count: 33),
    "zstd:" + String(repeating: "0", count: 65),
  ]

  @Test(arguments: records)
  func aRecordThatNoTransformWritesIsDamage(record: String) async throws {
    let (scratch, key) = (try await Scratch(), try CacheKey("notes/a"))
    try await scratch.replace(key, [1, 2, 3], scratch.metadata([":transforms": record]), isIntact: true)
    let store = scratch.store(try Transforms.named(["zstd"]))
    let error = await #expect(throws: CacheError.self) { try await store.payload(key) }
    #expect(error?.code == .damaged)
    #expect(error?.key == key.text)
    let issues = try await scratch.administration().verify().issues
    #expect(issues.map(\.key) == [key] && issues.map(\.kind) == [.undecodable])
    #expect(
      try await scratch.store().export(EntrySelection(), progress: { _, _ in }, to: { _ in }).written == 0)
    // It keeps nothing from being written.
    try await store.write(key, payload: [1, 2, 3], metadata: scratch.metadata())
    #expect(try await store.payload(key)?.payload == [1, 2, 3])
  }

  @Test(arguments: ["zstd", "zstd sealed:5d1a03c9", "a1:Zz09"])
  func aRecordIsReadAsItIsWritten(record: String) throws {
    var metadata = EntryMetadata(
      storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "")
    metadata.attributes[":transforms"] = record
    #expect(try #require(metadata.transformSteps).map(\.text).joined(separator: " ") == record)
  }

  @Test(arguments: [0, 20, -5, .max, .min])
  func aLevelThatIsNoneIsAnError(level: Int) async {
    let error = #expect(throws: CacheError.self) { try ZstdTransform(level: level) }
    #expect(error?.code == .invalidOption)
    #expect(error?.hint == "give one from 1 to 19")
  }

  @Test(arguments: [
    (["reversed", "reversed"], "name each transform once"), (["Reversed"], "begin its name with a lower-case letter"),
    ([""], "begin its name"), (["a b"], "begin its name"), (["a:b"], "begin its name"),
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
