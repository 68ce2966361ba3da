import Testing

/// Runs the tests of a suite at a high priority. A test that gives other tasks their turns needs thousands of them: in one
/// queue with tests that compute for seconds, it would be the last of all to end.
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
  /// Gives the tests of a suite their turns before other tests.
  static var turnsBeforeOthers: Self { Self() }
}
