internal import CCachectlPlugin
internal import StorageSPI

/// The issues that a library has reported so far.
struct LibraryIssues: LibraryCallState {
  /// A library that reports more than this is stuck in a loop.
  private static let maximumCount = 1 << 20

  private(set) var issues: [IntegrityIssue] = []
  var defect: LibraryDefect?

  fileprivate static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<cachectl_issue>?) -> Int32 =
    {
      guard let issues = LibraryCall.state($0, .integrity, LibraryIssues.self) else { return LibraryCall.stop }
      return issues.pointee.add($1)
    }

  /// Adds an issue, and returns the callback's result.
  mutating func add(_ issue: UnsafePointer<cachectl_issue>?) -> Int32 {
    visiting { state throws(LibraryDefect) in
      guard state.issues.count < Self.maximumCount else {
        throw LibraryDefect("reported more than \(Self.maximumCount) issues")
      }
      state.issues.append(try IntegrityIssue(issue))
    }
  }
}

extension IntegrityIssue {
  /// The issue at `pointer`.
  ///
  /// - Throws: `LibraryDefect` if it is invalid.
  fileprivate init(_ pointer: UnsafePointer<cachectl_issue>?) throws(LibraryDefect) {
    guard let pointer, pointer.pointee.size >= MemoryLayout<cachectl_issue>.size else {
      throw LibraryDefect("reported an issue that is none")
    }
    let kind = try LibraryText.text(pointer.pointee.kind, "kind of an issue")
    guard LibraryText.isCamelCase(kind) else { throw LibraryDefect("reported a kind of issue not in camel case") }
    let message = LibraryText.cleaned(try LibraryText.text(pointer.pointee.message, "message of an issue"))
    guard !message.isEmpty else { throw LibraryDefect("reported an issue without a message") }
    let hasKey = pointer.pointee.key.length != 0
    self.init(
      key: hasKey ? try CacheKey(lent: pointer.pointee.key) : nil, kind: Kind(rawValue: kind), message: message)
  }
}

extension LibraryStore {
  /// The issues that the library finds in the store.
  func checkIntegrity() throws(CacheError) -> [IntegrityIssue] {
    var state = LibraryIssues()
    try LibraryCall.make(.integrity, table, &state) { context, failure in
      table.functions.checkIntegrity(handle, LibraryIssues.callback, context, failure)
    }
    return state.issues
  }
}
