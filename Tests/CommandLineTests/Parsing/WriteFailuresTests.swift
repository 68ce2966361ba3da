import ArgumentParser
import CacheDomain
import Testing

@testable import cachectl

/// When `--require-store` makes an error of an answer that the cache did not keep.
@Suite struct WriteFailuresTests {
  @Test(
    arguments: [
      ("tooLarge", false, true), ("noSpace", false, true), ("overBounds", false, true), ("busy", false, true),
      ("damaged", false, true), ("unreachable", false, true),
      // The store failed to read an old entry, and kept the new one.
      ("damaged", true, false),
      // A stale entry stands in for the origin.
      ("originUnreachable", true, false), ("invalidAnswer", true, false), (nil, true, false),
      // The origin forbids to store its answer.
      (nil, false, false),
    ] as [(String?, Bool, Bool)])
  func onlyAStoreThatFailedIsAnError(code: String?, isStored: Bool, isFailure: Bool) throws {
    let warnings = code.map { [CacheError(CacheError.Code(rawValue: $0), "it failed")] } ?? []
    let entry = EntryFacts(
      key: "cities/a", storedAt: .seconds(1), freshUntil: .seconds(2), now: .seconds(1), isStored: isStored)
    let snapshot = Snapshot(value: 1, source: .origin, entry: entry, warnings: warnings)
    for isRequired in [false, true] {
      let words = ["fetch", "cities"] + (isRequired ? ["--require-store"] : [])
      guard case .command(let command as FetchCitiesCommand, _) = try CachectlCommand.parseAsRoot(words) else {
        Issue.record("not parsed")
        return
      }
      var writes = WriteFailures(command.fetch)
      writes.note(snapshot)
      var error: CacheError?
      do throws(CacheError) { try writes.check() } catch let failure { error = failure }
      #expect((error != nil) == (isRequired && isFailure))
      if let error { #expect(ExitCode(error.code) == .ioFailed) }
    }
  }
}
