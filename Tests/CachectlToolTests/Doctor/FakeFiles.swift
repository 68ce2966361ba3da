import FetchVocabulary
import CachePresentation
import EngineAPI

@testable import CachectlTool
@testable import CacheConfiguration

/// A file system of a few files that a test writes down, all of user 1000 unless said otherwise.
struct FakeFiles: FileInspection {
  var user: UInt32 = 1000
  var files: [String: InspectedFile] = ["/": .folder(owner: 0)]
  var readOnly: Set<String> = []
  var texts: [String: String] = [:]
  var links: [String: String] = [:]
  var realPaths: [String: String] = [:]
  var free: FileSystemSpace? = FileSystemSpace(free: 1 << 40, isReadOnly: false)

  func file(at path: String) -> InspectedFile? { files[path] }
  func mayWrite(_ path: String) -> Bool { files[path] != nil && !readOnly.contains(path) }
  func space(at path: String) -> FileSystemSpace? { free }
  func text(of path: String) -> String? { texts[path] }
  func target(of path: String) -> String? { links[path] }
  func realPath(of path: String) -> String? { realPaths[path] ?? (files[path] == nil ? nil : path) }

  func names(in path: String) -> [String] {
    let start = path == "/" ? "/" : path + "/"
    let below = (Array(files.keys) + Array(texts.keys) + Array(links.keys)).filter { $0.hasPrefix(start) }
    return Set(below.map { String($0.dropFirst(start.count).prefix { $0 != "/" }) }).filter { !$0.isEmpty }.sorted()
  }
}

extension InspectedFile {
  static func folder(mode: UInt32 = 0o700, owner: UInt32 = 1000) -> InspectedFile {
    make(.folder, mode, owner, changedAt: 0)
  }

  static func file(
    mode: UInt32 = 0o600, owner: UInt32 = 1000, changedAt: Int64 = 0
  ) -> InspectedFile {
    make(.file, mode, owner, changedAt: changedAt)
  }

  private static func make(
    _ kind: Kind, _ mode: UInt32, _ owner: UInt32, changedAt: Int64
  ) -> InspectedFile {
    InspectedFile(
      kind: kind, mode: mode, owner: owner, changedAt: changedAt, size: 0)
  }
}

extension Finding {
  /// The result and the code, such as "problem permissionDenied".
  var verdict: String { [result.rawValue, code?.rawValue].compactMap(\.self).joined(separator: " ") }
}
