import Foundation
import Synchronization

@testable import PlistStorage

/// The real file system, of which one call fails, or every call from some point on, as if the process had died. A pause
/// takes no time, but counts.
final class FaultyFileSystem: FileSystem {
  enum Fault: Sendable {
    case none
    /// The call with this number, counted from 1, fails.
    case once(at: Int, errno: Int32)
    /// The call with this number and all that follow do nothing; a write still writes half.
    case death(at: Int)
    /// The calls fail for which the closure yields an error.
    case rule(@Sendable (_ call: String, _ path: String) -> Int32?)
  }

  private struct State {
    var fault: Fault
    var trace: [String] = []
  }

  private let system = SystemFileSystem()
  private let state: Mutex<State>
  private let time = Mutex(Duration.zero)

  init(_ fault: Fault = .none) { state = Mutex(State(fault: fault)) }

  /// What was called, with the names of files.
  var trace: [String] { state.withLock { $0.trace } }

  func begin(_ fault: Fault = .none) { state.withLock { $0 = State(fault: fault) } }

  private func step(_ call: String, _ path: String = "") throws(SystemError) {
    let code: Int32? = state.withLock { state in
      state.trace.append(path.isEmpty ? call : call + " " + (path.split(separator: "/").last ?? ""))
      return switch state.fault {
      case .none: nil
      case .once(let number, let errno): state.trace.count == number ? errno : nil
      case .death(let number): state.trace.count >= number ? EIO : nil
      case .rule(let rule): rule(call, path)
      }
    }
    if let code { throw SystemError(code: code) }
  }

  func open(_ path: String, flags: Int32) throws(SystemError) -> OpenFile {
    try step(flags & O_CREAT == 0 ? "open" : "create", path)
    return try system.open(path, flags: flags)
  }

  func status(of path: String) throws(SystemError) -> FileStatus? {
    try step("stat", path)
    return try system.status(of: path)
  }

  func status(of file: OpenFile) throws(SystemError) -> FileStatus {
    try step("fstat")
    return try system.status(of: file)
  }

  func read(_ file: OpenFile, count: Int) throws(SystemError) -> [UInt8] {
    try step("read")
    return try system.read(file, count: count)
  }

  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(SystemError) -> Int {
    do {
      try step("write")
    } catch {
      _ = try system.write(bytes.prefix(bytes.count / 2), to: file)
      throw error
    }
    // Less than asked for, as a real call may.
    return try system.write(bytes.prefix(max(1, bytes.count * 2 / 3)), to: file)
  }

  func synchronize(_ file: OpenFile) throws(SystemError) {
    try step("fsync")
    try system.synchronize(file)
  }

  func lock(_ file: OpenFile, exclusively: Bool) throws(SystemError) -> Bool {
    try step(exclusively ? "lock exclusively" : "lock")
    return try system.lock(file, exclusively: exclusively)
  }

  /// No step: a process that dies releases its locks.
  func unlock(_ file: OpenFile) { system.unlock(file) }

  func rename(_ path: String, to newPath: String) throws(SystemError) {
    try step("rename", newPath)
    try system.rename(path, to: newPath)
  }

  func unlink(_ path: String) throws(SystemError) {
    try step("unlink", path)
    try system.unlink(path)
  }

  func makeFolder(_ path: String) throws(SystemError) {
    try step("mkdir", path)
    try system.makeFolder(path)
  }

  func names(in path: String) throws(SystemError) -> [String] {
    try step("list", path)
    return try system.names(in: path)
  }

  var elapsed: Duration { time.withLock { $0 } }

  func pause(for duration: Duration) { time.withLock { $0 += duration } }
}
