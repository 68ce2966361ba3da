internal import ArgumentParser
internal import CacheDomain

/// Remembers whether an answer could not be stored because output failed. The answer is shown all the same, but the
/// status of the process says that the cache did not keep it.
struct WriteFailures {
  private var status: ExitCode?

  mutating func note(_ warnings: [CacheError]) {
    let failures = warnings.map { ExitCode($0.code) }
    if failures.contains(.ioFailed) { status = .ioFailed }
  }

  /// - Throws: the status to exit with, where there was such a failure.
  func check() throws(ExitCode) {
    if let status { throw status }
  }
}
