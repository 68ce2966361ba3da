import Foundation
import SeededNumbers
import EngineAPI
import Testing

@testable import CacheCore

/// Histories made from a seed, on a store whose transforms change in between and on a model without any.
struct HistoryTests {
  private static let seed =
    ProcessInfo.processInfo.environment["TRANSFORM_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...UInt64.max)

  private struct Model {
    var payloads: [CacheKey: [UInt8]] = [:]
    var attributes: [CacheKey: [String: String]] = [:]
  }

  @Test(arguments: TestedEngine.all)
  func theStoreHoldsWhatTheModelHolds(engine: TestedEngine) async throws {
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
      for (key, payload) in model.payloads {
        #expect(try await store.payload(key)?.payload == payload, "seed \(seed)")
      }
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
