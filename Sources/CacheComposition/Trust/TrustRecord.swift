internal import CacheData
internal import CachePresentation
internal import StorageSPI

/// That a user trusts a configuration file: its path without links, and the digest of what was in it.
///
/// Each file has a record of its own, named after the digest of its path. So two processes that trust two files, or the
/// same one, cannot take each other's record away.
struct TrustRecord: Sendable, Hashable {
  let path: String
  /// The digest SHA-256 of the file's bytes, as 64 hexadecimal digits.
  let digest: String

  init(path: String, contents: [UInt8]) {
    self.path = path
    digest = Self.digest(contents)
  }

  /// The record whose text is `text`; `nil` where that is none.
  init?(text: String) {
    guard let document = try? JSONDocument(parsing: Array(text.utf8)) else { return nil }
    let value = JSONValue(document.root)
    guard case .string(let path)? = value["path"], case .string(let digest)? = value["sha256"] else { return nil }
    (self.path, self.digest) = (path, digest)
  }

  /// What stands in the file of the record.
  var text: String { JSONText.text(["path": .string(path), "sha256": .string(digest)]) + "\n" }

  /// What the file of the record of the file at `path` is called.
  static func name(ofPath path: String) -> String { digest(Array(path.utf8)) }

  private static func digest(_ bytes: [UInt8]) -> String {
    var digest = SHA256()
    digest.update(bytes)
    return digest.hexText
  }
}

/// The folder of the records. One that others may change, and a record that is another user's, count for nothing.
struct TrustRecords: Sendable {
  let folder: String
  let files: any FileInspection

  /// The path of the record of the file at `path`, which has no links in it.
  func path(ofRecordFor path: String) -> String { folder + "/" + TrustRecord.name(ofPath: path) }

  /// The record of the file at `path`, which has no links in it; `nil` where there is none.
  func record(for path: String) -> TrustRecord? {
    guard isPrivate(folder, .folder) else { return nil }
    guard let record = record(at: self.path(ofRecordFor: path)), record.path == path else { return nil }
    return record
  }

  /// All records, ordered by path.
  var all: [TrustRecord] {
    guard isPrivate(folder, .folder) else { return [] }
    return files.names(in: folder).compactMap { name in
      record(at: folder + "/" + name).flatMap { TrustRecord.name(ofPath: $0.path) == name ? $0 : nil }
    }.sorted { $0.path < $1.path }
  }

  private func record(at path: String) -> TrustRecord? {
    guard isPrivate(path, .file), let text = files.text(of: path) else { return nil }
    return TrustRecord(text: text)
  }

  private func isPrivate(_ path: String, _ kind: InspectedFile.Kind) -> Bool {
    guard let file = files.file(at: path) else { return false }
    return file.kind == kind && file.owner == files.user && !file.isWritableByOthers
  }
}
