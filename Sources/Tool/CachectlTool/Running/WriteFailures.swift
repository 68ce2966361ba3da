internal import CacheDomain

/// Remembers whether an answer was not kept in the cache. The answer is shown all the same, with a warning if the cache
/// failed; only `--require-store` makes that an error.
struct WriteFailures {
  private let isStoreRequired: Bool
  private var error: CacheError?

  init(_ flags: FetchFlags) { isStoreRequired = flags.requireStore }

  /// Notes whether a fetched answer was kept.
  mutating func note<Value>(_ snapshot: Snapshot<Value>) {
    note(snapshot.writeFailure)
    guard let refusal = snapshot.entry.refusal else { return }
    require(
      "HTTP forbids keeping the answer (\(refusal)), which --require-store demands", hint: "leave out --require-store")
  }

  /// Notes a failure to keep an answer; `nil` means there was none.
  mutating func note(_ failure: CacheError?) {
    guard let failure else { return }
    require(
      "the answer is not in the cache, as --require-store demands",
      hint: "do what the warning says, or leave out --require-store", cause: failure)
  }

  /// Keeps the first failure as the error.
  private mutating func require(_ message: String, hint: String, cause: CacheError? = nil) {
    guard isStoreRequired, error == nil else { return }
    error = CacheError(.ioFailed, message, hint: hint, cause: cause)
  }

  /// - Throws: `CacheError` with the code `ioFailed` if an answer had to be kept and was not.
  func check() throws(CacheError) {
    if let error { throw error }
  }
}
