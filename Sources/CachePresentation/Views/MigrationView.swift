/// What a migration from one backend to another did.
public struct MigrationView: SingleRecordView {
  /// The name of the backend that was read.
  public let from: String
  /// The name of the backend that was written.
  public let to: String
  /// The number of entries copied.
  public let copied: Int
  /// The number of entries that were there already, or no longer of use.
  public let skipped: Int
  /// The number of entries read back and found equal.
  public let verified: Int
  /// The sum of the sizes of the copied payloads, in bytes.
  public let bytes: Int

  /// A migration with the given fields.
  public init(from: String, to: String, copied: Int, skipped: Int, verified: Int, bytes: Int) {
    self.from = from
    self.to = to
    self.copied = copied
    self.skipped = skipped
    self.verified = verified
    self.bytes = bytes
  }

  /// The document of `migrate`.
  public var json: JSONValue {
    [
      "from": .string(from), "to": .string(to), "copied": .integer(copied), "skipped": .integer(skipped),
      "verified": .integer(verified), "bytes": .integer(bytes),
    ]
  }

  /// The figures, one a line.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    Details.text(
      [
        ("From", .init(from, .bold)), ("To", .init(to, .bold)), ("Copied", .init(NumberText.text(copied), .plain)),
        ("Skipped", .init(NumberText.text(skipped), .plain)), ("Verified", .init(NumberText.text(verified), .plain)),
        ("Payload", Details.bytes(bytes)),
      ], on: screen)
  }
}
