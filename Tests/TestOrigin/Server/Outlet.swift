/// Sends what it is given over a connection, but holds the latest bytes back: so that something can be done before the
/// last ones, whichever those turn out to be.
final class Outlet {
  let connection: Connection
  private var held: ArraySlice<UInt8> = []

  init(_ connection: Connection) { self.connection = connection }

  /// Holds `bytes` back, and sends the bytes held back before.
  ///
  /// - Returns: whether the peer took these; `false` where it has closed the connection.
  func send(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard !bytes.isEmpty else { return true }
    defer { held = bytes }
    return flush()
  }

  func send(_ text: String) -> Bool { send(Array(text.utf8)[...]) }

  /// Sends what is held back.
  ///
  /// - Returns: whether the peer took it; `false` where it has closed the connection.
  func flush() -> Bool {
    defer { held = [] }
    return connection.send(held)
  }
}
