import Foundation
import Testing

/// The commands about the store, over every engine.
@Suite struct StoreCommandTests {
  /// A store with two cities pages, a search and its query.
  private func store(_ engine: String) async throws -> Scratch {
    let scratch = try Scratch()
    for command in [["cities"], ["cities", "--page", "1"], ["movies", "--query", "heat"]] {
      expectSuccess(try await scratch.cachectl(["--backend", engine, "fetch"] + command))
    }
    return scratch
  }

  private func keys(_ scratch: Scratch, _ engine: String, _ options: String...) async throws -> [String] {
    let run = try await scratch.cachectl(["--backend", engine, "ls", "--output", "json"] + options)
    expectSuccess(run)
    return try run.document()["entries"]?.elements.compactMap { $0["key"]?.text } ?? []
  }

  @Test(arguments: Contract.persistentEngines)
  func entriesAreListed(engine: String) async throws {
    let scratch = try await store(engine)
    let document = try await scratch.cachectl("--backend", engine, "ls", "--output", "json").document()
    #expect(document.names == ["cursor", "entries"])
    #expect(document["cursor"] == .null)
    #expect(document["entries"]?.elements.count == 4)
    for entry in document["entries"]?.elements ?? [] {
      #expect(entry.names == Contract.entryMembers)
      for time in ["storedAt", "freshUntil", "retainUntil"] { #expect(Contract.isTimestamp(entry[time])) }
      #expect(entry["state"] == "fresh" && entry["contentType"] == "application/json")
    }
    #expect(try await keys(scratch, engine, "--namespace", "cities").count == 2)
    #expect(try await keys(scratch, engine, "--prefix", "movies/v1/").count == 1)
    #expect(try await keys(scratch, engine, "--prefix", "cities/v1/order=revenue/origin=sample/page=1").count == 1)
    #expect(try await keys(scratch, engine, "--state", "expired").isEmpty)
  }

  @Test(arguments: Contract.persistentEngines)
  func entriesAreMatchedAndSorted(engine: String) async throws {
    let scratch = try await store(engine)
    let all = try await keys(scratch, engine)
    #expect(try await keys(scratch, engine, "--match", "*/page=1/*") == all.filter { $0.contains("/page=1/") })
    #expect(try await keys(scratch, engine, "--match", "movies*", "--namespace", "cities").isEmpty)
    // The recent queries were stored last, and hold the fewest bytes.
    #expect(try await keys(scratch, engine, "--sort", "size").last == all.last)
    #expect(try await keys(scratch, engine, "--sort", "size", "--limit", "1", "--namespace", "queries") == [all.last])
    expectSuccess(try await scratch.cachectl("--backend", engine, "fetch", "cities", "--page", "1"))
    let used = try await keys(scratch, engine, "--sort", "used", "--limit", "1")
    #expect(used == all.filter { $0.hasPrefix("cities/") && $0.contains("/page=1/") })
    #expect(try await keys(scratch, engine, "--sort", "stored").first != all.first)
    #expect(try await keys(scratch, engine, "--sort", "key", "--cursor", all[0]) == Array(all.dropFirst()))
    let wrong = try await scratch.cachectl("--backend", engine, "ls", "--sort", "size", "--cursor", all[0])
    expectFailure(wrong, status: 64, mentioning: ["--cursor", "--sort"])
    let removed = try await scratch.cachectl("--backend", engine, "rm", "--match", "*/page=*", "--output", "json")
    #expect(try removed.document()["removed"] == 3)
    #expect(try await keys(scratch, engine) == [all.last])
  }

  /// The listings that shells request when the user presses the completion key.
  @Test(arguments: Contract.persistentEngines)
  func shellsCompleteKeysAndNamespaces(engine: String) async throws {
    let scratch = try await store(engine)
    let all = try await keys(scratch, engine)
    let place = ["rm", "--backend", engine]
    #expect(try await completion(place + [""], scratch).lines == ["words"] + all)
    #expect(try await completion(place + ["mov"], scratch).lines == ["words"] + all.filter { $0.hasPrefix("mov") })
    let spaces = try await completion(place + ["--namespace", ""], scratch)
    #expect(spaces.lines == ["words", "cities", "movies", "queries"] && spaces.errors.isEmpty)
  }

  @Test func shellsCompleteTheValuesOfSettingsAndOfLists() async throws {
    let scratch = try Scratch()
    let engines = try await completion(["--set", "backend="], scratch).lines
    #expect(Set(engines).isSuperset(of: ["backend=sqlite", "backend=tiered"]), "\(engines)")
    let durability = try await completion(["--set=backends.sqlite.durability=n"], scratch)
    #expect(durability.lines.contains("backends.sqlite.durability=normal"), "\(durability.text)")
    let booleans = try await completion(["--set", "cache.shared="], scratch)
    #expect(booleans.lines == ["words", "cache.shared=true", "cache.shared=false"])
    let list = try await completion(["bench", "--backends", "sqlite,"], scratch).lines
    #expect(list.contains("sqlite,lmdb") && !list.contains("sqlite,sqlite"), "\(list)")
  }

  /// An empty completion is requested again: on a busy machine, the first one may have given up after its second.
  private func completion(_ words: [String], _ scratch: Scratch) async throws -> Run {
    for _ in 1..<30 {
      let run = try await scratch.cachectl(["__complete", "fish"] + words)
      if !run.output.isEmpty { return run }
    }
    return try await scratch.cachectl(["__complete", "fish"] + words)
  }

  @Test(arguments: [
    ["--backend", "sqlite"], ["--backend", "none"], ["--config", "none"], ["--backend", "./evil.so"],
  ])
  func withoutAStoreShellsCompleteNothing(place: [String]) async throws {
    let scratch = try Scratch()
    for words in [["show", ""], ["ls", "--namespace", ""]] {
      let run = try await scratch.cachectl(["__complete", "fish"] + place + words)
      #expect(run.status == 0 && ["", "words\n"].contains(run.text) && run.errors.isEmpty, "\(run.text)\(run.errors)")
    }
    #expect(!scratch.exists("home"))
  }

  @Test(arguments: Contract.persistentEngines)
  func aCursorVisitsAllEntriesOnce(engine: String) async throws {
    let scratch = try await store(engine)
    let all = try await keys(scratch, engine)
    #expect(all.count == 4 && all == all.sorted())
    var seen: [String] = []
    var cursor: String?
    for _ in 0..<5 {
      let from = cursor.map { ["--cursor", $0] } ?? []
      let page = try await scratch.cachectl(["ls", "--backend", engine, "--limit", "1", "--output", "json"] + from)
        .document()
      seen += page["entries"]?.elements.compactMap { $0["key"]?.text } ?? []
      cursor = page["cursor"]?.text
      if cursor == nil { break }
    }
    #expect(cursor == nil)
    #expect(seen == all)
  }

  /// If the data has no place for the cursor, it is printed on stderr.
  @Test(arguments: ["table", "ndjson", "csv"])
  func theCursorOfALimitedListingIsPrinted(format: String) async throws {
    let scratch = try await store("sqlite")
    let all = try await keys(scratch, "sqlite")
    let limited = try await scratch.cachectl("ls", "--limit", "2", "--output", format)
    expectSuccess(limited)
    #expect(limited.errors.contains("more with --cursor \(all[1])\n"), "\(limited.errors)")
    let whole = try await scratch.cachectl("ls", "--limit", "4", "--output", format)
    #expect(!whole.errors.contains("--cursor"))
    if format != "table" { #expect(whole.errors.isEmpty) }
  }

  @Test(arguments: Contract.persistentEngines)
  func anEntryIsShown(engine: String) async throws {
    let scratch = try await store(engine)
    let document = try await scratch.cachectl("--backend", engine, "show", Contract.citiesKey, "--output", "json")
      .document()
    #expect(document.names == (Contract.entryMembers + ["attributes", "lastUsedAt", "payload", "uses"]).sorted())
    let raw = try await scratch.cachectl("show", "--raw", Contract.citiesKey, "--backend", engine)
    #expect(document["payload"]?.text == raw.text)
    #expect(document["bytes"] == .number(Double(raw.output.count)))
    #expect(try JSON(raw.output)["items"]?.elements.count == 25)
    expectFailure(
      try await scratch.cachectl("--backend", engine, "show", "cities/none"), status: 66, mentioning: ["cities/none"])
    expectFailure(try await scratch.cachectl("--backend", engine, "show", "nokey"), status: 64, mentioning: ["nokey"])
  }

  @Test(
    arguments: Contract.inTurn([
      ([Contract.citiesKey], 1), (["--namespace", "cities"], 2), (["--prefix", "movies/"], 1),
      (["--state", "fresh"], 4),
      (["--state", "expired"], 0), (["--older-than", "1h"], 0), (["--older-than", "0s"], 4), (["--all", "--yes"], 4),
      (["--namespace", "movies", "--older-than", "0s"], 1), (["--", Contract.citiesKey, "movies/none"], 1),
    ]))
  func entriesAreRemoved(engine: String, removal: (options: [String], count: Int)) async throws {
    let scratch = try await store(engine)
    let command = ["--backend", engine, "--output", "json", "rm"]
    let rehearsed = try await scratch.cachectl(command + ["--dry-run"] + removal.options)
    let rehearsal = try rehearsed.document()
    #expect(rehearsal["removed"] == .number(Double(removal.count)) && rehearsal["dryRun"] == true)
    #expect(try await keys(scratch, engine).count == 4)
    let run = try await scratch.cachectl(command + removal.options)
    #expect(run.status == (removal.options.contains("movies/none") || removal.count == 0 ? 66 : 0), "\(run.errors)")
    #expect(rehearsed.status == run.status && rehearsed.errors == run.errors)
    #expect(try run.document().names == ["backend", "bytes", "dryRun", "missing", "removed", "soft"])
    #expect(try run.document()["removed"] == .number(Double(removal.count)))
    #expect(try await keys(scratch, engine).count == 4 - removal.count)
  }

  /// A purge that silently does nothing is dangerous: a condition may be misspelled.
  @Test(arguments: [
    (["--namespace", "citys"], "no entry matches --namespace 'citys'"),
    (["--soft", "--prefix", "cities/none"], "no fresh entry matches --prefix 'cities/none'"),
    (["--match", "http://a/*", "--dry-run"], "no entry matches --match 'http://a/*'"),
    (["--state", "expired", "--older-than", "1h30m"], "no entry matches --state 'expired' --older-than 1h30m"),
  ])
  func aConditionThatMatchesNothingSaysSo(options: [String], message: String) async throws {
    let scratch = try await store("sqlite")
    let run = try await scratch.cachectl(["rm", "--quiet"] + options)
    #expect(run.status == 66 && run.errorLines.count == 1 && run.errors.contains(message), "\(run.errors)")
    #expect(try await keys(scratch, "sqlite").count == 4)
    expectSuccess(try await scratch.cachectl("rm", "--all", "--yes"))
    expectSuccess(try await scratch.cachectl("rm", "--all", "--yes"))
    expectSuccess(try await scratch.cachectl("rm", "--all", "--yes", "--soft"))
    #expect(try await scratch.cachectl(["rm"] + options).status == 66)
  }

  /// As a script leaves it whose variable is not set.
  @Test(arguments: Contract.persistentEngines)
  func anEmptyPrefixIsNotACondition(engine: String) async throws {
    let scratch = try await store(engine)
    let run = try await scratch.cachectl("--backend", engine, "rm", "--prefix", "")
    expectFailure(run, status: 64, mentioning: ["--all"])
    #expect(try await keys(scratch, engine, "--prefix", "").count == 4)
    expectSuccess(try await scratch.cachectl("--backend", engine, "rm", "--prefix", "", "--namespace", "movies"))
    #expect(try await keys(scratch, engine).count == 3)
  }

  @Test(arguments: Contract.engines)
  func statisticsAddUp(engine: String) async throws {
    let scratch = try await store(engine)
    expectSuccess(try await scratch.cachectl("--backend", engine, "fetch", "cities"))
    let entries = try await scratch.cachectl("--backend", engine, "ls", "--output", "json").document()["entries"]
    let statistics = try await scratch.cachectl("--backend", engine, "stats", "--output", "json").document()
    #expect(statistics.names == Contract.statisticsMembers)
    #expect(statistics["backend"] == .text(engine))
    let bytes = entries?.elements.compactMap { $0["bytes"]?.number }.reduce(0, +)
    #expect(statistics["payloadBytes"]?.number == bytes)
    guard engine != "memory" else {
      #expect(statistics["path"] == .null && statistics["hits"] == 0 && statistics["entries"] == 0)
      return
    }
    #expect(statistics["path"]?.text?.hasPrefix(scratch.home) == true)
    #expect(statistics["entries"] == 4 && statistics["fresh"] == 4)
    #expect(statistics["hits"] == 1 && statistics["misses"] == 3)
    #expect(statistics["namespaces"]?.elements.map { $0["name"] } == ["cities", "movies", "queries"])
  }
}
