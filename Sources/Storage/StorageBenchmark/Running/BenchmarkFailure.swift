internal import StorageSPI

/// The reason why a phase ended early.
enum BenchmarkFailure: Error {
  /// The engine gave an impossible answer.
  case wrong(WrongAnswer)
  /// The engine failed.
  case engine(CacheError)
  /// The task was cancelled.
  case cancelled

  /// Runs `body`, and turns its storage errors into failures.
  static func engine<Output>(
    _ body: () async throws(CacheError) -> Output
  ) async throws(BenchmarkFailure) -> Output {
    do { return try await body() } catch { throw BenchmarkFailure(error) }
  }

  /// The failure of an engine, or a cancellation that it noticed.
  init(_ error: CacheError) { self = error.code == .cancelled ? .cancelled : .engine(error) }

  /// Throws `fault` if there is one.
  static func require(_ fault: WrongAnswer?) throws(BenchmarkFailure) {
    if let fault { throw .wrong(fault) }
  }
}
