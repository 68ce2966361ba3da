import CacheBase

/// A call of the system that failed.
public struct SystemFailure: Error, CustomStringConvertible {
  /// The name of the call.
  public let call: String
  /// Its error number.
  public let number: Int32

  /// The call and what the system says of the number.
  public var description: String { "\(call): \(String(cString: strerror(number)))" }

  /// `result`, unless it means that the call failed.
  ///
  /// - Throws: `SystemFailure` for a negative result, with the current error number.
  @discardableResult
  static func check(_ call: String, _ result: Int32) throws(SystemFailure) -> Int32 {
    guard result >= 0 else { throw SystemFailure(call: call, number: errno) }
    return result
  }
}
