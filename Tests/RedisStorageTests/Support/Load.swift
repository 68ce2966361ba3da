import Foundation

/// How much the tests under load try, and with which numbers.
enum Load {
  private static let variables = ProcessInfo.processInfo.environment

  /// Whether everything is tried that takes long, as in a nightly run: `CACHECTL_THOROUGH=1`.
  static let isThorough = variables["CACHECTL_THOROUGH"] == "1"

  /// `CACHECTL_SEED`: the seed of the random numbers; if it is not set, each run has another one.
  static let seed = variables["CACHECTL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...1_000_000)

  /// Prints a measurement.
  static func report(_ line: String) { print("== \(line) (seed \(seed))") }
}
