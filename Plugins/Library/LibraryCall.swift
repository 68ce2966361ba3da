internal import CCachectlPlugin
internal import CacheBase
internal import EngineAPI
internal import EngineExport

/// A call of a library's function in progress: the context of its callbacks.
struct LibraryCall {
  /// The argument of a callback.
  enum Lent {
    case entry(UnsafePointer<cachectl_entry>)
    case count(UnsafePointer<cachectl_count>)
    case text(cachectl_bytes)
  }

  typealias Visit = (Lent) throws(CacheError) -> Void
  typealias Context = UnsafeMutableRawPointer
  typealias Failure = UnsafeMutablePointer<cachectl_failure>

  /// The most callbacks of one call: a library that calls more often is in an endless loop.
  private static let maximumCallbacks = 1 << 20

  fileprivate let visit: Visit
  fileprivate var callbacks = 0
  /// The first failure in a callback. Everything after it is ignored.
  fileprivate var error: CacheError?

  /// Passes the argument of a callback, which is `nil` for NULL, to the call, and returns the callback's result.
  static func callback(_ context: Context?, _ lent: Lent?) -> Int32 {
    let stop = Int32(CACHECTL_FAILED.rawValue)
    guard let call = context?.assumingMemoryBound(to: LibraryCall.self), call.pointee.error == nil else { return stop }
    do throws(CacheError) {
      guard let lent else { throw .defect("gave NULL to a callback") }
      call.pointee.callbacks += 1
      guard call.pointee.callbacks <= maximumCallbacks else { throw .defect("does not stop calling its callback") }
      try call.pointee.visit(lent)
      return 0
    } catch {
      call.pointee.error = error
      return stop
    }
  }
}

/// A read in progress: the context of its callback. It is separate from `LibraryCall` because reads are the hot path.
struct LibraryRead {
  let key: UnsafeBufferPointer<UInt8>
  let body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  var isFound = false
  var error: CacheError?

  /// Passes the entry, which is `nil` for NULL, to the body of the read, and returns the callback's result.
  @inline(__always)
  static func callback(_ context: LibraryCall.Context?, _ entry: UnsafePointer<cachectl_entry>?) -> Int32 {
    let stop = Int32(CACHECTL_FAILED.rawValue)
    guard let read = context?.assumingMemoryBound(to: LibraryRead.self), read.pointee.error == nil else { return stop }
    do throws(CacheError) {
      guard let entry else { throw .defect("gave NULL to a callback") }
      if read.pointee.isFound { throw .defect("gave more than one entry for one key") }
      let (key, own) = (read.pointee.key, entry.pointee.key)
      // A Swift engine passes the same bytes back.
      guard own.length == key.count, let data = own.data, let requested = key.baseAddress,
        data == requested || memcmp(data, requested, key.count) == 0
      else { throw .defect("gave another entry than the requested one") }
      let metadata = try EntryMetadata(checking: entry, key.span)
      let payload = try entry.pointee.payload.checked("payload")
      try read.pointee.body(payload.span, metadata)
      read.pointee.isFound = true
      return 0
    } catch {
      read.pointee.error = error
      return stop
    }
  }
}

extension LibraryPlugin {
  /// Calls `function`, whose callbacks call `visit` until it throws.
  ///
  /// - Throws: `CacheError`: what `visit` threw; otherwise the library's own error; `failed` if it broke a rule.
  func call(
    _ visit: LibraryCall.Visit = { _ in }, function: (LibraryCall.Context, LibraryCall.Failure) -> Int32
  ) throws(CacheError) {
    let error = withoutActuallyEscaping(visit) { visit -> CacheError? in
      var call = LibraryCall(visit: visit)
      let error = self.error(of: { failure in withUnsafeMutablePointer(to: &call) { function($0, failure) } })
      if let error = call.error { return named(error) }
      return error
    }
    if let error { throw error }
  }

  /// The error that `function` reports; `nil` if it succeeds.
  @inline(__always)
  func error(of function: (LibraryCall.Failure) -> Int32) -> CacheError? {
    // Not initialized, because that takes longer than most calls.
    withUnsafeTemporaryAllocation(of: cachectl_failure.self, capacity: 1) { failure -> CacheError? in
      guard let failure = failure.baseAddress else { return nil }
      failure.pointer(to: \.message.0)?.pointee = 0
      failure.pointer(to: \.hint.0)?.pointee = 0
      let status = function(failure)
      return status == 0 ? nil : reported(status, failure)
    }
  }

  /// Calls `function`, and returns the texts that it lends to its callback.
  func texts(
    _ function: (LibraryCall.Context, LibraryCall.Failure) -> Int32
  ) throws(CacheError) -> [String] {
    var texts: [String] = []
    try call(
      { lent throws(CacheError) in
        if case .text(let text) = lent { texts.append(try text.checkedText("text")) }
      }, function: function)
    return texts
  }

  /// `error` with the name of the backend, if it says that the library broke a rule.
  func named(_ error: CacheError) -> CacheError {
    guard error.cause is InterfaceDefect else { return error }
    return CacheError(
      error.code, "backend \(declaration.name) \(error.message)",
      hint: "this is a defect of its library: the conformance suite might find more of them", cause: error.cause)
  }

  /// The error that a function reported by returning `status`, which is not 0.
  private func reported(_ status: Int32, _ failure: LibraryCall.Failure) -> CacheError {
    guard (1...CacheError.interfaceCodes.count).contains(Int(status)) else {
      return named(.defect("returned \(status), which is not a code of the interface"))
    }
    let message = withUnsafeBytes(of: &failure.pointee.message) { Self.line($0) }
    let hint = withUnsafeBytes(of: &failure.pointee.hint) { Self.line($0) }
    return CacheError(
      CacheError.interfaceCodes[Int(status) - 1],
      message.isEmpty ? "backend \(declaration.name) failed without a reason" : message, hint: hint)
  }

  /// The bytes before the first zero byte, or all of them, as one line in which escapes replace control characters.
  private static func line(_ bytes: UnsafeRawBufferPointer) -> String {
    TerminalText.line(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
  }
}

// Checks of the memory that a library lends: all that prevent harm.

extension cachectl_bytes {
  /// The most bytes that a library can lend at once.
  fileprivate static let maximumLength = 1 << 40

  /// The bytes, in place.
  ///
  /// - Throws: `CacheError`: a defect if the pointer or the length is impossible.
  @inline(__always)
  func checked(_ what: StaticString) throws(CacheError) -> UnsafeBufferPointer<UInt8> {
    if UInt(bitPattern: length) > Self.maximumLength || data == nil && length != 0 { throw defect(what) }
    return bytes
  }

  @inline(never)
  private func defect(_ what: StaticString) -> CacheError {
    .defect("gave a \(what) \(data == nil ? "without its" : "of \(UInt(bitPattern: length))") bytes")
  }

  /// A copy as text, in which bytes that are not UTF-8 are repaired.
  func checkedText(_ what: StaticString) throws(CacheError) -> String {
    String(decoding: try checked(what), as: UTF8.self)
  }
}

extension EntryMetadata {
  /// The metadata of the entry under `key`.
  ///
  /// - Throws: `CacheError`: a defect if any of it is impossible; `damaged` with an `UnreadableEntry` if these are not the
  ///   attributes that were stored.
  @inline(__always)
  init(checking entry: UnsafePointer<cachectl_entry>, _ key: Span<UInt8>) throws(CacheError) {
    _ = try entry.pointee.content_type.checked("content type")
    self.init(withoutAttributes: entry)
    if entry.pointee.attributes.length == 0 { return }
    _ = try entry.pointee.attributes.checked("list of attributes")
    if !setAttributes(entry) {
      let key = CacheKey(trusting: key)
      throw CacheError(
        .damaged, "entry \(key) is damaged: its attributes are not the stored ones", cause: UnreadableEntry(key))
    }
  }
}

extension ScannedEntry {
  /// A copy of the entry as a scan finds it.
  init(checking pointer: UnsafePointer<cachectl_entry>, includesPayload: Bool) throws(CacheError) {
    let entry = pointer.pointee
    let bytes = try entry.key.checked("key")
    guard bytes.count <= CacheKey.maximumLength, let key = try? CacheKey(bytes.span) else {
      let text = TerminalText.line(String(decoding: bytes.prefix(80), as: UTF8.self))
      throw .defect("gave an invalid key of \(bytes.count) bytes: \(text)")
    }
    let metadata = try EntryMetadata(checking: pointer, bytes.span)
    if includesPayload {
      self.init(key: key, metadata: metadata, payload: Array(try entry.payload.checked("payload")))
    } else {
      let size = min(max(entry.payload.length, 0), cachectl_bytes.maximumLength)
      self.init(key: key, metadata: metadata, payloadBytes: size)
    }
  }
}
