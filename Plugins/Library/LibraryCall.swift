internal import CCachectlPlugin
internal import EngineSupport
internal import Platform
internal import StorageSPI
internal import Synchronization

/// A library call in progress on this thread.
///
/// The library never gets a pointer to it, only the table's address. So a callback that comes too late, on another
/// thread or for another call finds nothing to damage. Such a callback fails, and so does the call.
struct LibraryCall {
  /// The function being called, which determines the type of what the callbacks get.
  enum Kind {
    case read, readAll, scan, statistics, integrity, inspection, removal
  }

  /// Takes what the library passes to a callback, and an index that some callbacks have.
  typealias Visit = (UnsafeRawPointer?, Int) throws(LibraryDefect) -> Void
  typealias Context = UnsafeMutableRawPointer
  typealias Failure = UnsafeMutablePointer<cachectl_failure>

  private let kind: Kind
  private let context: Context
  private let visit: Visit
  private var defect: LibraryDefect?
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

  /// Calls `function` of `table`, whose callbacks call `visit`. After a rule that the library broke there, `visit` is not
  /// called again.
  ///
  /// - Throws: `CacheError`: `failed` if the library broke a rule; otherwise the library's own error.
  @inline(__always)
  static func make(
    _ kind: Kind, _ table: LibraryTable, _ visit: Visit, function: (Context, Failure) -> Int32
  ) throws(CacheError) {
    var failure = cachectl_failure()
    var status = goOn
    var hasStray = false
    var defect: LibraryDefect?
    withoutActuallyEscaping(visit) { visit in
      var call = LibraryCall(kind: kind, context: table.context, visit: visit)
      let outer = pthread_getspecific(table.callKey)
      status = withUnsafeMutablePointer(to: &call) { call in
        pthread_setspecific(table.callKey, call)
        defer { pthread_setspecific(table.callKey, outer) }
        return function(table.context, &failure)
      }
      hasStray = call.hasStray
      defect = call.defect
    }
    if status == goOn, !hasStray, defect == nil, !table.takeStrays() { return }
    if let defect { throw .defect(defect.text, of: table.name) }
    if hasStray || table.takeStrays() || status == goOn { throw strayed(table) }
    throw .reported(status, &failure, by: table.name)
  }

  /// Calls `function` of `table`, which has no callbacks.
  ///
  /// - Throws: `CacheError`: the library's error.
  static func make(_ table: LibraryTable, _ function: (Failure) -> Int32) throws(CacheError) {
    var failure = cachectl_failure()
    let status = function(&failure)
    guard status == goOn else { throw .reported(status, &failure, by: table.name) }
    guard !table.takeStrays() else { throw strayed(table) }
  }

  /// Passes what a callback got to the call of `kind` in progress on this thread, and returns the callback's result. If
  /// there is no such call with that context, that counts as a fault of the library.
  static func callback(
    _ context: Context?, _ kind: Kind, _ lent: UnsafeRawPointer?, at index: Int = 0
  ) -> Int32 {
    guard let key = threadKey, let current = pthread_getspecific(key) else {
      if let context { LibraryRegistry.countStray(context) }
      return stop
    }
    let call = current.assumingMemoryBound(to: LibraryCall.self)
    guard call.pointee.context == context, call.pointee.kind == kind else {
      call.pointee.hasStray = true
      return stop
    }
    guard call.pointee.defect == nil else { return stop }
    do throws(LibraryDefect) {
      try call.pointee.visit(lent, index)
      return goOn
    } catch {
      call.pointee.defect = error
      return stop
    }
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
