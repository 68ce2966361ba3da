import Testing

/// Random histories of requests to the real cache, and the conditions that all of them must meet.
struct HistoryTests {
  private static let requests = 250

  @Test("no history breaks the rules", arguments: HistorySetting.all)
  func histories(_ setting: HistorySetting) async throws {
    var run = try await HistoryRun(setting)
    for violation in try await run.violations(in: Self.requests) { Issue.record("\(setting): \(violation)") }
    #expect(run.hits > Self.requests / 50, "\(setting): next to nothing came from the store")
  }
}
