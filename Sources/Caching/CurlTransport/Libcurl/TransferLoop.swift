internal import CCurl
internal import FetchVocabulary
internal import CacheBase
internal import HTTPCaching
internal import Synchronization

/// Carries transfers with libcurl's multi interface, on its own thread. The last reference closes the connections.
///
/// Other threads post commands and wake the thread up.
///
/// `@unchecked Sendable`: only the thread uses `transfers` and libcurl's handles. The one exception is
/// `curl_multi_wakeup`, which any thread can call at any time.
final class TransferLoop: @unchecked Sendable {
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
    var isClosed = false
  }

  private let settings: NetworkSettings
  private let multi: UnsafeMutableRawPointer
  private let inbox = Mutex(Inbox())
  /// The transfers under way.
  private var transfers: [ObjectIdentifier: ActiveTransfer] = [:]

  init(_ settings: NetworkSettings) throws(CacheError) {
    guard let multi = libcurl.curl_multi_init() else { throw .noNetwork("there is no memory") }
    ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 64)
    self.settings = settings
    self.multi = multi
  }

  deinit { _ = libcurl.curl_multi_cleanup(multi) }

  /// Whether the thread has ended, or is about to.
  var isClosed: Bool { inbox.withLock(\.isClosed) }

  /// Posts `command` to the thread. Once the thread has ended, new transfers fail and all other commands are ignored.
  func post(_ command: Command) {
    let isClosed = inbox.withLock { inbox in
      if !inbox.isClosed { inbox.commands.append(command) }
      return inbox.isClosed
    }
    if !isClosed {
      // Not under the lock, which the thread needs as soon as it is awake.
      _ = libcurl.curl_multi_wakeup(multi)
    } else if case .start(let transfer) = command {
      transfer.finish(.noNetwork("libcurl has failed before"))
    }
  }

  /// The body of the thread. It ends with the command `quit`, or if libcurl fails.
  func run() {
    ccurl_block_signals()
    do throws(CacheError) {
      while true {
        for command in takeCommands() { try execute(command) }
        try step()
      }
    } catch {
      for case .start(let transfer) in takeCommands(closing: true) { transfer.finish(error) }
      for active in transfers.values {
        _ = libcurl.curl_multi_remove_handle(multi, active.easy)
        active.transfer.finish(error)
      }
      transfers = [:]
    }
  }

  private func takeCommands(closing isClosed: Bool = false) -> [Command] {
    inbox.withLock { inbox in
      defer { inbox = Inbox(isClosed: isClosed) }
      return inbox.commands
    }
  }

  private func execute(_ command: Command) throws(CacheError) {
    switch command {
    case .start(let transfer): start(transfer)
    case .resume(let transfer): resume(transfer)
    case .stop(let transfer): remove(transfer)
    case .quit: throw .noNetwork("the transport has ended")
    }
  }

  /// Lets libcurl do what it can without waiting, informs the readers, and waits for the network or a command.
  private func step() throws(CacheError) {
    var running: Int32 = 0
    try Self.check(libcurl.curl_multi_perform(multi, &running))
    var code = CURLE_OK
    while let easy = ccurl_multi_next_done(multi, &code) {
      guard let active = ActiveTransfer.of(easy) else { continue }
      active.finish(code)
      remove(active.transfer)
    }
    var isPutOff = false
    for active in transfers.values where active.wakeReaders() { isPutOff = true }
    // A command that was posted meanwhile ends the wait at once.
    if !isPutOff { try Self.check(libcurl.curl_multi_poll(multi, nil, 0, .max, nil)) }
  }

  private func start(_ transfer: Transfer) {
    if transfer.hasEnded { return }
    do throws(CacheError) {
      let active = try ActiveTransfer(transfer, settings)
      try Self.check(libcurl.curl_multi_add_handle(multi, active.easy))
      transfers[ObjectIdentifier(transfer)] = active
    } catch {
      transfer.finish(error)
    }
  }

  private func resume(_ transfer: Transfer) {
    guard let active = transfers[ObjectIdentifier(transfer)] else { return }
    let code = active.resume()
    guard code != CURLE_OK else { return }
    active.finish(code)
    remove(transfer)
  }

  /// Removes the handle of `transfer` from the loop. Closes the connection unless the response was complete.
  private func remove(_ transfer: Transfer) {
    guard let active = transfers.removeValue(forKey: ObjectIdentifier(transfer)) else { return }
    _ = libcurl.curl_multi_remove_handle(multi, active.easy)
  }

  private static func check(_ code: CURLMcode) throws(CacheError) {
    if code != CURLM_OK { throw .noNetwork("libcurl failed with the code \(code.rawValue)") }
  }
}

/// The thread of a loop. It ends with the last reference to this object.
final class TransferThread: Sendable {
  let loop: TransferLoop
  private let thread: SystemThread

  /// libcurl, loaded by the first use.
  private static let library = Result { () throws(DynamicLibrary.Failure) in
    let library = try DynamicLibrary("libcurl", versions: ["4"], package: "libcurl4")
    if let problem = ccurl_link(library.handle) { throw DynamicLibrary.Failure("libcurl", String(cString: problem)) }
  }

  /// Loads libcurl, unless that was done before, and starts the thread.
  init(_ settings: NetworkSettings) throws(CacheError) {
    if case .failure(let failure) = Self.library { throw .noNetwork("\(failure)") }
    let loop = try TransferLoop(settings)
    self.loop = loop
    // Without a thread not everything is initialized, and `deinit` does not run.
    guard let thread = SystemThread.start({ loop.run() }) else { throw .noNetwork(String(cString: strerror(EAGAIN))) }
    self.thread = thread
  }

  deinit {
    loop.post(.quit)
    // The thread itself can release the last reference, captured by a caller's closure.
    if thread.isCurrent { thread.detach() } else { thread.join() }
  }
}
