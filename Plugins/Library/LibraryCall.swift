internal import CCachectlPlugin
internal import Platform
internal import StorageSPI

/// A library call in progress on this thread.
///
/// The library never gets a pointer to it, only the table's address. So a callback that comes too late, on another
/// thread or for another call finds nothing to damage. Such a callback fails, and so does the call.
struct LibraryCall {
  /// The callbacks of the interface. A set, because an array would allocate memory with each read.
  struct Kind: OptionSet {
    let rawValue: UInt8

    static let entry = Kind(rawValue: 1)
    static let scannedEntry = Kind(rawValue: 2)
    static let count = Kind(rawValue: 4)
    static let issue = Kind(rawValue: 8)
    static let inspection = Kind(rawValue: 16)
    static let text = Kind(rawValue: 32)
  }

  /// Takes what the library passes to a callback.
  typealias Visit = (Kind, UnsafeRawPointer) throws(LibraryDefect) -> Void
  typealias Context = UnsafeMutableRawPointer
  typealias Failure = UnsafeMutablePointer<cachectl_failure>

  private let kinds: Kind
  private let context: Context
  private let visit: Visit
  private var defect: LibraryDefect?

  private static let succeeded = Int32(CACHECTL_OK.rawValue)
  /// The result of a callback that makes the function return.
  private static let stop = Int32(CACHECTL_FAILED.rawValue)

  /// The thread-specific key for the thread's current call; `nil` if the system had no key left.
  static let threadKey: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Calls `function` of `table`, whose callbacks `kinds` call `visit`. After a rule that the library broke
  /// there, `visit` is not called again.
  ///
  /// - Throws: `CacheError`: `failed` if the library broke a rule; otherwise the library's own error.
  @inline(__always)
  static func make(
    _ table: LibraryTable, _ kinds: Kind = [], _ visit: Visit = { _, _ in }, function: (Context, Failure) -> Int32
  ) throws(CacheError) {
    let error = withoutActuallyEscaping(visit) { visit in
      // Not initialized, because that takes longer than most calls.
      withUnsafeTemporaryAllocation(of: cachectl_failure.self, capacity: 1) { failure -> CacheError? in
        guard let failure = failure.baseAddress else { return nil }
        failure.pointer(to: \.message.0)?.pointee = 0
        failure.pointer(to: \.hint.0)?.pointee = 0
        var call = LibraryCall(kinds: kinds, context: table.context, visit: visit)
        let outer = pthread_getspecific(table.callKey)
        let status = withUnsafeMutablePointer(to: &call) { call in
          pthread_setspecific(table.callKey, call)
          defer { pthread_setspecific(table.callKey, outer) }
          return function(table.context, failure)
        }
        let isStray = table.takeStrays()
        if status == succeeded, !isStray, call.defect == nil { return nil }
        if let defect = call.defect ?? (isStray ? .strayCallback : nil) { return .defect(defect, of: table.name) }
        return .reported(status, failure, by: table.name)
      }
    }
    if let error { throw error }
  }

  /// Passes what a callback got to the call in progress on this thread, and returns the callback's result. If there is no
  /// such call with that context, the library broke a rule.
  static func callback(_ context: Context?, _ kind: Kind, _ lent: UnsafeRawPointer?) -> Int32 {
    guard let key = threadKey, let current = pthread_getspecific(key) else {
      LibraryRegistry.countStray(context)
      return stop
    }
    let call = current.assumingMemoryBound(to: LibraryCall.self)
    guard call.pointee.defect == nil else { return stop }
    do throws(LibraryDefect) {
      guard call.pointee.context == context, call.pointee.kinds.contains(kind) else { throw .strayCallback }
      guard let lent else { throw LibraryDefect("gave NULL to a callback") }
      try call.pointee.visit(kind, lent)
      return succeeded
    } catch {
      call.pointee.defect = error
      return stop
    }
  }
}

/// A rule of the interface that a library broke: what it did, as the rest of a sentence that starts with its name.
struct LibraryDefect: Error {
  let text: String

  init(_ text: String) { self.text = text }

  static let strayCallback = LibraryDefect(
    "called a callback on another thread or after its function had returned")
}

extension CacheError {
  /// The error for a call in which the backend `name` broke a rule of the interface.
  static func defect(_ defect: LibraryDefect, of name: String) -> CacheError {
    CacheError(
      .failed, "backend \(name) \(defect.text)",
      hint: "this is a defect of its library: the conformance suite may find more of them", cause: defect)
  }

  /// The codes of the interface in the order of their numbers, from 1.
  private static let codes: [Code] = [
    .failed, .invalidOption, .damaged, .unsupportedFormat, .cannotCreate, .permissionDenied, .noSpace, .ioFailed, .busy,
    .unreachable, .conflict, .tooLarge, .overBounds, .unsupported,
  ]

  /// The error that a function of the backend `name` reported by returning `status`, which is not `CACHECTL_OK`.
  fileprivate static func reported(_ status: Int32, _ failure: LibraryCall.Failure, by name: String) -> CacheError {
    guard (1...codes.count).contains(Int(status)) else {
      return .defect(LibraryDefect("returned \(status), which is no code of the interface"), of: name)
    }
    let message = withUnsafeBytes(of: &failure.pointee.message) { LibraryText.cleaned($0) }
    let hint = withUnsafeBytes(of: &failure.pointee.hint) { LibraryText.cleaned($0) }
    return CacheError(
      codes[Int(status) - 1], message.isEmpty ? "backend \(name) failed without a reason" : message, hint: hint)
  }
}
