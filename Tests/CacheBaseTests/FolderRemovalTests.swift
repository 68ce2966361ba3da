import CacheBase
import Foundation
import Testing

struct FolderRemovalTests {
  @Test func onlyTheContentOfAFolderIsRemoved() throws {
    let files = FileManager.default
    let folder = NSTemporaryDirectory() + "folder-removal-\(UUID().uuidString)"
    let kept = folder + "-kept"
    defer { try? files.removeItem(atPath: kept) }
    for path in ["\(folder)/a/b", kept] { try files.createDirectory(atPath: path, withIntermediateDirectories: true) }
    for path in ["\(folder)/a/b/file", "\(folder)/.hidden", "\(kept)/file"] {
      #expect(files.createFile(atPath: path, contents: Data([1])))
    }
    try files.createSymbolicLink(atPath: "\(folder)/a/link", withDestinationPath: kept)
    Folders.remove(folder)
    #expect(!files.fileExists(atPath: folder) && files.fileExists(atPath: "\(kept)/file"))
    Folders.remove("\(kept)/file")
    #expect(files.fileExists(atPath: kept) && !files.fileExists(atPath: "\(kept)/file"))
    Folders.remove(folder)
  }
}
