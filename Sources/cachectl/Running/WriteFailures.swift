internal import CacheDomain

/// Remembers whether an answer is not in the cache. It is shown all the same, with a warning where the cache failed; only
/// `--require-store` makes an error of it.
struct WriteFailures {
  private let isStoreRequired: Bool
  private var error: CacheError?

  init(_ flags: FetchFlags) { isStoreRequired = flags.requireStore }

  /// Takes note of an answer that was fetched.
  mutating func note<Value>(_ snapshot: Snapshot<Value>) {
    note(snapshot.writeFailure)
    guard let refusal = snapshot.entry.refusal else { return }
    require(
      "HTTP forbids keeping the answer (\(refusal)), which --require-store demands", hint: "leave out --require-store")
  }

  /// Takes note of a failure to keep an answer; `nil` is none.
  mutating func note(_ failure: CacheError?) {
    guard let failure else { return }
    require(
      "the answer is not in the cache, as --require-store demands",
      hint: "mend what the warning says, or leave out --require-store", cause: failure)
  }

  /// The first one is the error.
  private mutating func require(_ message: String, hint: String, cause: CacheError? = nil) {
    guard isStoreRequired, error == nil else { return }
    error = CacheError(CacheError.Code(rawValue: "ioFailed"), message, hint: hint, cause: cause)
  }

  /// - Throws: `CacheError` with the code `ioFailed` where an answer had to be kept and was not.
  func check() throws(CacheError) {
    if let error { throw error }
  }
}
