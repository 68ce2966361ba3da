import Foundation

/// A folder of one test, removed with it: the home of stores, and the home of the user.
final class Scratch: Sendable {
  /// The path of the folder.
  let folder: String

  init() throws {
    folder = NSTemporaryDirectory() + "cachectl-tests-\(UUID().uuidString)"
    // For the user alone: libraries are loaded from nowhere else.
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for name in ["work", "user", "temporary", "streams"] { try makeFolder(name) }
  }

  deinit {
    // The read-only folders of a test must not keep the rest from being removed.
    Scratch.makeWritable(folder)
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The folder for stores.
  var home: String { path("home") }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
  }

  func write(_ text: String, to name: String) throws { try write(Data(text.utf8), to: name) }

  func write(_ data: Data, to name: String) throws { try data.write(to: URL(fileURLWithPath: path(name))) }

  /// Writes the user's own configuration file.
  func configure(text: String) throws {
    try makeFolder("user/config/cachectl")
    try write(text, to: Scratch.configuration)
  }

  /// The path of the user's own configuration file.
  static let configuration = "user/config/cachectl/config.json"

  func read(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  /// The names of all files and folders below a folder, sorted.
  func names(below name: String) -> [String] {
    (FileManager.default.enumerator(atPath: path(name))?.compactMap { $0 as? String } ?? []).sorted()
  }

  /// Copies the stores of another test's folder.
  func copyHome(of other: Scratch) throws {
    try FileManager.default.copyItem(atPath: other.home, toPath: home)
  }

  /// Takes the permission to write away from everything below a folder.
  func makeReadOnly(_ name: String) throws {
    for inner in names(below: name) { try setMode(of: "\(name)/\(inner)", file: 0o444, folder: 0o555) }
    try setMode(of: name, file: 0o444, folder: 0o555)
  }

  private func setMode(of name: String, file: Int, folder: Int) throws {
    var isFolder: ObjCBool = false
    _ = FileManager.default.fileExists(atPath: path(name), isDirectory: &isFolder)
    try FileManager.default.setAttributes(
      [.posixPermissions: isFolder.boolValue ? folder : file], ofItemAtPath: path(name))
  }

  private static func makeWritable(_ folder: String) {
    let folders = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    for name in folders {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(folder)/\(name)")
    }
  }
}
