internal import CCachectlPlugin
internal import StorageSPI

/// The clock as a library gets it. It lives until `close` has returned.
final class LibraryClock: Sendable {
  private let clock: any WallClock

  init(_ clock: any WallClock) { self.clock = clock }

  /// What the library passes to `now`.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// The function that a library calls; without a clock it is 1970.
  static let now: @convention(c) (UnsafeMutableRawPointer?) -> Int64 = { context in
    guard let context else { return 0 }
    return Unmanaged<LibraryClock>.fromOpaque(context).takeUnretainedValue().clock.now.milliseconds
  }
}
