import EngineAPI
import Foundation
import Synchronization

@testable import PlistStorage

/// The real system calls, of which one fails, or every call from some point on, as if the process had died. A pause takes no
/// time, but counts. Files are written and read in small parts, so that a fault can leave a part of one.
final class FaultySystem: Sendable {
  enum Fault: Sendable {
    case none
    /// The call with this number, counted from 1, fails.
    case once(at: Int, errno: Int32)
    /// The call with this number and all that follow fail.
    case death(at: Int)
    /// The calls fail for which the closure returns an error.
    case rule(@Sendable (_ action: String, _ path: String) -> Int32?)
  }

  private struct State {
    var fault: Fault
    var trace: [String] = []
  }

  private let state: Mutex<State>
  private let time = Mutex(Duration.zero)

  init(_ fault: Fault = .none) { state = Mutex(State(fault: fault)) }

  var calls: StoreFiles {
    var calls = StoreFiles()
    calls.failure = { self.failure(of: $0, $1) }
    calls.now = { self.elapsed }
    calls.pause = { self.pause(for: $0) }
    calls.largestTransfer = 300
    return calls
  }

  /// The calls, with the names of files.
  var trace: [String] { state.withLock { $0.trace } }

  func begin(_ fault: Fault = .none) { state.withLock { $0 = State(fault: fault) } }

  private func failure(of action: String, _ path: String) -> Int32? {
    state.withLock { state in
      state.trace.append("\(action) \(path.split(separator: "/").last ?? "")")
      return switch state.fault {
      case .none: nil
      case .once(let number, let errno): state.trace.count == number ? errno : nil
      case .death(let number): state.trace.count >= number ? EIO : nil
      case .rule(let rule): rule(action, path)
      }
    }
  }

  var elapsed: Duration { time.withLock { $0 } }

  func pause(for duration: Duration) { time.withLock { $0 += duration } }
}
