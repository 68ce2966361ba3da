/// Content that comes in while it is read, once, from its beginning to its end.
///
/// Two of them are equal where they are the same.
public final class StreamedContent: Sendable, Hashable {
  /// The number of bytes in all; `nil` where it is not known.
  public let length: Int?
  private let read: @Sendable () async throws -> [UInt8]?
  private let readTrailers: @Sendable () -> HTTPFields

  /// Content of `length` bytes that `read` gives piece by piece, and `nil` at the end; `trailers` is called after that.
  public init(
    length: Int? = nil, trailers: @escaping @Sendable () -> HTTPFields = { [:] },
    _ read: @escaping @Sendable () async throws -> [UInt8]?
  ) {
    self.length = length
    self.read = read
    readTrailers = trailers
  }

  /// The fields after the content; empty before its end.
  public var trailers: HTTPFields { readTrailers() }

  /// Waits for the next piece and returns it; `nil` at the end.
  ///
  /// - Throws: what its source throws where the content cannot be read to its end.
  public func next() async throws -> [UInt8]? { try await read() }

  /// Whether both are the same content.
  public static func == (left: StreamedContent, right: StreamedContent) -> Bool { left === right }

  /// Feeds what tells this content from other content.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
