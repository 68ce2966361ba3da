import Foundation

/// How much the tests try that go through many histories: `./test` a sample of them, and `.ci/nightly`, which
/// sets `CACHECTL_THOROUGH=1`, all.
public enum Thoroughness {
  /// Whether everything is tried.
  public static let isFull = ProcessInfo.processInfo.environment["CACHECTL_THOROUGH"] == "1"

  /// The seeds of `usual` histories, or of `all`, from 1.
  public static func seeds(_ usual: UInt64, of all: UInt64) -> ClosedRange<UInt64> { 1...(isFull ? all : usual) }
}
