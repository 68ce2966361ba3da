import Foundation

/// A folder of one test, removed with it.
final class TestFolder: Sendable {
  /// The path.
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "durability-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func path(_ name: String) -> String { "\(path)/\(name)" }
}
