import Testing

/// Standard streams that the parent process has closed: the next files that are opened must not take their places.
@Suite struct ClosedStreamTests {
  /// Runs the tool with the streams as `redirections` of a shell leave them.
  private func run(_ redirections: String, _ arguments: [String], _ scratch: Scratch) async throws -> Run {
    let line = "exec \"$0\" \"$@\" \(redirections)"
    return try await scratch.run("/bin/sh", ["-c", line, Binary.path] + arguments)
  }

  @Test(
    arguments: Contract.inTurn([
      ("<&-", 0), (">&-", 74), ("2>&-", 0), ("<&- >&-", 74), ("<&- 2>&-", 0), (">&- 2>&-", 74), ("<&- >&- 2>&-", 74),
    ]))
  func nothingIsWrittenIntoAStore(engine: String, closed: (redirections: String, status: Int32)) async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("--backend", engine, "fetch", "cities"))
    for command in [["ls"], ["export"], ["show", "--raw", Contract.citiesKey], ["fetch", "cities", "--page", "1"]] {
      let ended = try await run(closed.redirections, ["--backend", engine] + command, scratch)
      #expect(ended.status == closed.status, "\(command): \(ended.errors)")
    }
    let verified = try await scratch.cachectl("--backend", engine, "verify", "--output", "json")
    expectSuccess(verified)
    #expect(try verified.document()["entriesChecked"] == .number(2))
  }

  @Test(arguments: [(">&-", "stdout is closed"), (">/dev/full", "No space left")])
  func theReasonOfAFailedWriteIsReported(redirection: String, words: String) async throws {
    let ended = try await run(redirection, ["--version"], try Scratch())
    expectFailure(ended, status: 74, mentioning: [words])
    #expect(ended.errors.contains("check the free space") == false)
  }

  @Test(arguments: Contract.persistentEngines)
  func nothingIsReadOutOfAStore(engine: String) async throws {
    let scratch = try Scratch()
    let ended = try await run("<&-", ["--backend", engine, "import"], scratch)
    expectFailure(ended, status: 74, mentioning: ["stdin is closed"])
  }
}
