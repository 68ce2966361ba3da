import Base
import Platform

/// A folder for one test.
struct TemporaryFolder {
  let path: String

  init() throws {
    var template = Array(((getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") + "/front-door-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else {
      throw CacheError(.cannotCreate, "there is no temporary folder: \(String(cString: strerror(errno)))")
    }
    path = String(cString: made)
  }

  func remove() { FolderRemoval.remove(path) }
}
