import Foundation
import Testing

/// Which policy uses the cache, and which the origin.
@Suite struct PolicyTests {
  @Test func anEntryOlderThanTheMaximumAgeIsRevalidated() async throws {
    let engine = "sqlite"
    let scratch = try Scratch()
    let command = ["--backend", engine, "fetch", "movies", "--query", "heat", "--output", "json"]
    let first = try await scratch.cachectl(command).document()
    let second = try await scratch.cachectl(command + ["--max-age", "0s"]).document()
    #expect(first["revalidated"] == false)
    #expect(second["source"] == "cache" && second["revalidated"] == true)
    #expect(second["items"] == first["items"])
    // A view leaves out milliseconds if there are none, and "." comes before "Z".
    let times = [first, second].map { $0["storedAt"]?.text?.replacing("Z", with: "") ?? "" }
    #expect(times[0] < times[1], "\(times)")
    let third = try await scratch.cachectl(command + ["--max-age", "1h"]).document()
    #expect(third["revalidated"] == false && third["storedAt"] == second["storedAt"])
  }

  @Test func aStaleEntryIsRevalidatedUnlessItIsAccepted() async throws {
    let scratch = try Scratch()
    try scratch.configure(text: #"{"cache": {"timeToLive": "0s"}}"#)
    let command = ["fetch", "cities", "--output", "json"]
    expectSuccess(try await scratch.cachectl(command))
    let entry = try await scratch.cachectl("ls", "--state", "stale", "--output", "json").document()
    #expect(entry["entries"]?.elements.map { $0["key"] } == [.text(Contract.citiesKey)])
    let accepted = try await scratch.cachectl(command + ["--max-stale", "1h"]).document()
    #expect(accepted["source"] == "cache" && accepted["revalidated"] == false && accepted["stale"] == true)
    let offline = try await scratch.cachectl(command + ["--offline"]).document()
    #expect(offline["source"] == "cache" && offline["stale"] == true)
    let revalidated = try await scratch.cachectl(command).document()
    #expect(revalidated["source"] == "cache" && revalidated["revalidated"] == true)
  }

  /// The clock may have been set back since it was stored.
  @Test func anEntryFromTheFutureIsStaleAndSaysSo() async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    let future = try await scratch.cachectl("export").text
      .replacingOccurrences(
        of: #""(storedAt|freshUntil|retainUntil)": ?"[^"]*""#, with: #""$1":"9998-01-01T00:00:00.000Z""#,
        options: .regularExpression
      )
      .replacingOccurrences(of: #""checksum": ?"[^"]*", ?"#, with: "", options: .regularExpression)
    try scratch.write(future, to: "work/export")
    expectSuccess(try await scratch.cachectl("rm", "--all", "--yes"))
    expectSuccess(try await scratch.cachectl("import", "export"))
    let limited = try await scratch.cachectl("fetch", "cities", "--offline", "--max-stale", "1h")
    #expect(limited.status == 66, "no limit can be checked for an unknown age: \(limited.errors)")
    let offline = try await scratch.cachectl("fetch", "cities", "--offline")
    expectSuccess(offline)
    #expect(offline.errors.contains("stored in the future, stale, as its age is unknown"), "\(offline.errors)")
    let online = try await scratch.cachectl("fetch", "cities", "--output", "json")
    #expect(try online.document()["revalidated"] == .boolean(true), "the origin confirms it before it is used")
  }
}
