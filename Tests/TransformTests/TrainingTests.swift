import FetchVocabulary
import StorageConformance
import StorageSPI
import Synchronization
import Testing

@testable import ResponseStorage

/// What dictionaries are trained with.
struct TrainingTests {
  /// 30 MB of payloads, of which 12 MB are samples; stored they have two bytes each.
  @Test func samplesAreFromAllOverAStoreThatIsCompressedAlready() async throws {
    let (scratch, transform) = (try await Scratch(), NumberedTransform())
    let (transforms, count) = (EntryTransforms([transform]), 300)
    for number in 0..<count {
      try await scratch.store(transforms).write(
        CacheKey("notes/\(1_000 + number)"), payload: NumberedTransform.payload(number), metadata: scratch.metadata())
    }
    let report = try #require(try await scratch.administration(transforms).train().first)
    let numbers = transform.samples
    #expect(report.samples * NumberedTransform.size <= 12 << 20)
    #expect(report.samples * NumberedTransform.size >= 6 << 20)
    #expect(numbers == numbers.sorted())
    let places = [0] + numbers + [count]
    #expect(zip(places, places.dropFirst()).allSatisfy { $1 - $0 < 10 }, "\(numbers)")
  }

  /// Another process writes with a dictionary until it has looked for a newer one.
  @Test func aDictionaryThatWasJustReplacedIsKeptHoweverOldItIs() async throws {
    let (scratch, transform) = (try await Scratch(), ImprovingTransform())
    let transforms = EntryTransforms([transform])
    var metadata = scratch.metadata()
    metadata.retainUntil = .distantFuture
    for number in 0..<40 {
      try await scratch.store(transforms).write(
        CacheKey("notes/\(number)"), payload: ImprovingTransform.payload, metadata: metadata)
    }
    func count(after pause: Duration) async throws -> Int {
      scratch.clock.advance(by: pause)
      _ = try await scratch.administration(transforms).train()
      return try await scratch.dictionaries().count
    }
    #expect(try await count(after: .zero) == 1)
    #expect(try await count(after: .seconds(3 * 86_400)) == 2)
    #expect(try await count(after: .seconds(30)) == 3, "the first was replaced half a minute ago")
    #expect(try await count(after: .seconds(2 * 86_400)) == 2, "two were replaced two days ago")
    for number in 0..<40 {
      let found = try await scratch.store(transforms).payload(CacheKey("notes/\(number)"))
      #expect(found?.payload == ImprovingTransform.payload)
    }
  }

  /// Two trainings that run at the same time both find that the same dictionary is no longer needed.
  @Test func aDictionaryThatAnotherProcessRemovesFailsNoTraining() async throws {
    let scratch = try await Scratch()
    let transforms = EntryTransforms([ImprovingTransform()])
    var metadata = scratch.metadata()
    metadata.retainUntil = .distantFuture
    for number in 0..<40 {
      try await scratch.store(transforms).write(
        CacheKey("notes/\(number)"), payload: ImprovingTransform.payload, metadata: metadata)
    }
    for _ in 0..<2 {
      _ = try await scratch.administration(transforms).train()
      scratch.clock.advance(by: .seconds(3 * 86_400))
    }
    let present = try await scratch.store().dictionaries(prefix: TransformDictionaryName.keyPrefix)
    let oldest = try #require(present.last).name.key
    let engine = RacedEngine(over: scratch.engine) { call in
      guard case .apply(let batch) = call else { return false }
      return batch.operations.contains { if case .remove = $0 { true } else { false } }
    } _: { () async throws(CacheError) in
      var batch = WriteBatch()
      batch.remove(oldest)
      try await scratch.engine.apply(batch)
    }
    let store = EntryStore(engine: engine, clock: scratch.clock, transforms: transforms)
    let reports = try await StoreAdministration(store: store, ledger: MemoryOperationLedger()).train()
    #expect(reports.map(\.removedDictionaries) == [0])
    #expect(try await scratch.dictionaries().count == 2)
  }
}

/// Stores its one payload in fewer bytes with each dictionary that it makes.
private final class ImprovingTransform: PayloadTransform {
  private final class Dictionary: TransformDictionary {
    let number: Int

    init(number: Int) { self.number = number }
  }

  static let payload = [UInt8](repeating: 7, count: 10_000)
  private let made = Mutex(0)

  var name: String { "improving" }
  var takesDictionaries: Bool { true }

  func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? {
    let number = (context.dictionary as? Dictionary)?.number ?? 0
    return ([UInt8](repeating: 7, count: 9_000 - 1_000 * number), "")
  }

  func decode(
    _ bytes: Span<UInt8>, parameter: String, _ context: TransformContext
  ) throws(CacheError) -> [UInt8] { Self.payload }

  func train(_ samples: [[UInt8]]) throws(CacheError) -> [UInt8]? {
    made.withLock { made in
      made += 1
      return [UInt8(made)]
    }
  }

  func prepare(_ dictionary: [UInt8]) throws(CacheError) -> any TransformDictionary {
    Dictionary(number: Int(dictionary.first ?? 0))
  }
}

/// Stores the number of a payload instead of its 100,000 bytes, and notes the numbers that it is trained with.
private final class NumberedTransform: PayloadTransform {
  static let size = 100_000
  private let noted = Mutex<[Int]>([])

  var name: String { "numbered" }
  var takesDictionaries: Bool { true }
  var samples: [Int] { noted.withLock(\.self) }

  static func payload(_ number: Int) -> [UInt8] {
    [UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 0, count: size - 2)
  }

  func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? { ([bytes[0], bytes[1]], "") }

  func decode(
    _ bytes: Span<UInt8>, parameter: String, _ context: TransformContext
  ) throws(CacheError) -> [UInt8] { Self.payload(Int(bytes[0]) << 8 | Int(bytes[1])) }

  func train(_ samples: [[UInt8]]) throws(CacheError) -> [UInt8]? {
    noted.withLock { $0 = samples.map { Int($0[0]) << 8 | Int($0[1]) } }
    return nil
  }
}
