import ChildProcesses
import Foundation
import CacheBase
import Synchronization
import TestOrigin

/// A program that is running. Its output is written to files, because a pipe can fill up.
///
/// It is spawned directly: Foundation's `Process` has crashed when many were started at once.
final class RunningProgram: Sendable {
  /// How many programs run at once: more would only wait for each other.
  static let turnstile = Turnstile(places: 4)

  /// Far more than any command takes on a busy machine: only a program that hangs meets it.
  private static let limit: TimeInterval = 600

  private let identifier: pid_t
  private let arguments: [String]
  private let outputFile: String
  private let errorFile: String
  private let ended: AsyncStream<Int32>
  private let status = Status()
  /// The folder stays as long as the program may write to it.
  private let scratch: Scratch

  init(
    _ program: String, _ arguments: [String], in scratch: Scratch, environment: [String: String] = [:],
    outputTo device: String? = nil, errorsTo errorDevice: String? = nil
  ) throws {
    let name = UUID().uuidString
    self.scratch = scratch
    self.arguments = [program] + arguments
    outputFile = scratch.path("streams/\(name).out")
    errorFile = scratch.path("streams/\(name).err")
    let variables = scratch.cleanEnvironment.merging(environment) { $1 }.map { "\($0)=\($1)" }
    identifier = try Spawning.start(
      [program] + arguments, variables: variables, folder: scratch.path("work"), output: device ?? outputFile,
      errors: errorDevice ?? errorFile)
    let (ended, continuation) = AsyncStream.makeStream(of: Int32.self)
    self.ended = ended
    // The thread must not hold the folder, which is to go with its test.
    Thread.detachNewThread { [identifier, status] in
      let code = Spawning.wait(for: identifier)
      status.code.withLock { $0 = code }
      continuation.yield(code)
      continuation.finish()
    }
  }

  private var isRunning: Bool { status.code.withLock { $0 == nil } }

  /// Sends a signal, if the program is still there.
  func signal(_ number: Int32) { status.code.withLock { if $0 == nil { _ = kill(identifier, number) } } }

  /// Sends a signal within a millisecond or so of the moment at which a condition is met. It looks on a thread of its
  /// own, which no test keeps busy, and leaves the processor to the program meanwhile.
  func signal(_ number: Int32, when isTime: @escaping @Sendable () -> Bool) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        while isRunning, !isTime() { poll(nil, 0, 1) }
        signal(number)
        continuation.resume()
      }
    }
  }

  /// Waits, on a separate thread, until a condition is met or the program has ended.
  func waits(until isTime: @escaping @Sendable () -> Bool) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        while isRunning, !isTime() { poll(nil, 0, 1) }
        continuation.resume()
      }
    }
  }

  /// Waits for the end.
  ///
  /// - Throws: `HangingProgram` if it does not end.
  func end() async throws -> Run {
    let isLate = Mutex(false)
    // A queue keeps even a cancelled item until its time comes: it must not keep the folder.
    let guardian = DispatchWorkItem { [weak self] in
      isLate.withLock { $0 = true }
      self?.signal(SIGKILL)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.limit, execute: guardian)
    var code: Int32 = 0
    for await end in ended { code = end }
    guardian.cancel()
    if isLate.withLock({ $0 }) { throw HangingProgram(arguments: arguments) }
    return Run(
      status: code, output: FileManager.default.contents(atPath: outputFile) ?? Data(),
      errors: String(decoding: FileManager.default.contents(atPath: errorFile) ?? Data(), as: UTF8.self))
  }
}

/// The status of a program, once it has ended.
private final class Status: Sendable {
  let code = Mutex<Int32?>(nil)
}

/// A program that did not end, and was killed.
struct HangingProgram: Error {
  let arguments: [String]
}

/// Lets a number of tasks through at once.
actor Turnstile {
  private var places: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(places: Int) { self.places = places }

  func enter() async {
    if places > 0 {
      places -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func leave() {
    if waiting.isEmpty { places += 1 } else { waiting.removeFirst().resume() }
  }
}
