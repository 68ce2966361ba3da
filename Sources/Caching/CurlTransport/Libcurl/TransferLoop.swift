internal import CCurl
internal import FetchVocabulary
internal import CacheBase
internal import HTTPCaching
internal import Synchronization

/// Carries transfers with libcurl's multi interface, on a thread of its own.
///
/// Only that thread uses libcurl handles. Other threads post commands and wake it up.
final class TransferLoop: Sendable {
  /// A command for the thread.
  enum Command: Sendable {
    case start(Transfer)
    /// Continue a paused transfer.
    case resume(Transfer)
    /// Close a transfer that our side has ended.
    case stop(Transfer)
    /// Close everything that is open, and end the thread.
    case quit
  }

  private struct Inbox {
    var commands: [Command] = []
    /// What wakes the thread up; `nil` while it will look for commands anyway.
    var sleeper: MultiHandle?
    var isClosed = false
  }

  private let settings: NetworkSettings
  private let inbox = Mutex(Inbox())

  init(_ settings: NetworkSettings) {
    self.settings = settings
  }

  /// Whether the thread has ended, or is about to.
  var isClosed: Bool { inbox.withLock(\.isClosed) }

  /// Posts `command` to the thread. Once the thread has ended, new transfers fail and all other commands are ignored.
  func post(_ command: Command) {
    let (isClosed, sleeper) = inbox.withLock { inbox in
      if !inbox.isClosed { inbox.commands.append(command) }
      return (inbox.isClosed, inbox.sleeper.take())
    }
    // Not under the lock, which the thread needs as soon as it is awake.
    sleeper?.wakeUp()
    if isClosed, case .start(let transfer) = command {
      transfer.finish(trailers: [:], .noNetwork("libcurl has failed before"))
    }
  }

  /// The body of the thread.
  func run() {
    ccurl_block_signals()
    guard let multi = MultiHandle() else { return close(because: "there is no memory") }
    var work = Work(multi: multi, settings: settings)
    var reason: String?
    while reason == nil {
      reason = work.apply(takeCommands()) ?? work.step { isToSleep(multi) }
    }
    close(because: reason ?? "")
    work.end(because: reason ?? "")
  }

  private func takeCommands() -> [Command] {
    inbox.withLock { inbox in
      defer { inbox = Inbox() }
      return inbox.commands
    }
  }

  /// Whether there are no commands. From then on the next one wakes the thread up.
  private func isToSleep(_ multi: MultiHandle) -> Bool {
    inbox.withLock { inbox in
      if inbox.commands.isEmpty { inbox.sleeper = multi }
      return inbox.commands.isEmpty
    }
  }

  private func close(because reason: String) {
    let commands = inbox.withLock { inbox in
      defer { inbox = Inbox(isClosed: true) }
      return inbox.commands
    }
    for case .start(let transfer) in commands {
      transfer.finish(trailers: [:], .noNetwork(reason))
    }
  }
}

/// libcurl's handle of many transfers. The last reference to it closes its connections.
///
/// `@unchecked Sendable`: `curl_multi_wakeup`, which other threads call, is the one function that may be called while
/// the loop's thread uses the handle.
private final class MultiHandle: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer

  init?() {
    guard let pointer = ccurl_multi_init() else { return nil }
    self.pointer = pointer
    ccurl_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, 64)
  }

  deinit { ccurl_multi_cleanup(pointer) }

  func wakeUp() { ccurl_multi_wakeup(pointer) }
}

/// The transfers under way.
private struct Work {
  let multi: MultiHandle
  let settings: NetworkSettings
  private var transfers: [ObjectIdentifier: ActiveTransfer] = [:]

  init(multi: MultiHandle, settings: NetworkSettings) {
    self.multi = multi
    self.settings = settings
  }

  /// Executes `commands`. Returns why to end; `nil` to continue.
  mutating func apply(_ commands: [TransferLoop.Command]) -> String? {
    for command in commands {
      switch command {
      case .start(let transfer): start(transfer)
      case .resume(let transfer): resume(transfer)
      case .stop(let transfer): remove(transfer)
      case .quit: return "the transport has ended"
      }
    }
    return nil
  }

  /// Lets libcurl do what it can without waiting, informs the readers, and waits if `isToWait`. Returns why to end;
  /// `nil` to continue.
  mutating func step(_ isToWait: () -> Bool) -> String? {
    if let failure = Self.failure(ccurl_multi_perform(multi.pointer)) { return failure }
    var code = CURLE_OK
    while let easy = ccurl_multi_next_done(multi.pointer, &code) {
      guard let active = ActiveTransfer.of(easy) else { continue }
      active.finish(code)
      remove(active.transfer)
    }
    var isPutOff = false
    for active in transfers.values where active.wakeReaders() { isPutOff = true }
    return isPutOff || !isToWait() ? nil : Self.failure(ccurl_multi_poll(multi.pointer))
  }

  /// Ends every transfer.
  mutating func end(because reason: String) {
    for active in transfers.values {
      ccurl_multi_remove_handle(multi.pointer, active.easy)
      active.transfer.finish(trailers: [:], .noNetwork(reason))
    }
    transfers = [:]
  }

  private mutating func start(_ transfer: Transfer) {
    if transfer.hasEnded { return }
    do throws(CacheError) {
      let active = try ActiveTransfer(transfer, settings)
      if let failure = Self.failure(ccurl_multi_add_handle(multi.pointer, active.easy)) {
        throw .noNetwork(failure)
      }
      transfers[ObjectIdentifier(transfer)] = active
    } catch {
      transfer.finish(trailers: [:], error)
    }
  }

  private mutating func resume(_ transfer: Transfer) {
    guard let active = transfers[ObjectIdentifier(transfer)] else { return }
    let code = active.resume()
    guard code != CURLE_OK else { return }
    active.finish(code)
    remove(transfer)
  }

  /// Removes the handle of `transfer` from the loop. Closes the connection unless the response was complete.
  private mutating func remove(_ transfer: Transfer) {
    guard let active = transfers.removeValue(forKey: ObjectIdentifier(transfer)) else { return }
    ccurl_multi_remove_handle(multi.pointer, active.easy)
  }

  private static func failure(_ code: CURLMcode) -> String? {
    code == CURLM_OK ? nil : "libcurl failed with the code \(code.rawValue)"
  }
}

/// The thread of a loop. It ends with the last reference to this object.
final class TransferThread: Sendable {
  let loop: TransferLoop
  private let thread: SystemThread

  /// libcurl, loaded by the first use.
  private static let libcurl = Result { () throws(DynamicLibrary.Failure) in
    let library = try DynamicLibrary("libcurl", versions: ["4"], package: "libcurl4")
    if let problem = ccurl_link(library.handle) { throw DynamicLibrary.Failure("libcurl", String(cString: problem)) }
  }

  /// Loads libcurl, unless that was done before, and starts the thread.
  init(_ settings: NetworkSettings) throws(CacheError) {
    if case .failure(let failure) = Self.libcurl { throw .noNetwork("\(failure)") }
    loop = TransferLoop(settings)
    let loop = loop
    // Without a thread nothing is initialized, and `deinit` does not run.
    guard let thread = SystemThread.start({ loop.run() }) else { throw .noNetwork(String(cString: strerror(EAGAIN))) }
    self.thread = thread
  }

  deinit {
    loop.post(.quit)
    // The thread itself may release the last reference, captured by a caller's closure.
    if thread.isCurrent { thread.detach() } else { thread.join() }
  }
}
