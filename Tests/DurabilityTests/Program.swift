import ChildProcesses
import Foundation
import CacheBase
import TestOrigin

/// A running program. Its lines are read when they arrive. One thread uses it, and is blocked meanwhile.
///
/// It is spawned directly: Foundation's `Process` has crashed when many were started at once.
final class Program {
  /// A system call that failed.
  struct Failure: Error {
    let call: String
    let number: Int32
  }

  /// The identifier of the process.
  let identifier: pid_t
  /// The lines that are complete.
  private(set) var lines: [String] = []
  private var rest: [UInt8] = []
  private var isAtEnd = false
  private let pipe: Int32
  private let errorFile: String

  /// Starts the program that `arguments` begin with. All its files are in `folder`.
  init(_ arguments: [String], environment: [String: String] = [:], in folder: TestFolder) throws {
    let name = UUID().uuidString
    let path = folder.path("\(name).out")
    errorFile = folder.path("\(name).err")
    guard mkfifo(path, 0o600) == 0 else { throw Failure(call: "mkfifo", number: errno) }
    pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard pipe >= 0 else { throw Failure(call: "open", number: errno) }
    let clean = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder.path("user"), "LC_ALL": "C.UTF-8"]
    identifier = try Spawning.start(
      arguments, variables: clean.merging(environment) { $1 }.map { "\($0)=\($1)" }, folder: folder.path,
      output: path, errors: errorFile)
    unlink(path)
  }

  deinit { close(pipe) }

  /// Its text on stderr.
  var errors: String { (try? String(contentsOfFile: errorFile, encoding: .utf8)) ?? "" }

  /// Reads lines until `isMet`, the program has closed its output, or `limit` has passed; whether `isMet`.
  @discardableResult
  func read(for limit: Duration, until isMet: ([String]) -> Bool = { _ in false }) -> Bool {
    let deadline = ContinuousClock.now + limit
    while !isMet(lines) {
      let left = deadline - .now
      guard !isAtEnd, left > .zero else { return false }
      if waitForInput(left) { readOnce() }
    }
    return true
  }

  /// Kills it at once.
  func kill() { _ = CacheBase.kill(identifier, SIGKILL) }

  /// Reads to the end and waits for it. Returns the exit code, or 128 and the number of the signal that ended it. A
  /// program that has not ended after `limit` is killed.
  func end(limit: Duration = .seconds(1_800)) -> Int32 {
    read(for: limit)
    if !isAtEnd { kill() }
    read(for: limit)
    return Spawning.wait(for: identifier)
  }

  private func waitForInput(_ limit: Duration) -> Bool {
    var request = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
    // Less than a millisecond is waited for by asking again and again.
    return poll(&request, 1, Int32(limit / .milliseconds(1))) > 0
  }

  private func readOnce() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = CacheBase.read(pipe, &buffer, buffer.count)
    // Without a writer yet, or with a signal in between, there is nothing to read now.
    if count < 0 { return }
    isAtEnd = count == 0
    rest += buffer[..<max(count, 0)]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(String(decoding: rest[..<end], as: UTF8.self))
      rest.removeSubrange(...end)
    }
  }
}

/// A program of this package, next to the tests.
enum Built {
  static let exerciser = path("StoreExerciser")
  static let cachectl = ProcessInfo.processInfo.environment["CACHECTL_BINARY"] ?? path("cachectl")

  private static func path(_ name: String) -> String {
    // The test bundle is the first argument that SwiftPM gives to the runner of tests, or the runner itself.
    let arguments = CommandLine.arguments
    let bundle = arguments.first { $0.hasSuffix(".xctest") } ?? arguments[0]
    let folder = URL(fileURLWithPath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
    return folder.appendingPathComponent(name).path
  }
}

/// Runs `body` on a separate thread, which may wait for programs as long as it likes. Its issues are reported as issues
/// of the test.
func onThread<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) async throws -> Output {
  try await withTaskExecutorPreference(ThreadExecutor()) { @concurrent () async throws in try body() }
}

/// Gives each job a separate thread.
private final class ThreadExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
