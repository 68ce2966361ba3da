/// Finds the processes that have files of a store open or locked, with any engine: through /proc/locks and the
/// descriptors in /proc/PID/fd (proc(5)). Processes of other users show up only if they hold locks.
struct StoreHolders: Sendable {
  /// A process that uses a store.
  struct Holder: Sendable, Hashable, CustomStringConvertible {
    let process: Int
    let command: String
    let holdsLock: Bool

    var description: String { "\(command) (process \(process)\(holdsLock ? ", holds a lock" : ""))" }
  }

  private let files: any FileInspection

  /// A search through `files`.
  init(files: any FileInspection) {
    self.files = files
  }

  /// The processes that use one of the files at `paths`, by number.
  func holders(of paths: [String]) -> [Holder] {
    let identities = Set(paths.compactMap { files.file(at: $0)?.identity })
    let locking = Self.lockHolders(in: files.text(of: "/proc/locks") ?? "", of: identities)
    let open = openers(of: Set(paths.compactMap { files.realPath(of: $0) }))
    return locking.union(open).sorted().map { process in
      Holder(process: process, command: command(of: process), holdsLock: locking.contains(process))
    }
  }

  /// The processes in the text of /proc/locks. A line has the form `1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0
  /// EOF`, with `->` after the number if it waits. A lock of an open file description belongs to no process: its
  /// process number is -1.
  static func lockHolders(in text: String, of identities: Set<FileIdentity>) -> Set<Int> {
    var processes: Set<Int> = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ").filter { $0 != "->" }
      guard words.count >= 6, let process = Int(words[4]), process > 0, let identity = FileIdentity(words[5]),
        identities.contains(identity)
      else { continue }
      processes.insert(process)
    }
    return processes
  }

  private func openers(of paths: Set<String>) -> Set<Int> {
    guard !paths.isEmpty else { return [] }
    return Set(
      files.names(in: "/proc").compactMap { Int($0) }.filter { process in
        let folder = "/proc/\(process)/fd"
        return files.names(in: folder).contains { name in
          files.target(of: "\(folder)/\(name)").map(paths.contains) ?? false
        }
      })
  }

  private func command(of process: Int) -> String {
    let name = files.text(of: "/proc/\(process)/comm").map { String($0.prefix { $0 != "\n" }) } ?? ""
    return name.isEmpty ? "unknown" : name
  }
}

extension FileIdentity {
  /// The identity in the form of /proc/locks: major and minor in hexadecimal, the number of the file in decimal digits.
  fileprivate init?(_ text: Substring) {
    let parts = text.split(separator: ":")
    guard parts.count == 3, let major = UInt32(parts[0], radix: 16), let minor = UInt32(parts[1], radix: 16),
      let number = UInt64(parts[2])
    else { return nil }
    self.init(major: major, minor: minor, number: number)
  }
}
