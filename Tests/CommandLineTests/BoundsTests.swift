import Foundation
import Testing

/// The bounds that are configured, over every engine that keeps what it is given.
@Suite struct BoundsTests {
  private func scratch(_ engine: String, cache: String) throws -> Scratch {
    let scratch = try Scratch()
    try scratch.write(#"{"backend": "\#(engine)", "cache": {\#(cache)}}"#, to: "work/cachectl.json")
    return scratch
  }

  private func pages(_ scratch: Scratch) async throws -> [String] {
    let entries = try await scratch.cachectl("ls", "--output", "json").document()["entries"]?.elements ?? []
    let words = entries.compactMap { $0["key"]?.text?.split(separator: "/").first { $0.hasPrefix("page=") } }
    return words.map { String($0.dropFirst("page=".count)) }
  }

  @Test(arguments: Contract.persistentEngines)
  func whatIsTooLargeIsShownButNotStored(engine: String) async throws {
    let scratch = try scratch(engine, cache: #""maxBytes": "1KiB""#)
    let run = try await scratch.cachectl("fetch", "cities", "--output", "json")
    #expect(run.status == 74)
    #expect(try run.document()["items"]?.elements.count == 25)
    #expect(run.errors.contains("cache.maxBytes") && run.errors.contains("1024"), "\(run.errors)")
    #expect(try await pages(scratch).isEmpty)
  }
}
