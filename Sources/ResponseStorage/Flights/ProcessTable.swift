/// Tells whether the process that left something in a store still runs. It is passed in, because only the operating
/// system knows.
public protocol ProcessTable: Sendable {
  /// This process; `nil` where the system does not say enough to tell it from any other.
  var current: ProcessIdentity? { get }

  /// Whether `process` has certainly ended. It is no for a process of another system, of which nothing is known here.
  func hasEnded(_ process: ProcessIdentity) -> Bool
}

/// A process, told from every other one: also from one on another machine, in another container, before the last start
/// of the machine, or that was given the same number later.
public struct ProcessIdentity: Sendable, Hashable {
  /// The run of the operating system, and the set of processes in it, within which the number means anything.
  public let system: String
  /// The number of the process.
  public let number: Int32
  /// When the process was started, in units of the operating system's own.
  public let startedAt: UInt64

  /// The identity with the given parts.
  public init(system: String, number: Int32, startedAt: UInt64) {
    self.system = system
    self.number = number
    self.startedAt = startedAt
  }
}
