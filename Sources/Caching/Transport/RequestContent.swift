/// The content of a request.
public enum RequestContent: Sendable {
  /// These bytes.
  case bytes([UInt8])
  /// The bytes that `next` returns until it returns `nil`: `length` bytes in all, or without a length, sent in chunks.
  ///
  /// `next` is called when the connection can take more, in a task of its own, which is cancelled when the response has
  /// ended. Such content cannot be sent twice, so it goes over a new connection.
  case stream(length: Int?, next: @Sendable () async throws -> [UInt8]?)
}
