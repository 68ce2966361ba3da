internal import StorageSPI

/// What a command that trusts files needs from a loader.
extension ConfigurationLoader {
  /// A configuration file that the user may trust.
  public struct Candidate: Sendable {
    /// The absolute path of the file, without symbolic links.
    public let path: String
    /// Its settings that need trust.
    public let settings: [UnsafeSetting]
    /// Where to keep the record that the user trusts the file. Only the user may read the record.
    public let recordPath: String
    /// The contents of the record.
    public let record: String
  }

  /// A file that the user trusts.
  public struct TrustedFile: Sendable, Hashable {
    /// The absolute path of the file, without symbolic links.
    public let path: String
    /// The SHA-256 digest of the trusted content, as 64 hexadecimal digits.
    public let digest: String
    /// Whether the file still has the trusted content; `nil` if it cannot be read.
    public let isCurrent: Bool?
  }

  /// The file at `path`, relative to the current folder; with `nil`, the one that is read there. None of its settings is
  /// applied.
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

  /// The path of the record of the file at `path`, resolved as by `candidate(at:)`; `nil` if the file is not trusted.
  /// The file need not exist any more.
  public func record(ofFileAt path: String?) -> String? {
    let path = locations.found(path).path
    let paths = [files.realPath(of: path) ?? path, path]
    return paths.first { trustRecords.record(for: $0) != nil }.map(trustRecords.path(ofRecordFor:))
  }

  /// The files that the user trusts, ordered by path.
  public var trustedFiles: [TrustedFile] {
    trustRecords.all.map { record in
      let bytes = (try? readFile(record.path)) ?? nil
      return TrustedFile(
        path: record.path, digest: record.digest,
        isCurrent: bytes.map { TrustRecord(path: record.path, contents: $0) == record })
    }
  }
}
