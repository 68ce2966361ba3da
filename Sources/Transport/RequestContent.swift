/// The content of a request.
public enum RequestContent: Sendable {
  /// These bytes.
  case bytes([UInt8])
  /// What `next` returns until it returns `nil`, of `length` bytes in all; without a length it is sent in chunks.
  ///
  /// `next` is called when the connection can take more, in a task of its own, which is cancelled when the response has
  /// ended. The content cannot be sent again, so that it goes over a new connection.
  case stream(length: Int?, next: @Sendable () async throws -> [UInt8]?)
}
