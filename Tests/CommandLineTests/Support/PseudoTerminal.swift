import Foundation
import CacheBase
import Synchronization

/// A terminal of some size for a program to write to, and all that was written to it.
final class PseudoTerminal: Sendable {
  /// There is no terminal, for the reason that the error number tells.
  struct Failure: Error {
    let number: Int32
  }

  private struct State {
    var bytes: [UInt8] = []
    var isAtEnd = false
    var waiting: [(text: String, continuation: CheckedContinuation<Void, Never>)] = []

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Takes out those whose text has come, or never will.
    mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
      let (text, isAtEnd) = (text, isAtEnd)
      let ready = waiting.filter { isAtEnd || text.contains($0.text) }
      waiting.removeAll { isAtEnd || text.contains($0.text) }
      return ready.map(\.continuation)
    }
  }

  /// The device that the program is to write to.
  let path: String
  private let main: Int32
  private let state = Mutex(State())
  /// Keeps the device from being closed while the program has not opened it yet.
  private let device: Mutex<Int32>

  init(columns: Int, rows: Int) throws {
    var (main, device) = (Int32(-1), Int32(-1))
    var name = [CChar](repeating: 0, count: 128)
    guard openpty(&main, &device, &name, nil, nil) == 0 else { throw Failure(number: errno) }
    // Other programs that are started in the meantime must not keep it open.
    for end in [main, device] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    self.main = main
    self.device = Mutex(device)
    resize(columns: columns, rows: rows)
    Thread.detachNewThread { [self] in read() }
  }

  /// Gives the terminal another size.
  func resize(columns: Int, rows: Int) {
    var size = winsize()
    size.ws_col = UInt16(columns)
    size.ws_row = UInt16(rows)
    _ = ioctl(main, UInt(TIOCSWINSZ), &size)
  }

  /// Waits until `text` was written, or nothing more can come.
  func shows(_ text: String) async {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state in
        state.waiting.append((text, continuation))
        return state.takeReady()
      }
      for continuation in ready { continuation.resume() }
    }
  }

  /// All that was written, once the program has ended.
  func end() async -> String {
    closeDevice()
    await shows("\u{0}no program writes this")
    return text
  }

  /// The text written so far.
  var text: String { state.withLock { $0.text } }

  private func closeDevice() {
    device.withLock { device in
      if device >= 0 { close(device) }
      device = -1
    }
  }

  /// Reads until no process has the device open any more.
  private func read() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = CacheBase.read(main, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      let ready = state.withLock { state in
        if count > 0 { state.bytes += buffer[..<count] } else { state.isAtEnd = true }
        return state.takeReady()
      }
      for continuation in ready { continuation.resume() }
      guard count > 0 else { break }
    }
    close(main)
  }
}
