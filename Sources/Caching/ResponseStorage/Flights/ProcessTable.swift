/// Tells whether the process that left something in a store is still running. It is passed in, because only the
/// operating system knows.
public protocol ProcessTable: Sendable {
  /// This process; `nil` if the system does not reveal enough to identify it.
  var current: ProcessIdentity? { get }

  /// Whether `process` has certainly ended. `false` for a process of another system, as nothing is known about it here.
  func hasEnded(_ process: ProcessIdentity) -> Bool
}

/// Identifies a process uniquely: it never equals a process on another machine, in another container, from before the
/// last reboot, or one that got the same number later.
public struct ProcessIdentity: Sendable, Hashable {
  /// The run of the operating system, and the process namespace in it, in which the number is valid.
  public let system: String
  /// The process number.
  public let number: Int32
  /// When the process started, in the operating system's own unit.
  public let startedAt: UInt64

  /// Creates the identity of process `number`.
  public init(system: String, number: Int32, startedAt: UInt64) {
    self.system = system
    self.number = number
    self.startedAt = startedAt
  }
}

/// Storing a process in the attributes of an entry.
extension ProcessIdentity {
  private enum Name {
    static let system = "system"
    static let number = "pid"
    static let start = "started"
  }

  /// The process that an entry's attributes name; `nil` if they name none.
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
