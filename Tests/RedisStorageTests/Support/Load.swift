import Foundation

/// How much the tests under load try, and with which numbers.
enum Load {
  private static let variables = ProcessInfo.processInfo.environment

  /// Whether everything is tried that takes long, as in a nightly run: `CACHECTL_THOROUGH=1`.
  static let isThorough = variables["CACHECTL_THOROUGH"] == "1"

  /// `CACHECTL_SEED`: what the random numbers follow from; another one each time where it is not set.
  static let seed = variables["CACHECTL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...1_000_000)

  /// Prints what was measured.
  static func report(_ line: String) { print("== \(line) (seed \(seed))") }
}
