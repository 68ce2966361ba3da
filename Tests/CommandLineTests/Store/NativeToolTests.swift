import Foundation
import Testing

/// The stores that the tool wrote, seen through the tools of their kind. A tool that is missing is a failure.
@Suite struct NativeToolTests {
  private func store(_ engine: String) async throws -> (scratch: Scratch, items: [JSON]) {
    let scratch = try Scratch()
    let document = try await scratch.cachectl("--backend", engine, "fetch", "cities", "--output", "json").document()
    expectSuccess(try await scratch.cachectl("--backend", engine, "fetch", "movies", "--query", "heat"))
    return (scratch, document["items"]?.elements ?? [])
  }

  private func tool(_ scratch: Scratch, _ arguments: String...) async throws -> Run {
    let run = try await scratch.run("/usr/bin/env", arguments)
    #expect(run.status == 0, "\(arguments): \(run.errors)")
    return run
  }

  @Test func sqlite3ReadsTheDatabase() async throws {
    let (scratch, items) = try await store("sqlite")
    let names = try await tool(
      scratch, "sqlite3", scratch.path("home/cache.sqlite"),
      """
      SELECT json_extract(item.value, '$.name') FROM entries_readable, json_each(entries_readable.json, '$.items') AS item \
      WHERE namespace = 'cities'
      """)
    #expect(names.lines.map { JSON.text($0) } == items.map { $0["name"] })
    let rows = try await tool(
      scratch, "sqlite3", scratch.path("home/cache.sqlite"),
      """
      SELECT key, fresh_until - stored_at BETWEEN 3540000 AND 3600000, json_extract(payload, '$.page') FROM entries \
      WHERE key LIKE 'cities/%'
      """)
    // An hour, minus the time of the transfer.
    #expect(rows.lines == ["\(Contract.citiesKey)|1|0"])
    #expect(
      try await tool(scratch, "sqlite3", scratch.path("home/cache.sqlite"), "PRAGMA integrity_check").lines == ["ok"])
  }

  @Test func theToolsOfLMDBReadTheEnvironment() async throws {
    let (scratch, _) = try await store("lmdb")
    let statistics = try await tool(scratch, "mdb_stat", "-a", scratch.path("home/lmdb")).text
    for name in ["cities", "movies", "queries"] { #expect(statistics.contains("Status of \(name)\n")) }
    let dump = try await tool(scratch, "mdb_dump", "-p", "-s", "cities", scratch.path("home/lmdb"))
    let data = dump.text.components(separatedBy: "HEADER=END\n").last ?? ""
    #expect(data.contains("order=revenue/origin=sample/page=0/sort=desc"))
    #expect(data.contains("WASHINGTON"))
  }

  @Test func jqAndPlutilReadTheFiles() async throws {
    let (scratch, items) = try await store("plist")
    let file = scratch.path("home/plist/cities.json")
    let names = try await tool(scratch, "jq", "-r", ".entries[].payload | fromjson | .items[].name", file)
    #expect(names.lines.map { JSON.text($0) } == items.map { $0["name"] })
    #expect(try await tool(scratch, "jq", "-r", ".entries | keys[]", file).lines == [Contract.citiesKey])
    for name in ["cities", "movies", "queries"] {
      let list = try await tool(scratch, "plutil", "-p", scratch.path("home/plist/\(name).json"))
      #expect(list.text.contains("\"namespace\" => \"\(name)\""))
    }
  }
}
