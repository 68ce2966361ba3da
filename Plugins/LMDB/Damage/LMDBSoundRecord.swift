internal import Platform

/// The file `sound` in the folder of a large store: the state in which a process closed it, so that the next process
/// need not check it. To read all branch pages of a million entries of 1,000 bytes takes 20 ms, longer than most
/// commands.
///
/// The record counts within one run of the kernel: when the machine fails, pages may be lost. A process that opens the
/// store removes the record, and leaves one when it closes the store. So if damage ends the only process that has the
/// store open, the next one checks.
struct LMDBSoundRecord {
  /// The size in bytes of the smallest data file that has a record: smaller ones are checked in one or two
  /// milliseconds.
  static let smallestFile = 32 << 20

  private let path: String
  private let line: String

  /// The record of a data file in the store's folder `folder`; `nil` if the system does not name the run of its kernel.
  init?(_ state: LMDBSoundFiles.State, transaction: UInt64, in folder: String) {
    guard let run = KernelRun.identifier else { return nil }
    path = LMDBFile.record(in: folder)
    let (file, time) = (state.identity, "\(state.seconds) \(state.nanoseconds)")
    line = "\(run) \(file.device) \(file.inode) \(state.size) \(time) \(transaction)\n"
  }

  /// Removes any record, and returns whether it was this one. Of several processes, one gets it.
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
