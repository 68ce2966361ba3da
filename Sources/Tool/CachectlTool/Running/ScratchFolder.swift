internal import CacheBase
internal import FetchVocabulary

/// A new folder for temporary files, for the user alone.
struct ScratchFolder {
  let path: String

  /// - Throws: `CacheError` with the code `cannotCreate`.
  init() throws(CacheError) {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/cachectl.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CacheError(
        .cannotCreate, "no folder can be made in \(parent)",
        hint: "set TMPDIR to a folder that you may write")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes the folder and everything in it. If something cannot be removed, the system cleans it up later.
  func remove() {
    Folders.remove(path)
  }
}
