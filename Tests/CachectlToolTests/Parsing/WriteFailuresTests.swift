import CommandLineKit
import FetchVocabulary
import Testing

@testable import CachectlTool

/// When `--require-store` makes an error of an answer that the cache did not keep.
@Suite struct WriteFailuresTests {
  @Test(
    arguments: [
      ("tooLarge", false, nil, true), ("noSpace", false, nil, true), ("overBounds", false, nil, true),
      ("busy", false, nil, true), ("damaged", false, nil, true), ("unreachable", false, nil, true),
      // The store failed to read an old entry, and kept the new one.
      ("damaged", true, nil, false),
      // A stale entry stands in for the origin.
      ("originUnreachable", true, nil, false), ("invalidAnswer", true, nil, false), (nil, true, nil, false),
      // The origin forbids to store its answer.
      (nil, false, "no-store", true),
      // A newer answer is stored in its place.
      (nil, false, nil, false),
    ] as [(String?, Bool, String?, Bool)])
  func anAnswerThatIsNotKeptIsAnError(code: String?, isStored: Bool, refusal: String?, isFailure: Bool) throws {
    let warnings = code.map { [CacheError(CacheError.Code(rawValue: $0), "it failed")] } ?? []
    let entry = EntryFacts(
      key: "cities/a", storedAt: .seconds(1), freshUntil: .seconds(2), now: .seconds(1), isStored: isStored,
      refusal: refusal)
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
