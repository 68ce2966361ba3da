internal import StorageSPI

/// Why a phase ended before its time.
enum BenchmarkFailure: Error {
  /// The engine answered what cannot be true.
  case wrong(WrongAnswer)
  /// The engine failed.
  case engine(StorageError)
  /// The task was cancelled.
  case cancelled

  /// Runs `body`, whose storage errors become failures.
  static func engine<Output>(
    _ body: () async throws(StorageError) -> Output
  ) async throws(BenchmarkFailure) -> Output {
    do { return try await body() } catch { throw BenchmarkFailure(error) }
  }

  /// The failure of an engine, or the cancellation that it noticed.
  init(_ error: StorageError) { self = error.code == .cancelled ? .cancelled : .engine(error) }

  /// Throws where there is something wrong.
  static func require(_ fault: WrongAnswer?) throws(BenchmarkFailure) {
    if let fault { throw .wrong(fault) }
  }
}
