import Foundation
import Testing

/// Payload transforms, as a user of the program sees them.
@Suite struct PayloadTransformsTests {
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
  func showNamesTheTransformsOfAnEntry(engine: String) async throws {
    let scratch = try scratch(engine, #""zstd", "sealed""#)
    expectSuccess(try await scratch.cachectl("fetch", "cities", environment: Self.secret))
    let entry = try await scratch.cachectl(
      "show", Contract.citiesKey, "--output", "json", environment: Self.secret
    ).document()
    #expect(entry["transforms"]?.elements.count == 2)
    #expect(entry["payload"]?.text?.contains("\"items\"") == true)
    let (stored, size) = (try #require(entry["bytes"]?.number), try #require(entry["payloadBytes"]?.number))
    #expect(stored < size)
    // These commands need no key.
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

  #if os(Linux)
    @Test func withoutLibsodiumOneCommandIsNamed() async throws {
      let scratch = try scratch("sqlite", #""sealed""#)
      // The loader takes the first file of that name, and these are not libraries.
      try scratch.makeFolder("libraries")
      for suffix in [".23", ".26", ""] { try scratch.write("", to: "libraries/libsodium.so\(suffix)") }
      var environment = Self.secret
      environment["LD_LIBRARY_PATH"] = scratch.path("libraries")
      expectFailure(
        try await scratch.cachectl("fetch", "cities", environment: environment), status: 78,
        mentioning: ["apt-get install libsodium23"])
    }
  #endif
}
