internal import Platform

/// The data files that this process has found sound, so that it does not check an unchanged one again when it reopens
/// it.
///
/// A file is unchanged if it is the same file, with the same length, the same last transaction and the same change
/// time, which the system sets with every write and no program can set back. Two changes within one tick of a file
/// system's clock have the same time. So a file is recorded only if it had been idle for longer than a tick when the
/// check began.
struct LMDBSoundFiles {
  /// In seconds. A file system's clock ticks at least every two seconds.
  static let rest = 3
  private static let capacity = 16

  /// Identifies a file and its content.
  struct State: Equatable {
    let identity: LMDBFileIdentity
    let size: Int
    let seconds: Int
    let nanoseconds: Int

    init(_ status: stat) {
      identity = LMDBFileIdentity(status)
      size = Int(status.st_size)
      seconds = status.statusChangedAt.tv_sec
      nanoseconds = status.statusChangedAt.tv_nsec
    }
  }

  private var files: [(state: State, transaction: UInt64)] = []

  /// Whether the file was found sound in this state, whatever its last transaction was.
  func contains(_ state: State) -> Bool { files.contains { $0.state == state } }

  /// Whether the file was found sound in this state, with `transaction` as the last one.
  func contains(_ state: State, transaction: UInt64) -> Bool {
    files.contains { $0.state == state && $0.transaction == transaction }
  }

  /// Records that a check found nothing wrong.
  ///
  /// - Parameters:
  ///   - state: the file's state before the check.
  ///   - transaction: the transaction whose state was checked.
  ///   - start: when the check began, in seconds since 1970; not later than when `state` was read.
  mutating func add(_ state: State, transaction: UInt64, checkedFrom start: Int) {
    files.removeAll { $0.state.identity == state.identity }
    guard state.seconds + Self.rest <= start else { return }
    if files.count == Self.capacity { files.removeFirst() }
    files.append((state, transaction))
  }
}
