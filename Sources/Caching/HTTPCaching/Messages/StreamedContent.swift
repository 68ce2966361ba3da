public import Base
internal import Synchronization

/// Content that arrives while it is read: once, from beginning to end, by one task at a time. For content that is too
/// large to hold in memory, or that somebody wants before it is complete.
///
/// Releasing the last reference before the end releases the source, such as a connection. Two streams are equal only if
/// they are the same object.
public final class StreamedContent: Sendable, Hashable {
  /// The total number of bytes; `nil` if unknown.
  public let length: Int?
  private let read: @Sendable () async throws(CacheError) -> [UInt8]?
  private let readTrailers: @Sendable () -> HTTPFields
  private let endAction: Mutex<(@Sendable () -> Void)?>

  /// Creates a stream of `length` bytes. `read` returns the content piece by piece, and `nil` at the end; `trailers` is
  /// called after that. `whenEnded` is called once: when the content has ended or failed, or was released before.
  public init(
    length: Int? = nil, trailers: @escaping @Sendable () -> HTTPFields = { [:] },
    whenEnded: (@Sendable () -> Void)? = nil, _ read: @escaping @Sendable () async throws(CacheError) -> [UInt8]?
  ) {
    self.length = length
    self.read = read
    readTrailers = trailers
    endAction = Mutex(whenEnded)
  }

  deinit { end() }

  /// The fields after the content; empty until its end has been read.
  public var trailers: HTTPFields { readTrailers() }

  /// Waits for the next piece and returns it; `nil` at the end.
  ///
  /// - Throws: `CacheError` if the content cannot be read to its end.
  public func next() async throws(CacheError) -> [UInt8]? {
    do throws(CacheError) {
      let piece = try await read()
      if piece == nil { end() }
      return piece
    } catch {
      end()
      throw error
    }
  }

  private func end() { endAction.withLock { $0.take() }?() }

  /// The same content, with `action` called once: when it has ended or failed, or was released before. To be read in
  /// place of this object.
  package func whenEnded(_ action: @escaping @Sendable () -> Void) -> StreamedContent {
    StreamedContent(length: length, trailers: readTrailers, whenEnded: action) { () async throws(CacheError) in
      try await self.next()
    }
  }

  /// Whether both are the same object.
  public static func == (left: StreamedContent, right: StreamedContent) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
