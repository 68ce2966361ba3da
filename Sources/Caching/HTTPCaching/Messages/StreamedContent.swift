public import CacheBase
internal import Synchronization

/// Content that arrives while it is read: once, from beginning to end, by one task at a time. For content that is too
/// large to hold in memory, or that somebody wants before it is complete.
///
/// The last reference, or `release()`, closes the source of content that has not been read to its end. Two streams are
/// equal only if they are the same object.
public final class StreamedContent: Sendable, Hashable {
  /// Returns content piece by piece, and `nil` at its end.
  public typealias Source = @Sendable () async throws(CacheError) -> [UInt8]?

  private struct State {
    var read: Source?
    var trailers: (@Sendable () -> HTTP.Fields)?
    var whenEnded: (@Sendable () -> Void)?
  }

  /// The total number of bytes; `nil` if unknown.
  public let length: Int?
  private let state: Mutex<State>

  /// Creates a stream of `length` bytes. `read` returns the content piece by piece, and `nil` at the end; `trailers` is
  /// called after that. `whenEnded` is called once: when the content has ended or failed, or has been released.
  public init(
    length: Int? = nil, trailers: @escaping @Sendable () -> HTTP.Fields = { [:] },
    whenEnded: (@Sendable () -> Void)? = nil, _ read: @escaping Source
  ) {
    self.length = length
    state = Mutex(State(read: read, trailers: trailers, whenEnded: whenEnded))
  }

  deinit { end() }

  /// The fields after the content; empty until its end has been read.
  public var trailers: HTTP.Fields { state.withLock { $0.trailers }?() ?? [:] }

  /// Waits for the next piece and returns it; `nil` at the end.
  ///
  /// - Throws: `CacheError` if the content cannot be read to its end; `cancelled`, even after `release()`.
  public func next() async throws(CacheError) -> [UInt8]? {
    guard let read = state.withLock({ $0.read }) else { throw .cancelled }
    do throws(CacheError) {
      let piece = try await read()
      if piece == nil { end() }
      return piece
    } catch {
      end()
      throw error
    }
  }

  /// Closes the source: nobody will read the rest.
  public func release() {
    // The closures hold the source, which ends here.
    _ = state.withLock { state in (state.read.take(), state.trailers.take()) }
    end()
  }

  private func end() { state.withLock { $0.whenEnded.take() }?() }

  /// The same content, to be read instead of this, with `action` called once: when it has ended or failed, or has been
  /// released.
  package func whenEnded(_ action: @escaping @Sendable () -> Void) -> StreamedContent {
    StreamedContent(length: length, trailers: { self.trailers }, whenEnded: action) { () async throws(CacheError) in
      try await self.next()
    }
  }

  /// Whether both are the same object.
  public static func == (left: StreamedContent, right: StreamedContent) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The part of a response that arrived before its transfer failed: the `cause` of the `CacheError`.
///
/// It is reported if the content's length is known, so that a cache can request the rest later; and for an unsafe
/// request in any case, because a cache must act on its status.
public struct IncompleteResponse: Error {
  /// The head, and the beginning of the content.
  public let response: HTTP.Response
  /// Why the transfer failed; `nil` if the `CacheError` says it all.
  public let cause: (any Error)?

  /// Creates the part that arrived, and the error that kept the rest from arriving.
  public init(_ response: HTTP.Response, cause: (any Error)? = nil) {
    self.response = response
    self.cause = cause
  }
}

extension CacheError {
  /// The same error if `request` is safe; otherwise it has an `IncompleteResponse` with `head` as its cause, which says
  /// that the request has succeeded or failed at its origin.
  package func after(_ head: HTTP.ResponseHead, of request: HTTP.Request) -> CacheError {
    if request.isSafe || cause is IncompleteResponse { return self }
    return CacheError(code, message, hint: hint, cause: IncompleteResponse(HTTP.Response(head), cause: cause))
  }
}

extension HTTP.Response {
  /// This response to `request` with all of its content in `body`, if that has at most `limit` bytes. A longer one keeps
  /// a `rest`, which has all of the content if its length is announced.
  ///
  /// - Throws: `CacheError`: what ended the content early, with an `IncompleteResponse` as its cause if the request is
  ///   unsafe, or the connection broke off and the length of the content is known.
  package func gathered(limit: Int, for request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    guard let rest, rest.length ?? 0 <= limit - body.count else { return self }
    var response = self
    response.body.reserveCapacity(body.count + (rest.length ?? 0))
    do throws(CacheError) {
      while let piece = try await rest.next() {
        response.body += piece
        if response.body.count > limit { return response }
      }
    } catch {
      guard error.code == .originUnreachable, rest.length != nil else { throw error.after(head, of: request) }
      response.rest = nil
      throw CacheError(error.code, error.message, hint: error.hint, cause: IncompleteResponse(response))
    }
    response.trailers = rest.trailers
    response.rest = nil
    return response
  }
}
