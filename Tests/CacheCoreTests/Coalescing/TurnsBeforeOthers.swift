import Testing

/// Runs the tests of a suite at high priority. A test that yields to other tasks does so thousands of times. If it shared a
/// queue with tests that compute for seconds, it would finish last.
struct TurnsBeforeOthers: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await withoutActuallyEscaping(function) { function in
      let tests = Task(priority: .high) { try await function() }
      try await withTaskCancellationHandler {
        try await tests.value
      } onCancel: {
        tests.cancel()
      }
    }
  }
}

extension Trait where Self == TurnsBeforeOthers {
  /// Runs the tests of a suite ahead of other tests.
  static var turnsBeforeOthers: Self { Self() }
}
