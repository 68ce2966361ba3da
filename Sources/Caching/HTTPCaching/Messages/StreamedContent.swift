public import Base

/// Content that arrives while it is read: once, from beginning to end. For content too large to hold in memory.
///
/// Two streams are equal only if they are the same object.
public final class StreamedContent: Sendable, Hashable {
  /// The total number of bytes; `nil` if unknown.
  public let length: Int?
  private let read: @Sendable () async throws(CacheError) -> [UInt8]?
  private let readTrailers: @Sendable () -> HTTPFields

  /// Creates a stream of `length` bytes. `read` returns the content piece by piece, and `nil` at the end; `trailers` is
  /// called after that.
  public init(
    length: Int? = nil, trailers: @escaping @Sendable () -> HTTPFields = { [:] },
    _ read: @escaping @Sendable () async throws(CacheError) -> [UInt8]?
  ) {
    self.length = length
    self.read = read
    readTrailers = trailers
  }

  /// The fields after the content; empty until its end has been read.
  public var trailers: HTTPFields { readTrailers() }

  /// Waits for the next piece and returns it; `nil` at the end.
  ///
  /// - Throws: `CacheError` if the content cannot be read to its end.
  public func next() async throws(CacheError) -> [UInt8]? { try await read() }

  /// Whether both are the same object.
  public static func == (left: StreamedContent, right: StreamedContent) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
