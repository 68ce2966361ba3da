import Foundation
import Testing

/// Payload transforms, as a user of the program sees them.
@Suite struct TransformTests {
  private static let secret = ["CACHE_KEY": String(repeating: "0a", count: 32)]

  private func scratch(_ engine: String, _ chain: String) throws -> Scratch {
    let scratch = try Scratch()
    try scratch.configure(
      text: """
        {"backend": "\(engine)", "cache": {"transforms": [\(chain)]},
         "transforms": {"sealed": {"key": {"env": "CACHE_KEY"}}}}
        """)
    return scratch
  }

  @Test(arguments: Contract.persistentEngines)
  func showSaysWhatAnEntryIsStoredBy(engine: String) async throws {
    let scratch = try scratch(engine, #""zstd", "sealed""#)
    expectSuccess(try await scratch.cachectl("fetch", "cities", environment: Self.secret))
    let entry = try await scratch.cachectl(
      "show", Contract.citiesKey, "--output", "json", environment: Self.secret
    ).document()
    #expect(entry["transforms"]?.elements.count == 2)
    #expect(entry["payload"]?.text?.contains("\"items\"") == true)
    let (stored, size) = (try #require(entry["bytes"]?.number), try #require(entry["payloadBytes"]?.number))
    #expect(stored < size)
    // What needs no key.
    for command in [["ls"], ["verify"], ["export"], ["stats"]] {
      let run = try await scratch.cachectl(command)
      expectSuccess(run)
      #expect(!run.text.contains("Louisville"))
    }
    let other = try await scratch.cachectl(
      "show", Contract.citiesKey, environment: ["CACHE_KEY": String(repeating: "0b", count: 32)])
    #expect(other.status == 77)
    #expect(other.errors.contains("sealed with another key"), "\(other.errors)")
  }

  @Test(arguments: Contract.persistentEngines)
  func trainingMakesPagesSmaller(engine: String) async throws {
    let scratch = try scratch(engine, #""zstd""#)
    for page in 0..<24 { expectSuccess(try await scratch.cachectl("fetch", "cities", "--page", "\(page)")) }
    let compaction = try await scratch.cachectl("compact", "--train", "--output", "json").document()
    let training = try #require(compaction["training"]?.elements.first)
    #expect(training["namespace"] == "cities" && training["rewritten"] == 24)
    let (before, after) = (compaction["payloadBytesBefore"]?.number, compaction["payloadBytesAfter"]?.number)
    #expect(try #require(after) < #require(before))
    let run = try await scratch.cachectl("fetch", "cities", "--page", "3", "--offline", "--output", "json")
    expectSuccess(run)
    #expect(try run.document()["items"]?.elements.count == 25)
    #expect(try await scratch.cachectl("verify").status == 0)
  }

  @Test func trainingNeedsZstd() async throws {
    let run = try await Scratch().cachectl("compact", "--train")
    #expect(run.status == 74)
    #expect(run.errors.contains("without a transform that takes dictionaries"), "\(run.errors)")
  }
}
