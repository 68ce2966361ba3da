internal import StorageSPI

/// What `config trust` asks of a loader.
extension ConfigurationLoader {
  /// A configuration file as `config trust` sees it.
  public struct Candidate: Sendable {
    /// The absolute path of the file, without symbolic links.
    public let path: String
    /// What it sets that asks for trust.
    public let settings: [UnsafeSetting]
    /// Where to keep the record that the user trusts it, which is only for the user.
    public let recordPath: String
    /// What the record has to say.
    public let record: String
  }

  /// A file that the user has trusted.
  public struct TrustedFile: Sendable, Hashable {
    /// The absolute path of the file, without symbolic links.
    public let path: String
    /// The digest SHA-256 of what was trusted, as 64 hexadecimal digits.
    public let digest: String
    /// Whether the file still has that content; `nil` where it cannot be read.
    public let isCurrent: Bool?
  }

  /// The file at `path`, which is relative to the current folder; `cachectl.json` there where it is `nil`. Nothing of it
  /// is used.
  ///
  /// - Throws: `ConfigurationError`: there is no such file, or it is not JSON.
  public func candidate(
    at path: String?, _ flags: ConfigurationFlags = ConfigurationFlags()
  ) throws(ConfigurationError) -> Candidate {
    let file = locations.found(path)
    guard let bytes = try bytes(of: file) else {
      throw ConfigurationError(
        .missingFile, "there is no file \(file.path)", hint: "name the configuration file to trust")
    }
    let content = try parse(file.path, bytes)
    let real = files.realPath(of: file.path) ?? file.path
    return Candidate(
      path: real, settings: try examine(content, in: file.path, flags).unsafe,
      recordPath: trustRecords.path(ofRecordFor: real), record: TrustRecord(path: real, contents: bytes).text)
  }

  /// The record of the file at `path`, as `candidate(at:)` takes it; `nil` where that is not trusted. The file need not
  /// be there any more.
  public func record(ofFileAt path: String?) -> String? {
    let path = locations.found(path).path
    let paths = [files.realPath(of: path) ?? path, path]
    return paths.first { trustRecords.record(for: $0) != nil }.map(trustRecords.path(ofRecordFor:))
  }

  /// The files that the user has trusted, ordered by path.
  public var trustedFiles: [TrustedFile] {
    trustRecords.all.map { record in
      let bytes = (try? readFile(record.path)) ?? nil
      return TrustedFile(
        path: record.path, digest: record.digest,
        isCurrent: bytes.map { TrustRecord(path: record.path, contents: $0) == record })
    }
  }
}
