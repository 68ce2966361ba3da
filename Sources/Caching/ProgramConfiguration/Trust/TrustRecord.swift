internal import CachedFetching
internal import Base
internal import StorageSPI

/// The record that a user trusts a configuration file: its path without links, and the digest of its content.
///
/// Each file has its own record, named after the digest of its path. So two processes that trust two files, or the same
/// one, cannot remove each other's record.
struct TrustRecord: Sendable, Hashable {
  let path: String
  /// The SHA-256 digest of the file's bytes, as 64 hexadecimal digits.
  let digest: String

  init(path: String, contents: [UInt8]) {
    self.path = path
    digest = Self.digest(contents)
  }

  /// The record in `text`; `nil` if `text` is not a record.
  init?(text: String) {
    guard let document = try? JSONDocument(parsing: Array(text.utf8)) else { return nil }
    let value = JSONValue(document.root)
    guard case .string(let path)? = value["path"], case .string(let digest)? = value["sha256"] else { return nil }
    (self.path, self.digest) = (path, digest)
  }

  /// The text of the record's file.
  var text: String { JSONText.text(["path": .string(path), "sha256": .string(digest)]) + "\n" }

  /// The file name of the record for the file at `path`.
  static func name(ofPath path: String) -> String { digest(Array(path.utf8)) }

  private static func digest(_ bytes: [UInt8]) -> String {
    var digest = SHA256()
    digest.update(bytes)
    return digest.hexText
  }
}

/// The folder of the records. A folder that other users may change, and a record of another user, do not count.
struct TrustRecords: Sendable {
  let folder: String
  let files: any FileInspection

  /// The path of the record for the file at `path`, which has no links in it.
  func path(ofRecordFor path: String) -> String { folder + "/" + TrustRecord.name(ofPath: path) }

  /// The record for the file at `path`, which has no links in it; `nil` if there is none.
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
