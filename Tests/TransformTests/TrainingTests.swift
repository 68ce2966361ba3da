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
