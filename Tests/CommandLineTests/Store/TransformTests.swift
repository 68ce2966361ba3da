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
    let explained = try await scratch.cachectl(
      "explain", "cities", "--output", "json", environment: ["CACHE_KEY": String(repeating: "0b", count: 32)])
    #expect(try explained.document()["reason"] == "the cache cannot be read")
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

  /// A repair sets aside what no dictionary can read any more, and keeps the rest.
  @Test(arguments: Contract.persistentEngines)
  func entriesWithoutTheirDictionaryAreRepairedLikeDamage(engine: String) async throws {
    let scratch = try scratch(engine, #""zstd""#)
    for page in 0..<24 { expectSuccess(try await scratch.cachectl("fetch", "cities", "--page", "\(page)")) }
    expectSuccess(try await scratch.cachectl("compact", "--train"))
    expectSuccess(try await scratch.cachectl("fetch", "movies", "--query", "heat"))
    let exported = try await scratch.cachectl("export").documents().compactMap { $0["key"]?.text }
    let dictionary = try #require(exported.first { $0.hasPrefix("leases/dictionaries/cities/") })
    expectSuccess(try await scratch.cachectl("rm", dictionary, "--yes"))
    let found = try await scratch.cachectl("verify", "--output", "json")
    #expect(found.status == 65)
    #expect(try found.document()["issues"]?.elements.count == 24)
    for options in [["--dry-run"], []] {
      let run = try await scratch.cachectl(["verify", "--repair", "--output", "json"] + options)
      #expect(run.status == 65, "\(run.errors)")
      let repair = try #require(try run.document()["repair"])
      let lost = repair["lost"]?.elements ?? []
      #expect(lost.count == 24)
      #expect(lost.allSatisfy { $0["message"]?.text?.contains("dictionary") == true }, "\(lost)")
      #expect(repair["mayHaveLost"]?.elements.isEmpty == true)
      #expect(repair["movedTo"]?.elements.isEmpty == !options.isEmpty)
    }
    expectSuccess(try await scratch.cachectl("verify"))
    expectSuccess(try await scratch.cachectl("fetch", "movies", "--query", "heat", "--offline"))
    let again = try await scratch.cachectl("fetch", "cities", "--page", "3", "--output", "json")
    expectSuccess(again)
    #expect(try again.document()["source"]?.text == "origin")
  }

  #if os(Linux)
    @Test func withoutLibsodiumOneCommandIsNamed() async throws {
      let scratch = try scratch("sqlite", #""sealed""#)
      // The loader takes the first file of that name, and these are no libraries.
      try scratch.makeFolder("libraries")
      for suffix in [".23", ".26", ""] { try scratch.write("", to: "libraries/libsodium.so\(suffix)") }
      var environment = Self.secret
      environment["LD_LIBRARY_PATH"] = scratch.path("libraries")
      expectFailure(
        try await scratch.cachectl("fetch", "cities", environment: environment), status: 78,
        mentioning: ["apt-get install libsodium23"])
    }
  #endif

  /// Otherwise a training with the wrong key would find no samples, and look like one of an empty store.
  @Test func trainingNeedsTheKeyOfWhatIsSealed() async throws {
    let scratch = try scratch("sqlite", #""zstd", "sealed""#)
    expectSuccess(try await scratch.cachectl("fetch", "cities", environment: Self.secret))
    let other = ["CACHE_KEY": String(repeating: "0b", count: 32)]
    for (environment, status) in [(other, 77), ([:], 78)] {
      let run = try await scratch.cachectl("compact", "--train", environment: environment)
      #expect(run.status == Int32(status), "\(run.errors)")
    }
    expectSuccess(try await scratch.cachectl("compact", "--train", environment: Self.secret))
  }

  @Test func trainingNeedsZstd() async throws {
    let run = try await Scratch().cachectl("compact", "--train")
    #expect(run.status == 78)
    #expect(run.errors.contains("without a transform that takes dictionaries"), "\(run.errors)")
  }

  /// Neither counts what the cache keeps for itself, such as dictionaries.
  @Test(arguments: Contract.persistentEngines)
  func doctorAndStatsCountTheSameEntries(engine: String) async throws {
    let scratch = try scratch(engine, #""zstd""#)
    for page in 0..<24 { expectSuccess(try await scratch.cachectl("fetch", "cities", "--page", "\(page)")) }
    expectSuccess(try await scratch.cachectl("compact", "--train"))
    #expect(try await scratch.cachectl("export").lines.count > 24)
    #expect(try await scratch.cachectl("stats", "--output", "json").document()["entries"] == 24)
    let doctor = try await scratch.cachectl("doctor")
    #expect(doctor.text.contains("24 entries"), "\(doctor.text)")
  }
}
