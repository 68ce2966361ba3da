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

/// A process as the attributes of an entry tell of it.
extension ProcessIdentity {
  private enum Name {
    static let system = "system"
    static let number = "pid"
    static let start = "started"
  }

  /// The process that the attributes of an entry name; `nil` where they name none.
  public init?(_ attributes: [String: String]) {
    guard let system = attributes[Name.system], let number = attributes[Name.number].flatMap({ Int32($0) }),
      let startedAt = attributes[Name.start].flatMap({ UInt64($0) })
    else { return nil }
    self.init(system: system, number: number, startedAt: startedAt)
  }

  /// The attributes that name the process.
  public var attributes: [String: String] {
    [Name.system: system, Name.number: String(number), Name.start: String(startedAt)]
  }
}
