internal import CCachectlPlugin
internal import EngineSupport
internal import Platform
internal import StorageSPI
internal import Synchronization

/// What the callbacks of a call change, and the errors they found.
protocol LibraryCallState {
  /// The rule that the library broke in a callback.
  var defect: LibraryDefect? { get set }
  /// What the caller's own code threw in a callback; it takes precedence over everything else.
  var thrown: CacheError? { get }
}

extension LibraryCallState {
  var thrown: CacheError? { nil }

  /// Lets `visit` process a callback's argument, unless the library has already broken a rule, and records a rule that
  /// it breaks now. Returns the callback's result.
  mutating func visiting(_ visit: (inout Self) throws(LibraryDefect) -> Void) -> Int32 {
    guard defect == nil else { return LibraryCall.stop }
    do throws(LibraryDefect) {
      try visit(&self)
      return LibraryCall.goOn
    } catch {
      defect = error
      return LibraryCall.stop
    }
  }
}

/// A library call in progress on this thread.
///
/// The library never gets a pointer to it, only the table's address. So a callback that comes too late, on another
/// thread or for another call finds nothing to damage. Such a callback fails, and so does the call.
struct LibraryCall {
  /// The function being called, which determines the type of the state.
  enum Kind {
    case read, readAll, scan, statistics, integrity, inspection, repair
  }

  private let kind: Kind
  private let context: UnsafeMutableRawPointer
  private let state: UnsafeMutableRawPointer
  private var hasStray = false

  /// The result of a callback that lets the function continue.
  static let goOn = Int32(CACHECTL_OK.rawValue)
  /// The result of a callback that makes the function return.
  static let stop = Int32(CACHECTL_FAILED.rawValue)

  /// The thread-specific key for the thread's current call; `nil` if the system had no key left.
  static let threadKey: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Calls `function` of `table`, whose callbacks change `state`.
  ///
  /// - Throws: `CacheError`: what the caller's code threw in a callback; otherwise `failed` if the library broke a
  ///   rule; otherwise the library's own error.
  @inline(__always)
  static func make<State: LibraryCallState>(
    _ kind: Kind, _ table: LibraryTable, _ state: inout State,
    _ function: (LibraryFunctions.Context, LibraryFunctions.Failure) -> Int32
  ) throws(CacheError) {
    var failure = cachectl_failure()
    let (status, hasStray) = withUnsafeMutablePointer(to: &state) { state in
      withThreadCall(LibraryCall(kind: kind, context: table.context, state: state), table.callKey) {
        function(table.context, &failure)
      }
    }
    if status == goOn, !hasStray, state.defect == nil, state.thrown == nil, !table.takeStrays() { return }
    throw error(status, hasStray, table, state, failure)
  }

  /// Calls `function` of `table`, which has no callbacks.
  ///
  /// - Throws: `CacheError`: the library's error.
  static func make(_ table: LibraryTable, _ function: (LibraryFunctions.Failure) -> Int32) throws(CacheError) {
    var failure = cachectl_failure()
    let status = function(&failure)
    guard status == goOn else { throw .reported(status, &failure, by: table.name) }
    guard !table.takeStrays() else { throw strayed(table) }
  }

  /// The state of the call of `kind` in progress on this thread; `nil` if there is none with that context, which then
  /// counts as a fault of the library.
  static func state<State>(
    _ context: UnsafeMutableRawPointer?, _ kind: Kind, _: State.Type
  ) -> UnsafeMutablePointer<State>? {
    guard let key = threadKey, let current = pthread_getspecific(key) else {
      if let context { LibraryRegistry.countStray(context) }
      return nil
    }
    let call = current.assumingMemoryBound(to: LibraryCall.self)
    guard call.pointee.context == context, call.pointee.kind == kind else {
      call.pointee.hasStray = true
      return nil
    }
    return call.pointee.state.assumingMemoryBound(to: State.self)
  }

  /// Calls `function` with `call` as the call that this thread's callbacks find.
  @inline(__always)
  private static func withThreadCall(
    _ call: LibraryCall, _ key: pthread_key_t, _ function: () -> Int32
  ) -> (status: Int32, hasStray: Bool) {
    var call = call
    let outer = pthread_getspecific(key)
    let status = withUnsafeMutablePointer(to: &call) { call in
      pthread_setspecific(key, call)
      defer { pthread_setspecific(key, outer) }
      return function()
    }
    return (status, call.hasStray)
  }

  @inline(never)
  private static func error(
    _ status: Int32, _ hasStray: Bool, _ table: LibraryTable, _ state: borrowing some LibraryCallState,
    _ failure: borrowing cachectl_failure
  ) -> CacheError {
    if let thrown = state.thrown { return thrown }
    if let defect = state.defect { return .defect(defect.text, of: table.name) }
    var failure = copy failure
    if hasStray || table.takeStrays() || status == goOn { return strayed(table) }
    return .reported(status, &failure, by: table.name)
  }

  private static func strayed(_ table: LibraryTable) -> CacheError {
    .defect("called a callback on another thread or after its function had returned", of: table.name)
  }
}

/// Whether the task that waits for a library call is cancelled. The library asks on the thread of the call.
final class LibraryCancellation: Sendable {
  private let isCancelled = Atomic<Bool>(false)

  /// The thread-specific key for the flag of the thread's call; `nil` if the system had no key left.
  private static let threadKey: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Whether the task that waits for this thread's current call is cancelled.
  static var isOfThisThread: Bool {
    guard let key = threadKey, let current = pthread_getspecific(key) else { return false }
    return Unmanaged<LibraryCancellation>.fromOpaque(current).takeUnretainedValue()
      .isCancelled.load(ordering: .relaxed)
  }

  /// Runs `work`, which calls a library, on a thread of `executor`. If the task is cancelled, the work continues until
  /// the library notices.
  static func run<Output: Sendable>(
    on executor: BlockingExecutor, _ work: @escaping @Sendable () throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let cancellation = LibraryCancellation()
    let result = await withTaskCancellationHandler { () async -> Result<Output, CacheError> in
      do throws(CacheError) {
        return .success(try await executor.run { () throws(CacheError) in try cancellation.during(work) })
      } catch {
        return .failure(error)
      }
    } onCancel: {
      cancellation.isCancelled.store(true, ordering: .relaxed)
    }
    return try result.get()
  }

  private func during<Output>(_ work: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    guard let key = Self.threadKey else { return try work() }
    pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque())
    defer { pthread_setspecific(key, nil) }
    return try work()
  }
}
