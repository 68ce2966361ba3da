import Foundation
import CacheBase

/// A file system in memory that holds very little. If the system allows it, it is mounted for all processes. Otherwise
/// it is mounted in a user namespace, which processes enter by the command in `prefix`.
final class SmallDisk {
  /// Neither is allowed.
  struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  /// The folder that is the disk.
  let path: String
  /// The command before every program that must see the disk.
  let prefix: [String]
  private let folder: TestFolder
  /// The process that keeps the namespace; `nil` if the disk is mounted for all.
  private let holder: Program?

  init(megabytes: Int, in folder: TestFolder) throws {
    self.folder = folder
    path = folder.path("disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let mounting = ["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,mode=0777", "tmpfs", path]
    let mount = try Program(mounting, in: folder)
    if mount.end() == 0 {
      (holder, prefix) = (nil, [])
      return
    }
    let script = "\"$@\" && echo READY && exec sleep 600"
    let holder = try Program(["unshare", "-rm", "sh", "-c", script, "sh"] + mounting, in: folder)
    guard holder.read(for: .seconds(1_800), until: { $0.contains("READY") }) else {
      throw Refused(
        description: "a small disk cannot be mounted: run the tests as root, or allow user namespaces "
          + "(sysctl kernel.unprivileged_userns_clone=1): \(mount.errors) \(holder.errors)")
    }
    self.holder = holder
    prefix = ["nsenter", "-t", "\(holder.identifier)", "-U", "-m", "--preserve-credentials", "--"]
  }

  deinit {
    if let holder {
      holder.kill()
      _ = holder.end()
    } else {
      _ = try? Program(["umount", "-l", path], in: folder).end()
    }
  }

  /// Takes all space but `left` bytes.
  func fill(leaving left: Int) throws {
    try shell("head -c 1G /dev/zero >ballast; truncate -s -\(left) ballast")
  }

  /// Gives the space back.
  func free() throws { try shell("rm ballast") }

  /// Runs `script` in the folder that is the disk.
  func shell(_ script: String) throws {
    let program = try Program(prefix + ["sh", "-c", "cd '\(path)' && { \(script); }"], in: folder)
    guard program.end() == 0 else { throw Refused(description: "\(script): \(program.errors)") }
  }
}
