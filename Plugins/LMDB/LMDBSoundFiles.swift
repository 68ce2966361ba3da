internal import Glibc

/// The data files that this process has found sound, so that one which nobody has changed since is not checked again
/// when it is opened again.
///
/// A file has not changed where it is the same one, of the same length, with the same last transaction and the same
/// time of its last change, which the system sets with every write and no program can set back. Two changes within one
/// step of a file system's clock have one time: so a file is noted only where it had rested for longer than such a step
/// when the check began.
struct LMDBSoundFiles {
  /// A file system's clock goes in steps of two seconds at most.
  static let rest = 3
  private static let capacity = 16

  /// Which file it is, and of which content.
  struct State: Equatable {
    let identity: LMDBFileIdentity
    let size: Int
    let seconds: Int
    let nanoseconds: Int

    init(_ status: stat) {
      identity = LMDBFileIdentity(status)
      size = Int(status.st_size)
      seconds = status.st_ctim.tv_sec
      nanoseconds = status.st_ctim.tv_nsec
    }
  }

  private var files: [(state: State, transaction: UInt64)] = []

  /// Whether the file was found sound in this state, whatever its last transaction was.
  func contains(_ state: State) -> Bool { files.contains { $0.state == state } }

  /// Whether the file was found sound in this state, in which `transaction` was the last one.
  func contains(_ state: State, transaction: UInt64) -> Bool {
    files.contains { $0.state == state && $0.transaction == transaction }
  }

  /// Notes that a check has found nothing wrong.
  ///
  /// - Parameters:
  ///   - state: that of the file before the check.
  ///   - transaction: the one whose state was checked.
  ///   - start: when that was, in seconds since 1970: not later than `state` was asked for.
  mutating func add(_ state: State, transaction: UInt64, checkedFrom start: Int) {
    files.removeAll { $0.state.identity == state.identity }
    guard state.seconds + Self.rest <= start else { return }
    if files.count == Self.capacity { files.removeFirst() }
    files.append((state, transaction))
  }
}
