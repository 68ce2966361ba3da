/// An engine that learns of the changes that others make to its store, soon after they are made.
///
/// A cache in front of it can go on using its own copy of an entry for as long as the mark of the entry's key stays the
/// same. Other than a count of changes (`ChangeCounting`), a mark may be late: by the time that a message takes.
public protocol ChangeFollowing: StorageEngine {
  /// The mark of `key` at the moment.
  ///
  /// To cache an entry, get the mark *before* reading it.
  ///
  /// - Returns: `nil` while the engine does not follow the store, such as without a connection. It then tries to do so in
  ///   the background, so that a later call returns a mark.
  /// - Complexity: constant, without a system call, and much cheaper than a read.
  func changeMark(of key: CacheKey) -> ChangeMark?
}

extension ChangeFollowing {
  /// This engine.
  public var changeFollower: (any ChangeFollowing)? { self }
}

/// What an engine knows of changes to an entry.
public struct ChangeMark: Sendable, Hashable {
  /// A number that changes when another handle or process has changed the entry, or one that the engine cannot tell from
  /// it. When the engine may have missed changes, the numbers of all keys change. It has no other meaning.
  public let number: UInt64

  /// How long ago the engine last made sure that it has missed no change.
  public let age: Duration

  /// A mark.
  public init(number: UInt64, age: Duration) {
    (self.number, self.age) = (number, age)
  }
}
