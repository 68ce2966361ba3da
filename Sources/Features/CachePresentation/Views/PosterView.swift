public import CacheDomain

/// A fetched poster, without its image.
public struct PosterView: SingleRecordView {
  private let origin: SnapshotOrigin
  private let query: PosterQuery
  private let byteCount: Int
  private let contentType: String
  private let file: String?

  /// The view of `snapshot`, the answer to `query` through the store called `backend`; its image was written to `file`
  /// (`nil` for none).
  public init(_ snapshot: Snapshot<Poster>, query: PosterQuery, backend: String?, file: String?) {
    self.origin = SnapshotOrigin(snapshot, backend: backend)
    self.query = query
    self.byteCount = snapshot.value.bytes.count
    self.contentType = snapshot.value.contentType
    self.file = file
  }

  /// The document: the members of every fetch, then "path", "width", "contentType", "bytes" and "file".
  public var json: JSONValue {
    .object(
      origin.members(resource: "poster") + [
        .init("path", .string(query.path)), .init("width", .integer(query.width)),
        .init("contentType", .string(contentType)), .init("bytes", .integer(byteCount)),
        .init("file", JSONValue(file)),
      ])
  }

  /// The facts about the image, one per line.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    Details.text(
      [
        ("Poster", .init(query.path, .plain)), ("Width", "\(NumberText.text(query.width)) px"),
        ("Type", .init(contentType, .plain)), ("Size", Details.bytes(byteCount)), ("File", .init(file)),
      ], on: screen)
  }

  /// Where the image came from.
  public var status: StatusLine? { origin.status([]) }

  /// The failures on the way to this poster.
  public var warnings: [ErrorView] { origin.warnings }
}
