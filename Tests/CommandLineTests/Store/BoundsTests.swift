import Foundation
import Testing

/// The configured bounds, over every persistent engine.
@Suite struct CacheCoreTests {
  private static let engines = Contract.persistentEngines

  private func scratch(_ engine: String, cache: String) throws -> Scratch {
    let scratch = try Scratch()
    try scratch.configure(text: #"{"backend": "\#(engine)", "cache": {\#(cache)}}"#)
    return scratch
  }

  private func pages(_ scratch: Scratch) async throws -> [String] {
    let entries = try await scratch.cachectl("ls", "--output", "json").document()["entries"]?.elements ?? []
    let words = entries.compactMap { $0["key"]?.text?.split(separator: "/").first { $0.hasPrefix("page=") } }
    return words.map { String($0.dropFirst("page=".count)) }
  }

  private func key(page: Int) -> String { Contract.citiesKey.replacing("page=0", with: "page=\(page)") }

  @Test(arguments: engines)
  func theLastUsedEntriesStay(engine: String) async throws {
    let scratch = try scratch(engine, cache: #""maxEntries": 2"#)
    for page in ["0", "1", "0"] { expectSuccess(try await scratch.cachectl("fetch", "cities", "--page", page)) }
    let run = try await scratch.cachectl("fetch", "cities", "--page", "2", "--verbose")
    expectSuccess(run)
    #expect(run.errors.contains("eviction: 1 removed"), "\(run.errors)")
    #expect(try await pages(scratch) == ["0", "2"])
    #expect(try await scratch.cachectl("stats", "--output", "json").document()["evictions"] == 1)
    let used = try await scratch.cachectl("show", key(page: 0), "--output", "json").document()
    #expect(used["uses"] == 1)
    #expect(Contract.isTimestamp(used["lastUsedAt"]))
    let unused = try await scratch.cachectl("show", key(page: 2), "--output", "json").document()
    #expect(unused["uses"] == 0 && unused["lastUsedAt"] == .null)
  }

  @Test(arguments: engines)
  func contentThatIsTooLargeIsShownButNotStored(engine: String) async throws {
    let scratch = try scratch(engine, cache: #""maxBytes": "1KiB""#)
    let run = try await scratch.cachectl("fetch", "cities", "--output", "json")
    expectSuccess(run)
    #expect(try run.document()["items"]?.elements.count == 25)
    #expect(run.errors.contains("maxBytes") && run.errors.contains("1024"), "\(run.errors)")
    #expect(try await pages(scratch).isEmpty)
    let strict = try await scratch.cachectl("fetch", "cities", "--require-store", "--output", "json")
    #expect(strict.status == 74)
    #expect(try strict.document()["items"]?.elements.count == 25)
    #expect(strict.errors.contains("the response is not in the cache"), "\(strict.errors)")
  }

  /// The stale entry is shown; the new response cannot be stored.
  @Test func failuresToStoreInTheBackgroundAreReported() async throws {
    let scratch = try Scratch()
    let lifetimes = ["--set", "cache.timeToLive=0s", "--set", "cache.staleWhileRevalidate=1h"]
    expectSuccess(try await scratch.cachectl(["fetch", "cities"] + lifetimes))
    let command = ["fetch", "cities", "--set", "cache.maxBytes=1KiB", "--output", "json"] + lifetimes
    let run = try await scratch.cachectl(command)
    expectSuccess(run)
    #expect(try run.document()["stale"] == true)
    #expect(run.errors.contains("maxBytes") && run.errors.contains("1024"), "\(run.errors)")
    let strict = try await scratch.cachectl(command + ["--require-store"])
    #expect(strict.status == 74 && strict.errors.contains("the response is not in the cache"), "\(strict.errors)")
    #expect(try strict.document()["stale"] == true)
  }

  @Test(arguments: engines)
  func withoutEvictionAFullCacheIsNotChanged(engine: String) async throws {
    let scratch = try scratch(engine, cache: #""maxEntries": 1, "eviction": "none""#)
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    let run = try await scratch.cachectl("fetch", "cities", "--page", "1", "--output", "json")
    expectSuccess(run)
    #expect(try run.document()["page"] == 1)
    #expect(run.errors.contains("eviction is none"), "\(run.errors)")
    #expect(try await pages(scratch) == ["0"])
  }

  /// If another process prevents a write, that is a warning too, like a full store.
  @Test func aFetchThatCannotStoreBecauseTheStoreIsLockedSucceeds() async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("--backend", "plist", "fetch", "cities"))
    let lock = open(scratch.path("home/plist/store.lock"), O_RDWR | O_CLOEXEC)
    #expect(flock(lock, LOCK_EX) == 0)
    defer {
      flock(lock, LOCK_UN)
      close(lock)
    }
    let command = [
      "--backend", "plist", "--set", "backends.plist.busyTimeout=10ms", "fetch", "movies", "--query", "heat",
    ]
    let run = try await scratch.cachectl(command)
    expectSuccess(run)
    #expect(run.text.contains("Heat") && run.errors.contains("warning"), "\(run.errors)")
    #expect(try await scratch.cachectl(command + ["--require-store"]).status == 74)
  }
}
