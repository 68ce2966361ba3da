internal import CCachectlPlugin
internal import StorageSPI

/// The clock in the form that a library receives. It lives until `close` has returned.
final class LibraryClock: Sendable {
  private let clock: any WallClock

  init(_ clock: any WallClock) { self.clock = clock }

  /// The argument that the library passes to `now`.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// The function that a library calls; without a clock it returns 1970.
  static let now: @convention(c) (UnsafeMutableRawPointer?) -> Int64 = { context in
    guard let context else { return 0 }
    return Unmanaged<LibraryClock>.fromOpaque(context).takeUnretainedValue().clock.now.milliseconds
  }
}
