internal import Platform

/// The file `sound` in the folder of a large store. It records the state in which a process closed the store, so that the
/// next process can skip the check. Reading all branch pages of a million entries of 1,000 bytes takes 20 ms, longer
/// than most commands.
///
/// A record is valid until the machine restarts, because a crash of the machine can lose pages. A process removes the
/// record when it opens the store, and writes a new one when it closes the store. So if damage kills the only process that
/// has the store open, the next process checks it.
struct LMDBSoundRecord {
  /// The size in bytes of the smallest data file that has a record: smaller ones are checked in one or two
  /// milliseconds.
  static let smallestFile = 32 << 20

  private let path: String
  private let line: String

  /// The record of the data file in `folder`; `nil` if the system has no name for the current boot.
  init?(_ state: LMDBSoundFiles.State, transaction: UInt64, in folder: String) {
    guard let run = KernelRun.identifier else { return nil }
    path = LMDBFile.record(in: folder)
    let (file, time) = (state.identity, "\(state.seconds) \(state.nanoseconds)")
    line = "\(run) \(file.device) \(file.inode) \(state.size) \(time) \(transaction)\n"
  }

  /// Removes the record in the folder, and returns whether it was this one. Only one of several processes gets it.
  func take() -> Bool {
    let text = SmallFile.text(path)
    return unlink(path) == 0 && text == line
  }

  /// Leaves the record for the next process. If that fails, the next one checks.
  func leave() {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    var line = line
    line.withUTF8 { _ = write(file, $0.baseAddress, $0.count) }
  }
}
