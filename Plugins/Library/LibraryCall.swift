internal import CCachectlPlugin
internal import CLibraryCall
internal import EngineExport
internal import EngineAPI

/// A call of a library's function in progress on this thread.
///
/// The library never gets a pointer to it, only the address of the table. A callback that comes too late, on another
/// thread or for another call finds nothing to damage. Such a callback fails, and so does the call.
struct LibraryCall {
  /// The callbacks of the interface, of which `text` is called with positions and paths.
  enum Kind { case entry, scannedEntry, text, count, issue, inspection }

  /// Takes what the library passes to a callback.
  typealias Visit = (Kind, UnsafeRawPointer) throws(CacheError) -> Void
  typealias Context = UnsafeMutableRawPointer
  typealias Failure = UnsafeMutablePointer<cachectl_failure>

  fileprivate let context: Context
  fileprivate let visit: Visit
  /// The first failure in a callback.
  fileprivate var error: CacheError?

  /// Passes what a callback got to the call in progress on this thread, and returns the callback's result. If there is no
  /// such call with that context, the library broke a rule.
  static func callback(_ context: Context?, _ kind: Kind, _ lent: UnsafeRawPointer?) -> Int32 {
    let stop = Int32(CACHECTL_FAILED.rawValue)
    guard let current = library_call() else {
      LibraryTable.countStray(context)
      return stop
    }
    let call = current.assumingMemoryBound(to: LibraryCall.self)
    guard call.pointee.error == nil else { return stop }
    do throws(CacheError) {
      guard call.pointee.context == context else { throw .strayCallback }
      guard let lent else { throw .defect("gave NULL to a callback") }
      try call.pointee.visit(kind, lent)
      return 0
    } catch {
      call.pointee.error = error
      return stop
    }
  }
}

extension LibraryTable {
  /// Calls `function`, whose callbacks call `visit` until it throws.
  ///
  /// - Throws: `CacheError`: what `visit` threw; otherwise the library's own error; `failed` if it broke a rule.
  @inline(__always)
  func call(
    _ visit: LibraryCall.Visit = { _, _ throws(CacheError) in throw .strayCallback },
    function: (LibraryCall.Context, LibraryCall.Failure) -> Int32
  ) throws(CacheError) {
    let error = withoutActuallyEscaping(visit) { visit in
      // Not initialized, because that takes longer than most calls.
      withUnsafeTemporaryAllocation(of: cachectl_failure.self, capacity: 1) { failure -> CacheError? in
        guard let failure = failure.baseAddress else { return nil }
        failure.pointer(to: \.message.0)?.pointee = 0
        failure.pointer(to: \.hint.0)?.pointee = 0
        var call = LibraryCall(context: context, visit: visit)
        let status = withUnsafeMutablePointer(to: &call) { call in
          let outer = library_call_begin(call)
          defer { _ = library_call_begin(outer) }
          return function(context, failure)
        }
        if takeStrays(), call.error == nil { call.error = .strayCallback }
        if let error = call.error { return named(error) }
        return status == 0 ? nil : reported(status, failure)
      }
    }
    if let error { throw error }
  }

  /// Calls `function`, and returns the values of what it lends to the callback `kind`, which must be `limit` at most.
  func gather<Lent, Value>(
    _ kind: LibraryCall.Kind, limit: Int, _ value: (Lent) throws(CacheError) -> Value,
    function: (LibraryCall.Context, LibraryCall.Failure) -> Int32
  ) throws(CacheError) -> [Value] {
    var values: [Value] = []
    try call(
      { called, lent throws(CacheError) in
        guard called == kind else { throw .strayCallback }
        guard values.count < limit else { throw .defect("called the callback '\(kind)' more than \(limit) times") }
        values.append(try value(lent.assumingMemoryBound(to: Lent.self).pointee))
      }, function: function)
    return values
  }

  /// `error` with the name of the backend, if it says that the library broke a rule.
  func named(_ error: CacheError) -> CacheError {
    guard error.cause is InterfaceDefect else { return error }
    return CacheError(
      error.code, "backend \(name) \(error.message)",
      hint: "this is a defect of its library: the conformance suite may find more of them", cause: error.cause)
  }

  /// The error that a function reported by returning `status`, which is not 0.
  private func reported(_ status: Int32, _ failure: LibraryCall.Failure) -> CacheError {
    guard (1...CacheError.interfaceCodes.count).contains(Int(status)) else {
      return named(.defect("returned \(status), which is no code of the interface"))
    }
    let message = withUnsafeBytes(of: &failure.pointee.message) { LibraryText.line(upToZeroIn: $0) }
    let hint = withUnsafeBytes(of: &failure.pointee.hint) { LibraryText.line(upToZeroIn: $0) }
    return CacheError(
      CacheError.interfaceCodes[Int(status) - 1],
      message.isEmpty ? "backend \(name) failed without a reason" : message, hint: hint)
  }
}

extension CacheError {
  /// The error for a callback at a time when it was not allowed.
  static var strayCallback: CacheError {
    .defect("called a callback on another thread or after its function had returned")
  }
}
